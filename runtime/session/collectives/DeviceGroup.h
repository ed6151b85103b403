//===- DeviceGroup.h - collectives between the devices of ranks --------------===//
#ifndef DLC_RUNTIME_SESSION_COLLECTIVES_DEVICEGROUP_H
#define DLC_RUNTIME_SESSION_COLLECTIVES_DEVICEGROUP_H

#include "runtime/collective/World.h"
#include "runtime/device/Device.h"
#include "runtime/session/collectives/Collectives.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

/// A group for collectives on device memory: all ranks of a world, each with its own device.
/// Collectives are submitted to streams of the device; the world's engine is used only for the
/// rendezvous of the ranks. The world monitors the ranks that wait in the group, and ends the group
/// if a rank fails.
class DeviceGroup : CollectiveExecutor {
public:
  /// Returns the device group of a world and a device; it must not outlive the world. The first
  /// call forms the group, by all ranks together. Throws dlc::Error if the collective library is
  /// missing or differs between ranks, or if two ranks use the same device.
  static std::shared_ptr<DeviceGroup> of(World &world, Device &device);

  DeviceGroup(World &world, Device &device);
  ~DeviceGroup() override;
  DeviceGroup(const DeviceGroup &) = delete;

  /// Enqueues a collective on `stream` and returns without waiting for its completion. Throws
  /// dlc::Error.
  void run(const CollectiveDesc &desc, void *const *buffers, void *stream);
  /// Throws dlc::Error if a collective failed. Called after the streams have completed.
  void settle();
  /// Returns the reason why the world has ended; empty if it has not.
  std::string whyEnded();

private:
  void meet();
  void waitUntilReady();
  void requireWorld();
  void endCarried();

  std::string fault() override;
  void end(const std::string &why) override;

  World &world;
  Device &device;
  /// Serializes calls of the device table's group functions.
  std::mutex mutex;
  void *handle = nullptr;
  std::string ended;
  std::vector<uint64_t> carried; ///< numbers of the collectives that may not have completed
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_COLLECTIVES_DEVICEGROUP_H
