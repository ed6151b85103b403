//===- Memory.h - device memory of an emulated GPU ----------------------------===//
#ifndef DLC_TEST_EMULATOR_MEMORY_H
#define DLC_TEST_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace dlc_emulated {

using Address = unsigned long long;

/// Memory of an emulated device. It is mapped twice: the addresses that programs hold are in a
/// range without access rights, and kernels and copies use the same memory at another address.
/// Therefore host code that dereferences a device pointer faults at once, and a host pointer that
/// is passed to a kernel is detected. No address is reused, and an inaccessible page follows each
/// allocation.
class Memory {
public:
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Returns 0 if the capacity is exhausted.
  Address allocate(uint64_t bytes);
  /// Returns false if no allocation begins at the address.
  bool release(Address address);
  /// Returns the accessible memory if one allocation contains the whole range, else null.
  char *find(Address address, uint64_t bytes) const;
  /// Checks whether the address has ever belonged to this device.
  bool mine(Address address) const;
  /// Describes an allocation with a write past its end, if there is one.
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
