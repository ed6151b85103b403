//===- WeightsMemory.h - allocation of packed weights ------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
#define DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H

#include "dlc/Export.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace dlc::runtime {

/// Allocates memory for packed weights, aligned to a cache line. From 4 MiB on, it is aligned to 2
/// MiB and uses transparent huge pages, which are cleared faster and cause fewer TLB misses.
/// Returns null if the allocation fails.
DLC_EXPORT std::shared_ptr<void> allocateWeights(uint64_t bytes);

/// During the lifetime of the object, allocateWeights() in this thread returns the memory that
/// `place` returns for the size, unless this is null. Weights are thus packed directly into their
/// final memory.
class DLC_EXPORT WeightsMemoryScope {
public:
  using Place = std::function<std::shared_ptr<void>(uint64_t bytes)>;
  explicit WeightsMemoryScope(Place place);
  ~WeightsMemoryScope();
  WeightsMemoryScope(const WeightsMemoryScope &) = delete;

private:
  Place place;
  const Place *before;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
