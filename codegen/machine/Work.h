//===- Work.h - what an operation's time depends on, as numbers ------------===//
#ifndef DLC_CODEGEN_MACHINE_WORK_H
#define DLC_CODEGEN_MACHINE_WORK_H

#include "ir/dlc/Dialect.h"

#include <string>
#include <vector>

namespace dlc {

/// Operations of one kind lie nearer to one another the less their sizes differ.
struct Work {
  std::string kind;          ///< what does most of it, and its element type: "matmul f32"
  std::vector<double> sizes; ///< logarithms to base 2
};

/// Of a fusion, what its contraction or window does; else by the elements that go in and come out.
Work workOf(mlir::Operation *op);

} // namespace dlc
#endif
