//===- Sizes.h - sizes of dimensions as values -------------------------------===//
//
// Few files use the operation, so the headers that include the whole dialect do not include it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_SIZES_H
#define DLC_IR_DLC_SIZES_H

#include "ir/dlc/Dialect.h"
#include "ir/size/SizeDialect.h"

#define GET_OP_CLASSES
#include "ir/dlc/Sizes.h.inc"

namespace dlc {

/// Registers `dlc.size` with the dialect.
void registerSizes(DlcDialect &dialect);

} // namespace dlc

#endif // DLC_IR_DLC_SIZES_H
