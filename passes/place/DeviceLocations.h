//===- DeviceLocations.h - device annotations stored in locations ---------===//
#ifndef DLC_PASSES_PLACE_DEVICELOCATIONS_H
#define DLC_PASSES_PLACE_DEVICELOCATIONS_H

#include "ir/dlc/Dialect.h"

namespace dlc::place {

/// Returns the device that `dlc.device` requested for the operation at this location, or for the
/// operation that it was rewritten from. Returns null if there is no request.
OnAttr rememberedDevice(mlir::Location loc);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_DEVICELOCATIONS_H
