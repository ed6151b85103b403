//===- State.cpp - states, which persist in a session between runs -----------===//
#include "runtime/session/state/State.h"

#include "runtime/program/Format.h"
#include "runtime/program/Message.h"
#include "runtime/session/state/Parts.h"
#include "runtime/session/state/Shares.h"
#include "runtime/session/state/StateText.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace dlc::runtime {

/// Returns this rank's number for sharded states; 0 if the program has none. The world is formed
/// only if the program has shards.
static int getRank(const Plan &plan, const World *given) {
  if (!hasShardedStates(plan))
    return 0;
  return given ? given->rank() : World::ofProcess().rank();
}

StateMemory::~StateMemory() {
  try {
    if (lastRun)
      lastRun->synchronize();
  } catch (const std::exception &) {
    // Ignore the error, because a destructor cannot report it.
  }
}

StateSet::StateSet(const Plan &plan, const Program &program, const StateSet *lender, World *given)
    : plan(plan), program(program), rank(getRank(plan, given)), world(findShardWorld(plan, given)),
      bound(plan.states.size()) {
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets(bound.size());
  std::vector<size_t> made;
  for (size_t i = 0; i < bound.size(); ++i) {
    const StateInfo &info = plan.states[i];
    bool lent = false;
    for (size_t k = 0; lender && k < lender->bound.size() && !lent; ++k) {
      const StateInfo &other = lender->plan.states[k];
      if (other.name != info.name)
        continue;
      if (other.dtype != info.dtype || other.shape != info.shape)
        fail("state '", info.name, "' is ", formatType(info.dtype, info.shape), " in program '",
             plan.name, "' and ", formatType(other.dtype, other.shape), " in '", lender->plan.name,
             "', which shares it; give both the same type and shape, or different names");
      if (lender->plan.devices[other.device].name != plan.devices[info.device].name)
        fail("state '", info.name, "' is on ", plan.devices[info.device].name, " in program '",
             plan.name, "' and on ", lender->plan.devices[other.device].name, " in '",
             lender->plan.name, "', which shares it; place both on one device");
      if (lender->bound[k].data != lender->bound[k].home)
        fail("state '", info.name, "' of program '", lender->plan.name,
             "' is bound to the caller's memory; required to share it with another session: a "
             "state in the session's own memory; unbind the state first");
      bound[i] = lender->bound[k];
      lent = true;
    }
    if (lent)
      continue;
    made.push_back(i);
    if (info.device != 0)
      continue;
    offsets[i] = format::alignUp(bytes, 64);
    if (info.bytes > UINT64_MAX / 2 - offsets[i])
      fail("program '", plan.name, "': the size of its state overflows");
    bytes = offsets[i] + info.bytes;
  }
  if (!made.empty())
    own = std::make_shared<StateMemory>(bytes, made.size());
  for (size_t i : made) {
    if (uint32_t device = plan.states[i].device) {
      Device &on = openDevice(*parseDeviceName(plan.devices[device].name));
      own->elsewhere.emplace_back(on, plan.states[i].bytes, "the program's state");
      bound[i] = {own->elsewhere.back().data(), &on, own, own->elsewhere.back().data()};
    } else {
      bound[i] = {own->block.data() + offsets[i], nullptr, own, own->block.data() + offsets[i]};
    }
    // Newly allocated memory is zero, so only states with an initial value are initialized.
    if (plan.states[i].init >= 0)
      initialise(i);
  }
  for (const Bound &one : bound)
    memories.push_back(one.memory.get());
  std::sort(memories.begin(), memories.end(), std::less<>());
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
}

void StateSet::initialise(size_t index) {
  const StateInfo &info = plan.states[index];
  if (info.bytes == 0)
    return;
  if (info.init >= 0 && isPart(info)) {
    std::vector<char> part(info.bytes);
    extractRankPart(info, world->rank(),
                    static_cast<const char *>(program.constants[info.init].data), part.data());
    write(bound[index], part.data(), info.bytes);
  } else if (info.init >= 0)
    write(bound[index], program.constants[info.init].data, info.bytes);
  else if (!bound[index].device)
    std::memset(bound[index].data, 0, info.bytes);
  else
    write(bound[index], std::vector<char>(info.bytes).data(), info.bytes);
}

void StateSet::read(const Bound &from, void *to, uint64_t bytes) const {
  if (from.device)
    copyBytes(to, hostDevice(), from.data, *from.device, bytes);
  else if (bytes)
    std::memcpy(to, from.data, bytes);
}

void StateSet::write(const Bound &to, const void *from, uint64_t bytes) {
  if (to.device)
    copyBytes(to.data, *to.device, from, hostDevice(), bytes);
  else if (bytes)
    std::memmove(to.data, from, bytes);
}

uint64_t StateSet::ownBytes() const {
  uint64_t bytes = own ? own->block.size() : 0;
  if (own)
    for (const DeviceMemory &memory : own->elsewhere)
      bytes += memory.size();
  return bytes;
}

