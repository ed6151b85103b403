//===- Devices.h - capability queries for the devices of tensors ----------===//
//
// Passes query capabilities of a device's kind (dlc/device.h) and never compare its name, so that
// devices of plugins are treated like built-in ones.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_DEVICES_H
#define DLC_PASSES_DEVICES_H

#include "ir/dlc/Dialect.h"
#include "runtime/kind/Kind.h"

namespace dlc {

inline const runtime::DeviceKind &getDeviceKind(OnAttr device) {
  return runtime::deviceKind(std::string_view(device.getKind()));
}

/// Returns whether devices of this kind have all of the capabilities. False for a null device.
inline bool can(OnAttr device, uint32_t capabilities) {
  return device && getDeviceKind(device).can(capabilities);
}

/// Returns whether the named device has all of the capabilities. False if the name does not denote
/// a device.
inline bool can(llvm::StringRef name, uint32_t capabilities) {
  auto device = runtime::parseDeviceName(std::string_view(name));
  return device && runtime::deviceKind(device->kind).can(capabilities);
}

} // namespace dlc

#endif // DLC_PASSES_DEVICES_H
