//===- Binder.h - the memory of a session, and where each buffer lies ---------===//
#ifndef DLC_RUNTIME_SESSION_BINDER_H
#define DLC_RUNTIME_SESSION_BINDER_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

#include <map>
#include <span>
#include <vector>

namespace dlc::runtime {

class StateSet;

/// An array that a caller gives or wants, and where.
struct Argument {
  void *data = nullptr;
  Device *device = nullptr; ///< null: the host
};

/// Arenas, constants on devices, and the slots whose addresses depend on what the caller gives.
class Binder {
public:
  Binder(const Plan &plan, const Program &program, const StateSet &states);

  /// The devices of the plan; null for the host where all is there.
  Device *device(uint32_t index) const { return devices[index]; }
  /// What the buffer holds in every run, where the program says so; else null.
  const void *constantValue(uint32_t buffer) const;
  /// Writes the buffer's address into the slot, now and whenever the caller gives another array.
  void bind(void **slot, uint32_t buffer);

  /// After the state has got another address.
  void bindState(uint32_t state);
  /// Rebinds what changed since the last run; most callers give the same arrays every time.
  void bindInputs(std::span<const void *const> inputs);
  void bindOutputs(std::span<void *const> outputs);

  /// The same for arrays on any device: what is not where the program wants it goes through memory
  /// of the session. collectOutputs takes home what went that way.
  void bindArguments(std::span<const Argument> inputs, std::span<const Argument> outputs);
  void collectOutputs(std::span<const Argument> outputs);

  uint64_t arenaBytes() const;
  /// For each device, the memory here that its commands alone may touch.
  const std::map<uint32_t, std::vector<char *>> &blocks() const { return guarded; }

private:
  /// A slot whose address depends on the caller.
  struct Patch {
    void **slot;
    uint32_t index;
    uint64_t offset;
  };
  void openDevices();
  void makeArenas();
  char *constantOn(uint32_t constant, uint32_t device);
  void *staged(std::vector<DeviceMemory> &memory, const TensorInfo &info, size_t index);

  const Plan &plan;
  const Program &program;
  const StateSet &states;
  std::vector<Device *> devices;
  Block hostArena;
  std::vector<DeviceMemory> arenas;
  std::map<std::pair<uint32_t, uint32_t>, DeviceMemory> constants;
  std::map<uint32_t, std::vector<char *>> guarded;
  std::vector<Patch> inputPatches, outputPatches, statePatches;
  std::vector<const void *> lastInputs;
  std::vector<void *> lastOutputs;
  std::vector<DeviceMemory> stagedInputs, stagedOutputs;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_BINDER_H
