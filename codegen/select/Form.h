//===- Form.h - operations that the same kernels can do -------------------===//
#ifndef DLC_CODEGEN_SELECT_FORM_H
#define DLC_CODEGEN_SELECT_FORM_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace dlc {

/// All of an operation that its candidates depend on: its attributes, types and body, which of its
/// operands are constants, and the values of small ones; whether a loop repeats it. Networks repeat
/// themselves. Valid as long as the context is.
using Form = std::vector<const void *>;

Form formOf(mlir::Operation *op);

} // namespace dlc
#endif
