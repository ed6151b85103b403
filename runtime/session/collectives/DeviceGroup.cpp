//===- DeviceGroup.cpp - collectives between the devices of ranks ------------===//
#include "runtime/session/collectives/DeviceGroup.h"

#include "runtime/collective/Process.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <thread>

namespace dlc::runtime {

namespace {

/// Message of a rank in the rendezvous of a device group: its machine and its device.
struct RendezvousMessage {
  uint64_t machine = 0;
  dlc_device_member member{};
};

/// Throws dlc::Error if the ranks cannot form a device group.
void checkMembers(const std::vector<RendezvousMessage> &cards) {
  for (size_t rank = 1; rank < cards.size(); ++rank) {
    const RendezvousMessage &card = cards[rank];
    if (std::strcmp(card.member.carrier, cards[0].member.carrier) != 0)
      fail("collectives on devices require the same library on all ranks: rank ", rank, " has ",
           card.member.carrier, ", and rank 0 has ", cards[0].member.carrier,
           "; install the same version for all ranks");
    for (size_t other = 0; other < rank; ++other)
      if (card.machine != 0 && card.machine == cards[other].machine &&
          std::strcmp(card.member.device, cards[other].member.device) == 0)
        fail("ranks ", other, " and ", rank, " use the same device (", card.member.device,
             "); collectives on devices require one device per rank; start fewer ranks on that "
             "machine, or make a different device visible to each rank");
  }
}

} // namespace

std::shared_ptr<DeviceGroup> DeviceGroup::of(World &world, Device &device) {
  static std::mutex mutex;
  static auto &known = *new std::map<std::pair<World *, Device *>, std::weak_ptr<DeviceGroup>>;
  std::unique_lock lock(mutex);
  if (auto found = known[{&world, &device}].lock())
    return found;
  // Release the lock while the group is formed: if the ranks are threads of one process, each must
  // be able to enter this function.
  lock.unlock();
  auto made = std::make_shared<DeviceGroup>(world, device);
  lock.lock();
  known[{&world, &device}] = made;
  return made;
}

DeviceGroup::DeviceGroup(World &given, Device &on) : world(given), device(on) {
  world.watch(*this);
  try {
    meet();
  } catch (...) {
    endCarried();
    world.forget(*this);
    if (handle) {
      device.table.group_abort(device.handle, handle);
      device.table.group_leave(device.handle, handle);
    }
    throw;
  }
}

void DeviceGroup::meet() {
  const auto ranks = static_cast<size_t>(world.size());
  RendezvousMessage mine{.machine = getMachineId()};
  device.call(device.table.group_member, &mine.member);
  std::vector<RendezvousMessage> cards(ranks);
  world.run({.collective = Collective::AllGather,
             .type = DType::U8,
             .from = &mine,
             .to = cards.data(),
             .share = sizeof mine});
  checkMembers(cards);
  char invitation[DLC_DEVICE_INVITATION] = {};
  if (world.rank() == 0)
    device.call(device.table.group_invite, static_cast<void *>(invitation));
  world.run({.collective = Collective::Broadcast,
             .type = DType::U8,
             .from = invitation,
             .to = invitation,
             .share = sizeof invitation});
  {
    std::lock_guard lock(mutex);
    requireWorld();
    device.call(device.table.group_join, static_cast<const void *>(invitation), world.rank(),
                world.size(), &handle);
  }
  carried.push_back(world.carriedStarts());
  waitUntilReady();
  endCarried();
}

DeviceGroup::~DeviceGroup() {
  endCarried();
  world.forget(*this);
  // Do not leave the group after an error: group_leave would block, because other ranks may never
  // call it. The handler of the exception ends the world.
  if (handle && (!ended.empty() || std::uncaught_exceptions() == 0))
    device.table.group_leave(device.handle, handle);
}

void DeviceGroup::requireWorld() {
  if (!ended.empty())
    throw Error(ended);
}

void DeviceGroup::waitUntilReady() {
  using std::chrono::microseconds;
  constexpr microseconds kFirstNap(20), kLongestNap(1000);
  for (microseconds nap = kFirstNap;; nap = std::min(nap * 2, kLongestNap)) {
    int busy = 0;
    {
      std::lock_guard lock(mutex);
      requireWorld();
      device.call(device.table.group_test, handle, &busy);
    }
    if (!busy)
      return;
    world.alive();
    std::this_thread::sleep_for(nap);
  }
}

void DeviceGroup::run(const CollectiveDesc &desc, void *const *buffers, void *stream) {
  const CollectiveCall &what = desc.call;
  const dlc_engine_call call{static_cast<int32_t>(what.collective),
                             desc.isMean ? int32_t(DLC_REDUCE_MEAN)
                                         : static_cast<int32_t>(what.reduction),
                             static_cast<int32_t>(what.type),
                             what.root,
                             buffers[0],
                             buffers[1],
                             what.share};
  {
    std::lock_guard lock(mutex);
    requireWorld();
    carried.push_back(world.carriedStarts());
    device.call(device.table.group_run, handle, stream, &call);
  }
  waitUntilReady();
}

void DeviceGroup::settle() {
  endCarried();
  waitUntilReady();
}

void DeviceGroup::endCarried() {
  std::lock_guard lock(mutex);
  for (uint64_t number : carried)
    world.carriedEnds(number);
  carried.clear();
}

std::string DeviceGroup::whyEnded() {
  std::lock_guard lock(mutex);
  return ended;
}

std::string DeviceGroup::fault() {
  std::lock_guard lock(mutex);
  char error[1024] = "";
  int busy = 0;
  if (!handle || !ended.empty() ||
      device.table.group_test(device.handle, handle, &busy, error, sizeof error) == 0)
    return "";
  return message(device.name.text(), ": ", error);
}

void DeviceGroup::end(const std::string &why) {
  std::lock_guard lock(mutex);
  if (!ended.empty())
    return;
  ended = why;
  if (handle)
    device.table.group_abort(device.handle, handle);
}

} // namespace dlc::runtime
