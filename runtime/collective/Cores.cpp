//===- Cores.cpp - binding of ranks to CPUs ----------------------------------===//
#include "runtime/collective/Cores.h"

#include "runtime/collective/Process.h"
#include "runtime/collective/World.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <tuple>

namespace dlc::runtime {

namespace {

int readTopologyId(int processor, const char *what) {
  int number = 0;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/" + what) >>
      number;
  return number;
}

/// Returns the CPUs of a set, sorted by package and core, so that the hardware threads of a core
/// are adjacent.
std::vector<int> sortByCore(const cpu_set_t &set) {
  std::vector<std::tuple<int, int, int>> found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set))
      found.emplace_back(readTopologyId(processor, "physical_package_id"),
                         readTopologyId(processor, "core_id"), processor);
  std::sort(found.begin(), found.end());
  std::vector<int> processors;
  processors.reserve(found.size());
  for (const auto &[package, core, processor] : found)
    processors.push_back(processor);
  return processors;
}

/// CPUs that a rank may use, and an ID of the rank's machine.
struct RankProcessors {
  uint64_t machine = 0;
  cpu_set_t processors;
};

} // namespace

cpu_set_t selectRankProcessors(const std::vector<int> &processors, int index, int count) {
  auto all = static_cast<int>(processors.size());
  int first = index % all, end = first + 1;
  if (count <= all) {
    first = index * all / count;
    end = (index + 1) * all / count;
  }
  cpu_set_t share;
  CPU_ZERO(&share);
  for (int i = first; i < end; ++i)
    CPU_SET(processors[i], &share);
  return share;
}

void bindRankProcessors(World &world) {
  RankProcessors mine{.machine = getMachineId(), .processors = {}};
  if (sched_getaffinity(0, sizeof mine.processors, &mine.processors) != 0)
    mine.machine = 0;
  std::vector<RankProcessors> places(static_cast<size_t>(world.size()));
  world.run({.collective = Collective::AllGather,
             .type = DType::U8,
             .from = &mine,
             .to = places.data(),
             .share = sizeof mine});
  if (mine.machine == 0)
    return;
  int index = 0, count = 0;
  for (int rank = 0; rank < world.size(); ++rank)
    if (places[rank].machine == mine.machine &&
        CPU_EQUAL(&places[rank].processors, &mine.processors)) {
      index += rank < world.rank();
      ++count;
    }
  if (count == 1)
    return;
  // Ignore an error of sched_setaffinity: a rank also works if it is not bound to CPUs.
  cpu_set_t share = selectRankProcessors(sortByCore(mine.processors), index, count);
  sched_setaffinity(0, sizeof share, &share);
}

} // namespace dlc::runtime
