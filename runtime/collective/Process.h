//===- Process.h - liveness of other processes, activity of this process -----===//
#ifndef DLC_RUNTIME_COLLECTIVE_PROCESS_H
#define DLC_RUNTIME_COLLECTIVE_PROCESS_H

#include <cstdint>

namespace dlc::runtime {

/// Returns an ID that is equal for processes of the same machine and PID namespace (container),
/// which can see each other by PID. Returns 0 if the ID cannot be determined.
uint64_t getMachineId();

bool isProcessGone(int64_t process);

/// Returns whether another thread of this process is running, waiting for a CPU or waiting for a
/// disk. Threads that wait for events that may never occur do not count.
bool hasRunningThread();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_PROCESS_H
