//===- Memory.h - an emulated device's own memory -----------------------------===//
#ifndef DLC_TEST_EMULATOR_MEMORY_H
#define DLC_TEST_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace dlc_emulated {

using Address = unsigned long long;

/// Programs hold addresses in a range that nobody can read or write; kernels and copies get the
/// same memory at another address. So a host that follows a device's pointer stops at once, and
/// a kernel that was given the host's is told from one that was given ours. No address is given
/// twice, and a page that nobody may touch stands behind each allocation.
class Memory {
public:
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// 0: no room.
  Address allocate(uint64_t bytes);
  /// False where no allocation begins there.
  bool release(Address address);
  /// The memory itself, where all of it is in one allocation; else null.
  char *find(Address address, uint64_t bytes) const;
  /// Whether the address was ever this device's.
  bool mine(Address address) const;
  /// Says which allocation was written behind its end, if one was.
  std::string damage() const;

  uint64_t capacity() const { return limit; }
  uint64_t used() const { return taken; }

private:
  struct Allocation {
    uint64_t bytes, begin, mapped;
  };
  char *real(Address address) const { return truth + (address - view); }

  uint64_t limit, taken = 0, next = 0;
  Address view = 0;
  char *truth = nullptr;
  std::map<Address, Allocation> allocations;
};

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_MEMORY_H
