//===- Process.cpp - whether another process of this machine lives ------------===//
#include "runtime/collective/Process.h"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>

namespace dlc::runtime {

uint64_t machineOfProcess() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char room[64];
  ssize_t length = readlink("/proc/self/ns/pid", room, sizeof room);
  if (boot.empty() || length <= 0)
    return 0;
  return std::hash<std::string>()(boot.append(room, static_cast<size_t>(length)));
}

bool isGone(int64_t process) {
  return process > 0 && kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

} // namespace dlc::runtime
