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
  /// The same for a run in a caller's stream of the device that has all inputs and outputs of the
  /// program: copies are enqueued in the stream. Each function returns whether it has enqueued a
  /// copy from or to another device's memory, which the caller must keep until the stream has
  /// completed.
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
  bool isInPlace(const BoundArray &argument, const TensorInfo &info) const;
  bool copyInStream(void *to, Device &toDevice, const void *from, Device &fromDevice,
                    uint64_t bytes, void *stream) const;
  /// Sets `from` and `to` to the addresses that the program uses. Calls `copyIn(i)` for each input
  /// that must be copied to staged memory.
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
  /// Arguments of bindInputs and bindOutputs, members so that a run does not allocate them.
  std::vector<const void *> from;
  std::vector<void *> to;
  std::vector<DeviceMemory> stagedInputs, stagedOutputs;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_BINDER_H
