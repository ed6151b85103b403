//===- RankDevices.cpp - assignment of a machine's devices to ranks ----------===//
#include "runtime/session/collectives/RankDevices.h"

#include "runtime/device/Device.h"

#include <algorithm>
#include <map>

namespace dlc::runtime {

void assignRankDevices(Plan &plan, const World &world) {
  if (world.localSize() == 1)
    return;
  std::map<std::string, int> used;
  for (const DeviceInfo &device : plan.devices)
    if (device.can(DLC_DEVICE_COLLECTIVES)) {
      DeviceName name = *parseDeviceName(device.name);
      used[name.kind] = std::max(used[name.kind], name.ordinal + 1);
    }
  for (DeviceInfo &device : plan.devices) {
    if (!device.can(DLC_DEVICE_COLLECTIVES))
      continue;
    DeviceName name = *parseDeviceName(device.name);
    const int each = used[name.kind], here = deviceCount(name.kind);
    if (here <= each)
      continue;
    if (here < each * world.localSize())
      fail("the program uses ", each, each == 1 ? " device" : " devices", " of kind ", name.kind,
           " on each rank, so that ", world.localSize(), " ranks on one machine need ",
           each * world.localSize(), "; found: ", here, "; start ", here / each,
           " ranks on each machine");
    name.ordinal += each * world.localRank();
    device.name = name.text();
  }
}

} // namespace dlc::runtime
