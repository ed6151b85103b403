//===- State.h - states, which persist in a session between runs -------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_STATE_H
#define DLC_RUNTIME_SESSION_STATE_STATE_H

#include "runtime/device/Event.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"
#include "runtime/program/arrays/Safetensors.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

struct SavedTensor;
class World;

/// Memory of states that were allocated together. Sessions that share any of these states also
/// share the mutex.
struct StateMemory {
  StateMemory(uint64_t bytes, size_t count) : block(bytes, "state"), count(count) {}
  /// Waits for the enqueued runs that use the memory.
  ~StateMemory();
  StateMemory(const StateMemory &) = delete;
  StateMemory &operator=(const StateMemory &) = delete;
  Block block;
  /// Memory of states on devices other than the host, one block per state.
  std::vector<DeviceMemory> elsewhere;
  size_t count;
  std::mutex mutex;
  /// Error after which some states were updated and others were not; empty if the states are
  /// consistent.
  std::string torn;
  /// Event at the end of the last run that was enqueued in a caller's stream; null if this run is
  /// known to be complete.
  std::shared_ptr<DeviceEvent> lastRun;
};

/// The states of a session. Some may be shared with another session or bound to the caller's
/// memory. All functions except data() lock the memory. If states are sharded into parts, each rank
/// has its part, while started(), save() and load() handle whole tensors; started() and save() must
/// be called by all ranks together.
class DLC_EXPORT StateSet {
public:
  /// Creates states with the program's initial values, except those that share the memory of
  /// `lender` (may be null). If `world` is null, the process's world is used.
  StateSet(const Plan &plan, const Program &program, const StateSet *lender, World *world);
  StateSet(const StateSet &) = delete;

  char *data(size_t index) const { return bound[index].data; }
  /// Returns whether some states are parts of tensors that are sharded over the ranks.
  bool hasParts() const { return world != nullptr; }
  uint64_t ownBytes() const;

  /// Throws dlc::Error if there is no state with this name.
  size_t indexOf(const std::string &name) const;
  void get(size_t index, void *to) const;
  void set(size_t index, const void *from);
  /// Sets a state to the value at `from`. During the copy, returns the pages of `from`, whose
  /// contents are lost, to the operating system, which limits the peak memory use.
  void take(size_t index, void *from);
  void reset();
  /// Binds the state to the caller's memory on `device` (null: the host) and to the value stored
  /// there. If `memory` is null, the session's own memory is used again and receives the current
  /// value. Throws dlc::Error if the state is on another device or shared with another session, or
  /// if the address is not aligned to the element size, on a GPU to 16 bytes. The memory must be
  /// valid until the next bind() or the end of the session. While a state is bound, no other
  /// session can share it.
  void bind(size_t index, void *memory, const Device *device = nullptr);

  /// Returns the program with copies of the current states as their initial values. Throws if other
  /// ranks have shards of a state.
  Program started() const;
  /// Saves the states as a .safetensors file with one tensor per state; dlc.h lists the error
  /// cases. If states have parts, rank 0 writes the file. `metadata` is added to the file's
  /// metadata. Throws if other ranks have shards of a state (see Shares.h).
  void save(const std::string &path, std::map<std::string, std::string> metadata = {}) const;
  /// For sharded states (Shares.h): savePart() saves this rank's shards, saveRest() saves the
  /// states that are equal on all ranks.
  void savePart(const std::string &path) const;
  void saveRest(const std::string &path, std::map<std::string, std::string> metadata) const;
  /// Loads the states from a complete checkpoint. If a state is sharded, loads this rank's shard.
  void load(const std::string &path, bool allowMissing, bool allowExtra);

  /// Locks the memory of all states of a set for the lifetime of the object. The constructor waits
  /// for the enqueued runs that use the memory. With `enqueues`, it does not: the caller enqueues
  /// another run, which waits for them on the device (makeWait()).
  class Lock {
  public:
    explicit Lock(const StateSet &set, bool enqueues = false);
    ~Lock();
    Lock(const Lock &) = delete;

  private:
    const StateSet &set;
  };
  /// requireWhole() throws if the states are torn (partially updated). Both functions require a
  /// Lock.
  void requireWhole(const char *doing) const;
  void markTorn(const std::string &why);
  /// Makes a stream wait for the enqueued runs that use the states. Requires a Lock.
  void makeWait(void *stream) const;
  /// Stores the event at the end of the last enqueued run. Requires a Lock.
  void setLastRun(const std::shared_ptr<DeviceEvent> &event);

private:
  struct Bound {
    char *data = nullptr;
    Device *device = nullptr; ///< device of the state; null: the host
    std::shared_ptr<StateMemory> memory;
    char *home = nullptr; ///< own memory, used unless the state is bound to the caller's memory
  };
  void initialise(size_t index);
  /// Bytes of a state to be written to a file: a view of the state's memory, or a copy.
  struct Contents {
    const char *data;
    uint64_t bytes;
    std::shared_ptr<const void> copy;
  };
  /// Returns the bytes of a state. A state on a device is copied to the host; for a part, the whole
  /// tensor is gathered. Requires a Lock, because a view has no owner.
  Contents contents(size_t index) const;
  /// Position of this rank's elements of a sharded tensor: offset in the tensor, offset in the
  /// shard, and number of elements.
  struct Overlap {
    uint64_t inTensor, inShare, count;
  };
  Overlap computeOverlap(const StateInfo &info, const SharedTensor &tensor) const;
  /// Adds this rank's shards of all sharded states to a file, and the owners of their data to
  /// `held`.
  void addShares(TensorViews &file, std::vector<Contents> &held) const;
  void requireAll() const;
  void place(size_t state, const SavedTensor &tensor, const Overlap &where);
  /// read() copies a state's bytes to host memory; write() copies host memory to the state.
  void read(const Bound &from, void *to, uint64_t bytes) const;
  void write(const Bound &to, const void *from, uint64_t bytes);
  /// Clears the error mark (`torn`) of each memory whose states all belong to this set. Called
  /// after all states of the set have been set.
  void mend();

  const Plan &plan;
  const Program &program;
  const int rank;
  World *const world; ///< world over which states are sharded; null if no state is
  std::shared_ptr<StateMemory> own;
  std::vector<Bound> bound;
  /// Distinct memories of the states, sorted by address: all sessions lock them in this order, so
  /// that they cannot deadlock.
  std::vector<StateMemory *> memories;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_STATE_H
