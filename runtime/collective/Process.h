//===- Process.h - whether another process of this machine lives, and what this one is at ---===//
#ifndef DLC_RUNTIME_COLLECTIVE_PROCESS_H
#define DLC_RUNTIME_COLLECTIVE_PROCESS_H

#include <cstdint>

namespace dlc::runtime {

/// The same for processes that know each other by their numbers: those of one machine and, where
/// there are containers, of one of them. 0 where nobody can tell.
uint64_t machineOfProcess();

bool isGone(int64_t process);

/// Whether a thread of this process beside the calling one runs, or waits for a processor or a
/// disk: not for anybody who may never come.
bool isBusy();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_PROCESS_H
