//===- Cores.h - a share of the machine's processors for each rank ------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_CORES_H
#define DLC_RUNTIME_COLLECTIVE_CORES_H

#include <sched.h>
#include <vector>

namespace dlc::runtime {

class World;

/// Where ranks of a machine may run on the same processors, since the launcher bound none, each
/// binds the calling thread, and those that it starts from then on, to its share. All ranks must
/// call it together.
void shareProcessors(World &world);

/// The `index`th of `count` shares: neighbours, whole cores first; where there are more shares than
/// processors, one of them.
cpu_set_t shareOf(const std::vector<int> &processors, int index, int count);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_CORES_H
