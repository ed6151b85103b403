//===- Process.cpp - liveness of other processes, activity of this process ---===//
#include "runtime/collective/Process.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::runtime {

uint64_t getMachineId() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char room[64];
  ssize_t length = readlink("/proc/self/ns/pid", room, sizeof room);
  if (boot.empty() || length <= 0)
    return 0;
  return std::hash<std::string>()(boot.append(room, static_cast<size_t>(length)));
}

bool isProcessGone(int64_t process) {
  return process > 0 && kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

bool hasRunningThread() {
  const std::string self = std::to_string(syscall(SYS_gettid));
  std::error_code none;
  for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (thread.path().filename() == self)
      continue;
    // In /proc/PID/task/TID/stat, the thread's state follows its name in parentheses, which may
    // contain any characters.
    std::string stat;
    std::getline(std::ifstream(thread.path() / "stat"), stat);
    const size_t name = stat.rfind(')');
    if (name != std::string::npos && name + 2 < stat.size() &&
        (stat[name + 2] == 'R' || stat[name + 2] == 'D'))
      return true;
  }
  return false;
}

} // namespace dlc::runtime
