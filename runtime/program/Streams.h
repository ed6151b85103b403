//===- Streams.h - validates the use of streams and events -------------------===//
#ifndef DLC_RUNTIME_PROGRAM_STREAMS_H
#define DLC_RUNTIME_PROGRAM_STREAMS_H

#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// Validates the plan's use of streams: commands use buffers of their stream's device, each event
/// is recorded once and before it is waited for (so that streams cannot deadlock), and there is no
/// data race. If two commands of different streams access the same bytes and one of them writes, an
/// event must order them. A concurrent loop must follow a loop of its stream, and loops that are
/// concurrent must not access the same bytes if one of them writes. Throws dlc::Error.
void checkStreams(const Plan &plan);

/// A buffer that a command uses, and whether the command writes it.
struct BufferUse {
  uint32_t buffer;
  bool written;
};
std::vector<BufferUse> collectBufferUses(const Command &command);

/// Returns for each pair of streams whether they may run concurrently.
std::vector<std::vector<bool>> findConcurrentStreams(const Plan &plan);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_STREAMS_H
