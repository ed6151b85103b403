//===- Work.h - features of an operation for estimates of its time --------===//
#ifndef DLC_CODEGEN_MACHINE_WORK_H
#define DLC_CODEGEN_MACHINE_WORK_H

#include "ir/dlc/Dialect.h"

#include <string>
#include <vector>

namespace dlc {

/// Features of an operation. Of two operations of one kind, the times are the more comparable the
/// less the sizes differ.
struct Work {
  std::string kind;          ///< name and element type of the dominant operation: "matmul f32"
  std::vector<double> sizes; ///< logarithms to base 2
};

/// Features of an operation. For a fusion, those of its contraction or window; otherwise the number
/// of elements read and written.
Work workOf(mlir::Operation *op);

} // namespace dlc
#endif
