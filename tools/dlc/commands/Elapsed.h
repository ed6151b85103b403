//===- Elapsed.h - seconds that a part of a command took ------------------===//
#ifndef DLC_TOOLS_DLC_COMMANDS_ELAPSED_H
#define DLC_TOOLS_DLC_COMMANDS_ELAPSED_H

#include <chrono>

namespace dlc::cli {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_COMMANDS_ELAPSED_H
