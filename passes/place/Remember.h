//===- Remember.h - annotations in locations ------------------------------===//
#ifndef DLC_PASSES_PLACE_REMEMBER_H
#define DLC_PASSES_PLACE_REMEMBER_H

#include "ir/dlc/Dialect.h"

namespace dlc::place {

/// The device that `dlc.device` asked for on the operation, or on what it was made of; null where
/// there was none.
OnAttr rememberedDevice(mlir::Location loc);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_REMEMBER_H
