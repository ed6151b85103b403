//===- ProcessMemory.h - memory use of this process -----------------------===//
#ifndef DLC_TOOLS_PROCESSMEMORY_H
#define DLC_TOOLS_PROCESSMEMORY_H

#include <fstream>
#include <string>

namespace dlc {

/// Returns the value of a line of /proc/self/status in MiB: `VmRSS` (current resident memory) or
/// `VmHWM` (peak resident memory). Returns 0 if there is no such line. `ru_maxrss` of getrusage is
/// not used: it survives exec, so it may be the peak of the process that started this one.
inline double readProcessMemoryMib(const std::string &which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(which + ":"))
      return std::stod(line.substr(which.size() + 1)) / 1024;
  return 0;
}

} // namespace dlc
#endif
