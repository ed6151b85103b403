//===- Kind.h - the kinds of devices, and what each can do --------------------===//
//
// The one place where a device's kind is told by its name: everybody else asks what it can do. The
// table in Kind.cpp has the kinds that come with dlc; others are plugins (dlc/device.h), found by
// their names when one of their devices is first asked for.
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
  /// Null: there is no such kind here, and `why`.
  const dlc_device_table *table = nullptr;
  std::string why;
  /// The library that it came from; empty: this one.
  std::string path;
  /// Plugins are counted from 1, in the order in which they were asked for.
  int number = 0;

  /// Whether it has all of these capabilities (DLC_DEVICE_...).
  bool can(uint32_t wanted) const { return table && (table->capabilities & wanted) == wanted; }
};

/// What was found when the kind was first asked for. Never throws for a kind that is not there.
DLC_EXPORT const DeviceKind &deviceKind(std::string_view kind);

/// The kinds that come with dlc, and those that lie in the folders of plugins.
DLC_EXPORT std::vector<std::string> deviceKinds();

/// The name of a device whose kind is here. Throws dlc::Error: how names are written, and where the
/// kind was looked for.
DLC_EXPORT DeviceName deviceNamed(std::string_view text);

/// DLPack's number for a device. Virtual CPU devices and those of plugins have none: for them these
/// are extensions. Nothing where it is a device that the runtime does not know.
DLC_EXPORT std::optional<DeviceName> deviceName(DLDevice device);
DLC_EXPORT DLDevice dlpackDevice(const DeviceName &name);
/// The device that host memory with this number is pinned for.
std::optional<DeviceName> pinnedFor(DLDevice device);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_KIND_H
