//===- Cores.h - binding of ranks to CPUs ------------------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_CORES_H
#define DLC_RUNTIME_COLLECTIVE_CORES_H

#include <sched.h>
#include <vector>

namespace dlc::runtime {

class World;

/// Binds each rank to a part of the machine's CPUs if several ranks of the machine have the same
/// CPU affinity mask, that is, if the launcher has not bound them. Affects the calling thread and
/// the threads that it starts later. All ranks must call it together.
void bindRankProcessors(World &world);

/// Splits a list of CPUs into `count` parts and returns part `index`: a contiguous range of CPUs.
/// If there are more parts than CPUs, a part is a single CPU that several parts share.
cpu_set_t selectRankProcessors(const std::vector<int> &processors, int index, int count);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_CORES_H
