//===- Count.h - counts the bytes that placements transfer ----------------===//
#ifndef DLC_TEST_PASSES_PLACE_COUNT_H
#define DLC_TEST_PASSES_PLACE_COUNT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace dlc::placetest {

/// Returns the bytes of all transfers of a placed function, without 0-d scalars.
int64_t bytesMoved(mlir::func::FuncOp placed);

/// Returns the bytes that an unplaced function would transfer if each operation without annotation
/// were on the device of its first operand, and each use had a transfer of its own.
int64_t bytesMovedNaively(mlir::func::FuncOp unplaced);

/// Returns the minimum bytes over all placements of the operations without annotation on cpu and
/// cpu:1, or -1 if more than `most` operations have no annotation.
int64_t minBytes(mlir::func::FuncOp unplaced, unsigned most);

} // namespace dlc::placetest

#endif // DLC_TEST_PASSES_PLACE_COUNT_H
