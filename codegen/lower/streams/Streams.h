//===- Streams.h - assigns commands to streams ----------------------------===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_STREAMS_H
#define DLC_CODEGEN_LOWER_STREAMS_STREAMS_H

#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Assigns each command to a stream. Each device has a stream for its kernels and two streams for
/// copies, one for incoming and one for outgoing data. Collectives have a separate stream, which
/// keeps their order. Events order dependent commands of different streams; a wait that other waits
/// imply is omitted. A program that runs only on the CPU, without collectives, is unchanged.
void assignStreams(exec::ProgramOp program);

} // namespace dlc::lower
#endif
