//===- Count.h - the bytes that placements move ---------------------------===//
#ifndef DLC_TEST_PASSES_PLACE_COUNT_H
#define DLC_TEST_PASSES_PLACE_COUNT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace dlc::placetest {

/// Bytes of all transfers of a placed function, 0-d scalars apart.
int64_t bytesMoved(mlir::func::FuncOp placed);

/// Bytes that an unplaced function with annotations moves when each operation stands where it is
/// asked to, else where its first operand is made, and each use transfers for itself.
int64_t bytesMovedNaively(mlir::func::FuncOp unplaced);

/// The least bytes that any choice for the operations without annotation moves, between cpu and
/// cpu:1; -1 where more than `most` are free.
int64_t leastBytes(mlir::func::FuncOp unplaced, unsigned most);

} // namespace dlc::placetest

#endif // DLC_TEST_PASSES_PLACE_COUNT_H
