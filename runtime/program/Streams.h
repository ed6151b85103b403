//===- Streams.h - whether streams and events of a program can be right -------===//
#ifndef DLC_RUNTIME_PROGRAM_STREAMS_H
#define DLC_RUNTIME_PROGRAM_STREAMS_H

#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// Checks that commands use what is on their stream's device, that each event is recorded once,
/// before it is waited for (so that no streams wait for one another), and that events order every
/// two commands of different streams that touch the same bytes, one of them writing. Throws
/// dlc::Error.
void checkStreams(const Plan &plan);

/// Buffers that the command names, those of its bodies not among them: which, and whether it
/// writes.
struct BufferUse {
  uint32_t buffer;
  bool written;
};
std::vector<BufferUse> buffersOf(const Command &command);

/// For each stream of the program, the others that may run at the same time as it.
std::vector<std::vector<bool>> concurrentStreams(const Plan &plan);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_STREAMS_H
