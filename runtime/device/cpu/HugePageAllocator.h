//===- HugePageAllocator.h - huge-page cache of packed weights and constants -===//
#ifndef DLC_RUNTIME_DEVICE_CPU_HUGEPAGEALLOCATOR_H
#define DLC_RUNTIME_DEVICE_CPU_HUGEPAGEALLOCATOR_H

#include "dlc/Export.h"

#include <cstddef>
#include <memory>

namespace dlc::runtime {

class Block;

/// Bump allocator for weights on 2 MiB pages. Weights are read once per run, from DRAM: on huge
/// pages, hardware prefetching does not stop at 4 KiB page boundaries and fewer TLB misses occur.
/// Sharing pages between weights reduces fragmentation.
class DLC_EXPORT HugePageAllocator {
public:
  /// Allocates `bytes`, aligned to 64 bytes. The memory is freed with the last pointer into its
  /// block. Returns null if no memory is available, or if the allocation would start a new huge
  /// page and is smaller than half of it.
  std::shared_ptr<void> allocate(size_t bytes);
  /// Allocates memory and copies `data` into it. Returns null if allocate() returns null.
  std::shared_ptr<void> copy(const void *data, size_t bytes);
  /// Returns whether `data` is the most recent allocation.
  bool isLast(const void *data) const;
  /// Frees the most recent allocation.
  void freeLast();

private:
  std::shared_ptr<Block> block;
  size_t used = 0, last = 0; ///< offset of the most recent allocation
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_HUGEPAGEALLOCATOR_H
