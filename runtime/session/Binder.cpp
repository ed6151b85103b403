//===- Binder.cpp - memory of a session and the addresses of its buffers -----===//
#include "runtime/session/Binder.h"

#include "runtime/session/state/State.h"

#include <algorithm>

namespace dlc::runtime {

Binder::Binder(const Plan &plan, const Program &program, const StateSet &states)
    : plan(plan), program(program), states(states), devices(plan.devices.size()),
      arenas(plan.devices.size()), lastInputs(plan.inputs.size()), lastOutputs(plan.outputs.size()),
      stagedInputs(plan.inputs.size()), stagedOutputs(plan.outputs.size()) {
  openDevices();
  makeArenas();
}

void Binder::openDevices() {
  if (plan.devices.size() == 1)
    return;
  for (size_t i = 0; i < devices.size(); ++i)
    devices[i] = &openDevice(*parseDeviceName(plan.devices[i].name));
}

void Binder::makeArenas() {
  if (plan.devices.size() == 1) {
    hostArena = Block(plan.devices[0].arenaBytes, "intermediate values");
    return;
  }
  Device *far = nullptr;
  for (Device *device : devices)
    far = device->kind.can(DLC_DEVICE_PINNED) ? device : far;
  for (size_t i = 0; i < devices.size(); ++i) {
    uint64_t bytes = plan.devices[i].arenaBytes;
    // Allocate the host's arena as pinned memory, so that other devices copy from and to it at full
    // speed.
    if (i == 0 && far)
      arenas[i] = DeviceMemory::pinned(*far, bytes, "the program's intermediate values");
    else
      arenas[i] = DeviceMemory(*devices[i], bytes, "the program's intermediate values");
    if (arenas[i].data())
      guarded[static_cast<uint32_t>(i)].push_back(arenas[i].data());
  }
}

char *Binder::constantOn(uint32_t constant, uint32_t device) {
  const Span &span = program.constants[constant];
  if (device == 0)
    return static_cast<char *>(const_cast<void *>(span.data));
  DeviceMemory &there = constants[{constant, device}];
  if (!there.data() && span.bytes) {
    there = DeviceMemory(*devices[device], span.bytes, "the program's constants");
    copyBytes(there.data(), *devices[device], span.data, *devices[0], span.bytes);
    guarded[device].push_back(there.data());
  }
  return there.data();
}

const void *Binder::constantValue(uint32_t index) const {
  const Buffer &buffer = plan.buffers[index];
  return buffer.space == MemorySpace::Constant
             ? static_cast<const char *>(program.constants[buffer.index].data) + buffer.offset
             : nullptr;
}

void Binder::bind(void **slot, uint32_t index) {
  const Buffer &buffer = plan.buffers[index];
  switch (buffer.space) {
  case MemorySpace::Arena: {
    char *arena = devices[buffer.device] ? arenas[buffer.device].data() : hostArena.data();
    *slot = arena + buffer.offset;
    break;
  }
  case MemorySpace::Constant:
    *slot = constantOn(buffer.index, buffer.device) + buffer.offset;
    break;
  case MemorySpace::Input:
    inputPatches.push_back({slot, buffer.index, buffer.offset});
    break;
  case MemorySpace::Output:
    outputPatches.push_back({slot, buffer.index, buffer.offset});
    break;
  case MemorySpace::State:
    *slot = states.data(buffer.index) + buffer.offset;
    statePatches.push_back({slot, buffer.index, buffer.offset});
    break;
  }
}

void Binder::bindState(uint32_t state) {
  for (const Patch &patch : statePatches)
    if (patch.index == state)
      *patch.slot = states.data(state) + patch.offset;
}

void Binder::bindInputs(std::span<const void *const> inputs) {
  if (std::equal(inputs.begin(), inputs.end(), lastInputs.begin(), lastInputs.end()))
    return;
  std::copy(inputs.begin(), inputs.end(), lastInputs.begin());
  for (const Patch &patch : inputPatches)
    *patch.slot = static_cast<char *>(const_cast<void *>(inputs[patch.index])) + patch.offset;
}

void Binder::bindOutputs(std::span<void *const> outputs) {
  if (std::equal(outputs.begin(), outputs.end(), lastOutputs.begin(), lastOutputs.end()))
    return;
  std::copy(outputs.begin(), outputs.end(), lastOutputs.begin());
  for (const Patch &patch : outputPatches)
    *patch.slot = static_cast<char *>(outputs[patch.index]) + patch.offset;
}

void *Binder::staged(std::vector<DeviceMemory> &memory, const TensorInfo &info, size_t index) {
  if (!memory[index].data())
    memory[index] = DeviceMemory(*devices[info.device], info.bytes, "an input or output");
  return memory[index].data();
}

bool Binder::isInPlace(const BoundArray &argument, const TensorInfo &info) const {
  const Device &wanted = *devices[info.device];
  return (&wanted == &deviceOf(argument) && wanted.isAligned(argument.data)) || info.bytes == 0;
}

template <typename CopyIn>
void Binder::bindEach(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs,
                      const CopyIn &copyIn) {
  // If the whole program is on the host, no device is open yet.
  if (!devices[0])
    devices[0] = &hostDevice();
  // Never pass a host address to another device, even for empty tensors.
  auto isNothing = [&](const TensorInfo &info) { return info.bytes == 0 && info.device != 0; };
  from.resize(inputs.size());
  to.resize(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo &info = plan.inputs[i];
    const bool there = isInPlace(inputs[i], info);
    from[i] = isNothing(info) ? nullptr : there ? inputs[i].data : staged(stagedInputs, info, i);
    if (!there)
      copyIn(i, from[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo &info = plan.outputs[i];
    to[i] = isNothing(info)               ? nullptr
            : isInPlace(outputs[i], info) ? outputs[i].data
                                          : staged(stagedOutputs, info, i);
  }
  bindInputs(from);
  bindOutputs(to);
}

void Binder::bindArguments(std::span<const BoundArray> inputs,
                           std::span<const BoundArray> outputs) {
  bindEach(inputs, outputs, [&](size_t i, const void *there) {
    const TensorInfo &info = plan.inputs[i];
    copyBytes(const_cast<void *>(there), *devices[info.device], inputs[i].data, deviceOf(inputs[i]),
              info.bytes);
  });
}

void Binder::collectOutputs(std::span<const BoundArray> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const TensorInfo &info = plan.outputs[i]; info.bytes && lastOutputs[i] != outputs[i].data)
      copyBytes(outputs[i].data, deviceOf(outputs[i]), lastOutputs[i], *devices[info.device],
                info.bytes);
}

/// Enqueues a copy in a stream of the program's device, which is the source or the destination.
/// Returns whether source and destination are on different devices.
bool Binder::copyInStream(void *to, Device &toDevice, const void *from, Device &fromDevice,
                          uint64_t bytes, void *stream) const {
  if (!canCopyDirectly(toDevice, fromDevice))
    fail("arrays cannot be copied from ", fromDevice.name.text(), " to ", toDevice.name.text(),
         " in a stream; copy them to ", kHostName, " first");
  enqueueCopy(to, toDevice, from, fromDevice, bytes, stream);
  return &toDevice != &fromDevice;
}

bool Binder::bindInStream(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs,
                          void *stream) {
  bool isFar = false;
  bindEach(inputs, outputs, [&](size_t i, const void *there) {
    const TensorInfo &info = plan.inputs[i];
    isFar |= copyInStream(const_cast<void *>(there), *devices[info.device], inputs[i].data,
                          deviceOf(inputs[i]), info.bytes, stream);
  });
  return isFar;
}

bool Binder::collectInStream(std::span<const BoundArray> outputs, void *stream) {
  bool isFar = false;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const TensorInfo &info = plan.outputs[i]; info.bytes && lastOutputs[i] != outputs[i].data)
      isFar |= copyInStream(outputs[i].data, deviceOf(outputs[i]), lastOutputs[i],
                            *devices[info.device], info.bytes, stream);
  return isFar;
}

uint64_t Binder::arenaBytes() const {
  uint64_t bytes = hostArena.size();
  for (const DeviceMemory &arena : arenas)
    bytes += arena.size();
  return bytes;
}

} // namespace dlc::runtime
