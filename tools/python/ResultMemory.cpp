//===- ResultMemory.cpp - reuses the memory of results that were released -===//
#include "tools/python/ResultMemory.h"

#include <algorithm>

namespace dlc::python {

/// The pool is never destroyed, because arrays may outlive all static objects.
ResultMemoryPool &ResultMemoryPool::ofProcess() {
  static auto *memory = new ResultMemoryPool;
  return *memory;
}

runtime::Block ResultMemoryPool::take(size_t bytes) {
  const size_t now = out += bytes;
  if (std::unique_lock lock(mutex, std::try_to_lock); lock) {
    maxOut = std::max(maxOut, now);
    auto found = std::find_if(kept.begin(), kept.end(),
                              [&](const runtime::Block &block) { return block.size() == bytes; });
    if (found != kept.end()) {
      runtime::Block block = std::move(*found);
      kept.erase(found);
      keptNow -= bytes;
      return block;
    }
  }
  try {
    return runtime::Block(bytes, "results");
  } catch (...) {
    out -= bytes;
    throw;
  }
}

void ResultMemoryPool::giveBack(runtime::Block block) {
  std::list<runtime::Block> gone;
  out -= block.size();
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    return;
  keptNow += block.size();
  kept.push_front(std::move(block));
  while (keptNow > maxOut) {
    keptNow -= kept.back().size();
    gone.splice(gone.begin(), kept, std::prev(kept.end()));
  }
}

void ResultMemoryPool::clear() {
  std::list<runtime::Block> gone;
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    return;
  gone.swap(kept);
  keptNow = 0;
  maxOut = out;
}

} // namespace dlc::python
