//===- WeightsMemory.h - where packed weights lie until a program has them -----===//
#ifndef DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
#define DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H

#include "dlc/Export.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace dlc::runtime {

/// Memory aligned to a cache line; from some huge pages on in huge pages, which the system clears
/// and finds faster. Null where there is not so much.
DLC_EXPORT std::shared_ptr<void> allocateWeights(uint64_t bytes);

/// While it lives, what this thread allocates for weights is the memory that `place` gives for so
/// many bytes, where that is not null: they are packed where they are to stay.
class DLC_EXPORT WeightsPlace {
public:
  using Place = std::function<std::shared_ptr<void>(uint64_t bytes)>;
  explicit WeightsPlace(Place place);
  ~WeightsPlace();
  WeightsPlace(const WeightsPlace &) = delete;

private:
  Place place;
  const Place *before;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
