//===- WeightsMemory.h - where packed weights lie until a program has them -----===//
#ifndef DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
#define DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H

#include "dlc/Export.h"

#include <cstdint>
#include <memory>

namespace dlc::runtime {

/// Memory aligned to a cache line; from some huge pages on in huge pages, which the system clears
/// and finds faster. Null where there is not so much.
DLC_EXPORT std::shared_ptr<void> allocateWeights(uint64_t bytes);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_WEIGHTSMEMORY_H