StateSet::Lock::Lock(const StateSet &set, bool enqueues) : set(set) {
  for (StateMemory *memory : set.memories)
    memory->mutex.lock();
  if (enqueues)
    return;
  try {
    for (StateMemory *memory : set.memories)
      if (memory->lastRun)
        std::exchange(memory->lastRun, nullptr)->synchronize();
  } catch (...) {
    for (StateMemory *memory : set.memories)
      memory->mutex.unlock();
    throw;
  }
}

void StateSet::makeWait(void *stream) const {
  for (const StateMemory *memory : memories)
    if (memory->lastRun)
      memory->lastRun->makeWait(stream);
}

void StateSet::setLastRun(const std::shared_ptr<DeviceEvent> &event) {
  for (StateMemory *memory : memories)
    memory->lastRun = event;
}

StateSet::Lock::~Lock() {
  for (StateMemory *memory : set.memories)
    memory->mutex.unlock();
}

void StateSet::requireWhole(const char *doing) const {
  for (const StateMemory *memory : memories)
    if (!memory->torn.empty())
      fail("cannot ", doing, ": a run failed after it had updated only a part of the state (",
           memory->torn, "); load a checkpoint or reset the state");
}

void StateSet::markTorn(const std::string &why) {
  for (StateMemory *memory : memories)
    memory->torn = why.empty() ? "for an unknown reason" : why;
}

void StateSet::mend() {
  for (StateMemory *memory : memories) {
    auto here = std::count_if(bound.begin(), bound.end(),
                              [&](const Bound &one) { return one.memory.get() == memory; });
    if (size_t(here) == memory->count)
      memory->torn.clear();
  }
}

size_t StateSet::indexOf(const std::string &name) const {
  std::vector<std::string> known;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (plan.states[i].name == name)
      return i;
    known.push_back(plan.states[i].name);
  }
  fail("program '", plan.name, "' has no state '", name, "'; ",
       known.empty() ? "the program has no state" : "the states are " + formatFirstNames(known));
}

void StateSet::get(size_t index, void *to) const {
  Lock lock(*this);
  read(bound[index], to, plan.states[index].bytes);
}

void StateSet::set(size_t index, const void *from) {
  Lock lock(*this);
  write(bound[index], from, plan.states[index].bytes);
}

void StateSet::take(size_t index, void *from) {
  Lock lock(*this);
  const uint64_t bytes = plan.states[index].bytes;
  if (bound[index].device)
    return write(bound[index], from, bytes);
  constexpr uint64_t kPart = uint64_t(8) << 20;
  char *source = static_cast<char *>(from);
  for (uint64_t done = 0; done < bytes; done += kPart) {
    uint64_t part = std::min(kPart, bytes - done);
    std::memcpy(bound[index].data + done, source + done, part);
    releasePages(source + done, part);
  }
}

void StateSet::bind(size_t index, void *memory, const Device *device) {
  Lock lock(*this);
  const StateInfo &info = plan.states[index];
  Bound &one = bound[index];
  if (memory && one.device != device)
    fail("state '", info.name, "' is on ", plan.devices[info.device].name,
         "; required to bind it to the caller's memory: memory on this device; found: memory on ",
         device ? device->name.text() : std::string(kHostName), "; move the tensor to ",
         plan.devices[info.device].name);
  if (one.memory.use_count() > std::count_if(bound.begin(), bound.end(), [&](const Bound &other) {
                                 return other.memory == one.memory;
                               }) + (own == one.memory))
    fail("state '", info.name,
         "' is shared with another session; required to bind it to the caller's memory: a state "
         "that no other session shares");
  if (reinterpret_cast<uintptr_t>(memory) % dtypeBytes(info.dtype) != 0)
    fail("state '", info.name, "': required: memory aligned to ", dtypeBytes(info.dtype),
         " bytes, the size of ", dtypeName(info.dtype));
  if (one.device && !one.device->isAligned(memory))
    fail("state '", info.name, "': required: memory aligned to 16 bytes on ",
         one.device->name.text(), "; copy the tensor to memory of its own");
  if (!memory && one.data != one.home) {
    Device &on = one.device ? *one.device : hostDevice();
    copyBytes(one.home, on, one.data, on, info.bytes);
    one.data = one.home;
  } else if (memory) {
    one.data = static_cast<char *>(memory);
  }
}

void StateSet::reset() {
  Lock lock(*this);
  for (size_t i = 0; i < bound.size(); ++i)
    initialise(i);
  mend();
}

Program StateSet::started() const {
  requireAll();
  Lock lock(*this);
  requireWhole("save the program with its state");
  Program result = program;
  for (size_t i = 0; i < bound.size(); ++i) {
    Contents whole = contents(i);
    if (whole.bytes == 0)
      continue;
    result.manifest["state"][i]["init"] = result.constants.size();
    result.manifest["constants"].push_back({{"bytes", whole.bytes}});
    result.constants.push_back(copyToOwnedSpan(whole.data, whole.bytes));
  }
  return result;
}

} // namespace dlc::runtime
