//===- Work.h - features of an operation for estimates of its time --------===//
#ifndef DLC_CODEGEN_MACHINE_WORK_H
#define DLC_CODEGEN_MACHINE_WORK_H

#include "ir/dlc/Dialect.h"

#include <string>
#include <vector>

namespace dlc {

/// Features of an operation that determine its time: its kind and its sizes. Times of operations of
/// the same kind are the more comparable, the more similar their sizes are.
struct WorkFeatures {
  std::string kind;          ///< name and element type of the main operation, such as "matmul f32"
  std::vector<double> sizes; ///< logarithms to base 2 of the operation's sizes
};

/// Returns the features of an operation. For a fusion with a contraction or window, these are the
/// sizes of that operation. Otherwise, they are the numbers of elements read and written.
WorkFeatures getWorkFeatures(mlir::Operation *op);

} // namespace dlc
#endif
