//===- CustomGradient.h - gradients that the model defines itself ---------===//
//
// Only the importer of PyTorch's graphs and the grad phase use these operations. A separate header
// keeps them out of the files that include the whole dialect.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_CUSTOMGRADIENT_H
#define DLC_IR_DLC_CUSTOMGRADIENT_H

#include "ir/dlc/Dialect.h"

#define GET_OP_CLASSES
#include "ir/dlc/CustomGradient.h.inc"

namespace dlc {

/// Registers the operations of model-defined gradients with the dialect.
void registerCustomGradients(DlcDialect &dialect);

} // namespace dlc

#endif // DLC_IR_DLC_CUSTOMGRADIENT_H
