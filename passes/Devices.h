//===- Devices.h - what the devices that tensors are on can do ------------===//
//
// Passes ask for capabilities of a device's kind (dlc/device.h) and never for its name: a plugin's
// devices are as good as others.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_DEVICES_H
#define DLC_PASSES_DEVICES_H

#include "ir/dlc/Dialect.h"
#include "runtime/kind/Kind.h"

namespace dlc {

inline const runtime::DeviceKind &kindOf(OnAttr device) {
  return runtime::deviceKind(std::string_view(device.getKind()));
}

/// Whether devices of its kind have the capabilities; no device has none.
inline bool can(OnAttr device, uint32_t capabilities) {
  return device && kindOf(device).can(capabilities);
}

/// The same by its name; what is no device's name has none.
inline bool can(llvm::StringRef name, uint32_t capabilities) {
  auto device = runtime::parseDeviceName(std::string_view(name));
  return device && runtime::deviceKind(device->kind).can(capabilities);
}

} // namespace dlc

#endif // DLC_PASSES_DEVICES_H
