//===- Streams.h - assigns commands to streams ----------------------------===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_H
#define DLC_CODEGEN_LOWER_STREAMS_H

#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Runs the work of each device on its own stream, and copies between devices on two further
/// streams, one for incoming and one for outgoing data. Collectives have a stream of their own,
/// which keeps their order. Events order dependent commands with the fewest possible waits: a wait
/// that is implied by others is omitted. A program that runs only on the CPU, without collectives,
/// is unchanged.
void assignStreams(exec::ProgramOp program);

} // namespace dlc::lower
#endif
