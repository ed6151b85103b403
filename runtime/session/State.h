//===- State.h - what lives in a session from run to run ----------------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_H
#define DLC_RUNTIME_SESSION_STATE_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"
#include "runtime/program/Safetensors.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

struct SavedTensor;
class World;

/// Memory of states that were made together. Sessions that share one of them share the lock.
struct StateMemory {
  StateMemory(uint64_t bytes, size_t count) : block(bytes, "state"), count(count) {}
  Block block;
  /// That of states on other devices, each by itself.
  std::vector<DeviceMemory> elsewhere;
  size_t count;
  std::mutex mutex;
  /// Why some states here are updated and others not; empty where all is whole.
  std::string torn;
};

/// The states of one session, some of them perhaps another's or in memory of the caller's. Every
/// function but data() locks. Of what ranks share each has its part; started(), save() and load()
/// are about the whole then, and all ranks call the first two of them together.
class DLC_EXPORT StateSet {
public:
  /// New states have the values that the program begins with.
  /// `world` may be null: the process's own.
  StateSet(const Plan &plan, const Program &program, const StateSet *lender, World *world);
  StateSet(const StateSet &) = delete;

  char *data(size_t index) const { return bound[index].data; }
  /// Whether some are parts of what all ranks have together.
  bool hasParts() const { return world != nullptr; }
  uint64_t ownBytes() const;

  /// Throws dlc::Error where there is none of that name.
  size_t indexOf(const std::string &name) const;
  void get(size_t index, void *to) const;
  void set(size_t index, const void *from);
  /// The same, and gives the memory there, whose contents are lost, back to the system on the way.
  void take(size_t index, void *from);
  void reset();
  /// From now on the state is the caller's memory, with the value that stands there; null: the
  /// session's own again, with the value that it has. Throws dlc::Error where the state is on a
  /// device or shared with another session, and where the address is no multiple of the element's
  /// size. The memory must last until the next bind, or as long as the session: no other session
  /// can share the state meanwhile.
  void bind(size_t index, void *memory);

  /// The program with these values, copied, as those that its states begin as. Refused where other
  /// ranks have the rest.
  Program started() const;
  /// As .safetensors, a tensor per state; see dlc.h for what is refused. Of ranks with parts the
  /// first one writes.
  /// `metadata` is written beside what says whose state it is. Refused where other ranks have the
  /// rest of a share.
  void save(const std::string &path, std::map<std::string, std::string> metadata = {}) const;
  /// Of a state that is split over ranks (Shares.h): this rank's shares, and what all have alike.
  void savePart(const std::string &path) const;
  void saveRest(const std::string &path, std::map<std::string, std::string> metadata) const;
  /// A whole checkpoint's; of what is split over ranks this rank's share.
  void load(const std::string &path, bool allowMissing, bool allowExtra);

  /// Holds all memory of the set.
  class Lock {
  public:
    explicit Lock(const StateSet &set);
    ~Lock();
    Lock(const Lock &) = delete;

  private:
    const StateSet &set;
  };
  /// Throws where state is torn. Under a Lock, like tear().
  void requireWhole(const char *doing) const;
  void tear(const std::string &why);

private:
  struct Bound {
    char *data = nullptr;
    Device *device = nullptr; ///< null: the host
    std::shared_ptr<StateMemory> memory;
    char *home = nullptr; ///< where it lies unless it is bound to a caller's memory
  };
  void initialise(size_t index);
  /// Bytes of a state for a file, in the state's own memory or in a copy.
  struct Contents {
    const char *data;
    uint64_t bytes;
    std::shared_ptr<const void> copy;
  };
  /// Copies the bytes of a state that is not on the host. Of a part, returns those of the whole. To
  /// be used under a Lock: only the copy has an owner.
  Contents contents(size_t index) const;
  /// Where this rank's elements of a shared tensor are: in the tensor, and in the share.
  struct Overlap {
    uint64_t inTensor, inShare, count;
  };
  Overlap overlapOf(const StateInfo &info, const SharedTensor &tensor) const;
  /// Adds this rank's shares to a file, and what they are views of to `held`.
  void addShares(TensorViews &file, std::vector<Contents> &held) const;
  void requireAll() const;
  void place(size_t state, const SavedTensor &tensor, const Overlap &where);
  /// A state's bytes from and to the host.
  void read(const Bound &from, void *to, uint64_t bytes) const;
  void write(const Bound &to, const void *from, uint64_t bytes);
  /// All of the set has values again: memory whose states are all in it is whole.
  void mend();

  const Plan &plan;
  const Program &program;
  const int rank;
  World *const world; ///< where there are parts
  std::shared_ptr<StateMemory> own;
  std::vector<Bound> bound;
  /// Each memory once, in the order in which all sessions lock.
  std::vector<StateMemory *> memories;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_H
