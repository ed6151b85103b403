//===- ProcessMemory.h - how much memory this process holds, and held at most ----===//
#ifndef DLC_TOOLS_PROCESSMEMORY_H
#define DLC_TOOLS_PROCESSMEMORY_H

#include <fstream>
#include <string>

namespace dlc {

/// A line of /proc/self/status in MiB: VmRSS (now) or VmHWM (the most so far); 0 where there is
/// none. Not getrusage's figure, which outlives exec: it may be that of the process that started
/// this one.
inline double processMib(const std::string &which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(which + ":"))
      return std::stod(line.substr(which.size() + 1)) / 1024;
  return 0;
}

} // namespace dlc
#endif
