//===- DeviceGroup.h - ranks that share what lies on their devices ------------===//
#ifndef DLC_RUNTIME_SESSION_DEVICEGROUP_H
#define DLC_RUNTIME_SESSION_DEVICEGROUP_H

#include "runtime/collective/World.h"
#include "runtime/device/Device.h"
#include "runtime/session/Collectives.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

/// All ranks of a world, each with a device of its own. Collectives go into streams of the device;
/// the world's engine carries no more than what ranks need to find one another. The world watches
/// who waits here, and ends it.
class DeviceGroup : Carrier {
public:
  /// The one of this world and device, which outlives the world nowhere. It is formed when it is
  /// first asked for, by all ranks together. Throws dlc::Error: what carries collectives is missing
  /// or differs between ranks, two ranks have one device.
  static std::shared_ptr<DeviceGroup> of(World &world, Device &device);

  DeviceGroup(World &world, Device &device);
  ~DeviceGroup() override;
  DeviceGroup(const DeviceGroup &) = delete;

  /// When it returns the collective is in the stream. Throws dlc::Error.
  void run(const CollectiveDesc &desc, void *const *buffers, void *stream);
  /// Once streams are through: throws dlc::Error for what went wrong in them.
  void settle();
  /// Empty, or why the world has ended.
  std::string whyEnded();

private:
  void meet();
  void untilReady();
  void requireWorld();
  void endCarried();

  std::string fault() override;
  void end(const std::string &why) override;

  World &world;
  Device &device;
  /// Held while the device is called for the group.
  std::mutex mutex;
  void *handle = nullptr;
  std::string ended;
  std::vector<uint64_t> carried; ///< collectives that may not be through
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_DEVICEGROUP_H
