//===- DeviceLocations.h - device annotations stored in locations ---------===//
#ifndef DLC_PASSES_PLACE_DEVICELOCATIONS_H
#define DLC_PASSES_PLACE_DEVICELOCATIONS_H

#include "ir/dlc/Dialect.h"

namespace dlc::place {

/// Returns the device that a `dlc.device` attribute requested for the operation at this location,
/// or for the operation from which it was rewritten. Returns null if there is no request.
OnAttr getLocationDevice(mlir::Location loc);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_DEVICELOCATIONS_H
