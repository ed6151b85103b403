//===- DeviceGroup.h - collectives between the devices of ranks --------------===//
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

/// All ranks of a world, each with its own device. Collectives are submitted to streams of the
/// device; the world's engine is used only for the rendezvous of the ranks. The world monitors the
/// ranks that wait in the group, and ends it if a rank fails.
class DeviceGroup : Carrier {
public:
  /// Returns the group of a world and device, which must not outlive the world. The first call
  /// forms it, by all ranks together. Throws dlc::Error if the collective library is missing or
  /// differs between ranks, or if two ranks use the same device.
  static std::shared_ptr<DeviceGroup> of(World &world, Device &device);

  DeviceGroup(World &world, Device &device);
  ~DeviceGroup() override;
  DeviceGroup(const DeviceGroup &) = delete;

  /// Submits a collective: it is in the stream when this returns. Throws dlc::Error.
  void run(const CollectiveDesc &desc, void *const *buffers, void *stream);
  /// Called after the streams have completed: throws dlc::Error if a collective failed.
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
  /// Serializes calls of the device's group functions.
  std::mutex mutex;
  void *handle = nullptr;
  std::string ended;
  std::vector<uint64_t> carried; ///< collectives that may not have completed
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_DEVICEGROUP_H
