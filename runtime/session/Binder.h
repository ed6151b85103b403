//===- Binder.h - memory of a session and the addresses of its buffers -------===//
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

/// Address of a caller's input or output array, and its device.
struct BoundArray {
  void *data = nullptr;
  Device *device = nullptr; ///< null: the host
};

/// Owns the arenas and the copies of constants on devices, and updates the address slots that
/// depend on the caller's arrays.
class Binder {
public:
  Binder(const Plan &plan, const Program &program, const StateSet &states);

  /// Returns the open device with this index in Plan::devices; null if the whole program is on the
  /// host.
  Device *device(uint32_t index) const { return devices[index]; }
  /// Returns the host address of a constant buffer's data; null for other buffers.
  const void *constantValue(uint32_t buffer) const;
  /// Writes the buffer's address into the slot, now and whenever the caller passes a different
  /// array for the buffer.
  void bind(void **slot, uint32_t buffer);

  /// Updates the address slots of a state whose memory has changed.
  void bindState(uint32_t state);
  /// Updates the address slots of inputs or outputs for which the caller passes other arrays than
  /// in the last run. Most callers pass the same arrays in each run.
  void bindInputs(std::span<const void *const> inputs);
  void bindOutputs(std::span<void *const> outputs);

  /// Updates the address slots of inputs and outputs that may be on any device. Arrays on another
  /// device than the program requires are staged through memory of the session. After the run,
  /// collectOutputs copies staged outputs to the caller's arrays.
  void bindArguments(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs);
  void collectOutputs(std::span<const BoundArray> outputs);
  /// Variants of bindArguments and collectOutputs that enqueue the copies in a caller's stream. The
  /// stream must be of the device that has all inputs and outputs of the program. Each function
  /// returns whether it has enqueued a copy from or to the memory of another device. The caller
  /// must keep this memory until the stream has completed the copy.
  bool bindInStream(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs,
                    void *stream);
  bool collectInStream(std::span<const BoundArray> outputs, void *stream);

  uint64_t arenaBytes() const;
  /// Returns the session's memory blocks by device index. Only commands of a device may access its
  /// blocks; tests use this to find invalid accesses.
  const std::map<uint32_t, std::vector<char *>> &blocks() const { return guarded; }

private:
  /// An address slot of an input, output or state, whose memory may change between runs.
  struct Patch {
    void **slot;
    uint32_t index;
    uint64_t offset;
  };
  void openDevices();
  void makeArenas();
  char *constantOn(uint32_t constant, uint32_t device);
  void *staged(std::vector<DeviceMemory> &memory, const TensorInfo &info, size_t index);
  Device &deviceOf(const BoundArray &argument) const {
    return argument.device ? *argument.device : *devices[0];
  }
  /// Returns whether the program can access the caller's array without staged memory.
  bool isInPlace(const BoundArray &argument, const TensorInfo &info) const;
  bool copyInStream(void *to, Device &toDevice, const void *from, Device &fromDevice,
                    uint64_t bytes, void *stream) const;
  /// Binds the program to the arrays, or to staged memory for arrays that it cannot access in
  /// place. Calls `copyIn(i, address)` for each input that must be copied to staged memory at
  /// `address`.
  template <typename CopyIn>
  void bindEach(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs,
                const CopyIn &copyIn);

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
  /// Buffers for the arguments of bindInputs and bindOutputs. They are members so that a run does
  /// not allocate memory.
  std::vector<const void *> from;
  std::vector<void *> to;
  std::vector<DeviceMemory> stagedInputs, stagedOutputs;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_BINDER_H
