//===- HugePageAllocator.cpp - huge-page cache of packed weights and constants -===//
#include "runtime/device/cpu/HugePageAllocator.h"

#include "dlc/Error.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/program/Format.h"

#include <algorithm>
#include <cstring>

namespace dlc::runtime {

std::shared_ptr<void> HugePageAllocator::allocate(size_t bytes) {
  // kLong is the size of a block in bytes. Pages are populated at the first access, so a long block
  // costs nothing until it is used.
  constexpr size_t kLong = size_t(64) << 20, kPage = size_t(2) << 20, kLarge = kPage / 2;
  const size_t begun = format::alignUp(used, kPage);
  if (bytes == 0 || (bytes < kLarge && used + bytes > begun))
    return nullptr;
  if (!block || used + bytes > block->size()) {
    try {
      block = std::make_shared<Block>(std::max(format::alignUp(bytes, kPage), kLong), "weights");
    } catch (const Error &) {
      return nullptr;
    }
    used = 0;
  }
  last = used;
  used = format::alignUp(used + bytes, 64);
  return {block, block->data() + last};
}

std::shared_ptr<void> HugePageAllocator::copy(const void *data, size_t bytes) {
  std::shared_ptr<void> at = allocate(bytes);
  if (at)
    std::memcpy(at.get(), data, bytes);
  return at;
}

bool HugePageAllocator::isLast(const void *data) const {
  return block && data == block->data() + last;
}

void HugePageAllocator::freeLast() { used = last; }

} // namespace dlc::runtime
