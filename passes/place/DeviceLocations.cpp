//===- DeviceLocations.cpp - device annotations stored in locations -------===//
// Rewrites drop unknown attributes but keep locations. Gradients also inherit the location of their
// forward operation, and belong on its device.
#include "passes/place/DeviceLocations.h"

#include "ir/dlc/Attributes.h"
#include "passes/Passes.h"
#include "passes/place/Annotations.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {

namespace place {

OnAttr getLocationDevice(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return getLocationDevice(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    OnAttr device = getLocationDevice(call.getCallee());
    return device ? device : getLocationDevice(call.getCaller());
  }
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return {};
  if (auto device = dyn_cast_or_null<OnAttr>(fused.getMetadata()))
    return device;
  for (Location part : fused.getLocations())
    if (OnAttr device = getLocationDevice(part))
      return device;
  return {};
}

/// Attaches the device to the location as metadata. The name remains the outermost location.
static Location attachDevice(Location loc, OnAttr device) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), attachDevice(name.getChildLoc(), device));
  return FusedLoc::get(loc.getContext(), {loc}, device);
}

} // namespace place

namespace {
struct RememberDevicesPass : PassWrapper<RememberDevicesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RememberDevicesPass)

  StringRef getArgument() const final { return "dlc-remember-devices"; }
  StringRef getDescription() const final {
    return "records the devices that dlc.device attributes request, so that rewriting keeps them";
  }

  void runOnOperation() final {
    getOperation().walk([&](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>(kDeviceAttr);
      if (!name || !isa_and_nonnull<DlcDialect>(op->getDialect()))
        return;
      // Invalid device names are ignored here, because the placement pass reports them.
      FailureOr<OnAttr> device = OnAttr::fromName(&getContext(), name.getValue());
      if (succeeded(device))
        op->setLoc(place::attachDevice(op->getLoc(), *device));
    });
  }
};
} // namespace

std::unique_ptr<Pass> createRememberDevicesPass() {
  return std::make_unique<RememberDevicesPass>();
}

} // namespace dlc
