//===- WeightsMemory.cpp - allocation of packed weights ----------------------===//
#include "runtime/program/WeightsMemory.h"

#include "runtime/program/Format.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <utility>

namespace dlc::runtime {

static thread_local const WeightsMemoryScope::Place *current = nullptr;

WeightsMemoryScope::WeightsMemoryScope(Place wanted) : place(std::move(wanted)), before(current) {
  current = &place;
}

WeightsMemoryScope::~WeightsMemoryScope() { current = before; }

std::shared_ptr<void> allocateWeights(uint64_t bytes) {
  if (current)
    if (auto placed = (*current)(bytes))
      return placed;
  constexpr uint64_t kLine = 64, kHugePage = uint64_t(2) << 20, kMin = 2 * kHugePage;
  uint64_t alignment = bytes >= kMin ? kHugePage : kLine;
  void *memory =
      std::aligned_alloc(alignment, format::alignUp(std::max<uint64_t>(bytes, 1), alignment));
  if (!memory)
    return nullptr;
  // Use small pages for the end of the memory, which does not fill a huge page.
  if (bytes >= kMin)
    madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return {memory, std::free};
}

} // namespace dlc::runtime
