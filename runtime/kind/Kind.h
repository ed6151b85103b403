//===- Kind.h - registry of device kinds and their capabilities --------------===//
//
// Only this registry identifies a device kind by its name; all other code tests capabilities. The
// table in Kind.cpp has the kinds that are part of dlc. Other kinds are plugins (dlc/device.h),
// which are loaded by name when one of their devices is first requested.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_KIND_KIND_H
#define DLC_RUNTIME_KIND_KIND_H

#include "dlc/Export.h"
#include "dlc/device.h"
#include "dlc/dlpack.h"
#include "runtime/kind/DeviceName.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

struct DeviceKind {
  std::string name;
  /// Device table of the kind. Null if the kind is unavailable; `why` is the reason.
  const dlc_device_table *table = nullptr;
  std::string why;
  /// Path of the plugin's library; empty for a built-in kind.
  std::string path;
  /// Number of the plugin, from 1, in the order in which plugins were first requested.
  int number = 0;

  /// Returns whether the kind has all capabilities of the bit mask `wanted` (DLC_DEVICE_...).
  bool can(uint32_t wanted) const { return table && (table->capabilities & wanted) == wanted; }
};

/// Returns the device kind with this name, which is looked up at the first request. If there is no
/// such kind, `table` is null; never throws for this reason.
DLC_EXPORT const DeviceKind &deviceKind(std::string_view kind);

/// Returns the names of the device kinds that are part of dlc and of those found in the plugin
/// folders.
DLC_EXPORT std::vector<std::string> deviceKinds();

/// Parses a device name and checks that its kind is available. Otherwise throws dlc::Error with the
/// syntax of device names and the folders that were searched.
DLC_EXPORT DeviceName requireDeviceName(std::string_view text);

/// deviceName() and toDlpackDevice() convert between device names and DLPack device IDs. Virtual
/// CPU devices and plugin devices are not part of DLPack; dlc maps them to kDLExtDev. deviceName()
/// returns std::nullopt for a device ID that the runtime does not know.
DLC_EXPORT std::optional<DeviceName> deviceName(DLDevice device);
DLC_EXPORT DLDevice toDlpackDevice(const DeviceName &name);
/// Returns the device for which memory of `device` is pinned host memory; std::nullopt if it is not
/// pinned memory.
std::optional<DeviceName> getPinnedDeviceName(DLDevice device);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_KIND_H
