//===- Streams.h - which stream runs each command, and who waits for whom -===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_H
#define DLC_CODEGEN_LOWER_STREAMS_H

#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Puts the work of each device on a stream of its own, and copies between devices on streams
/// beside it: one for what comes in, one for what goes out. What ranks share has a stream too,
/// which keeps its order. Events order what must be in order, with the fewest waits: one that
/// follows from others is left out. A program that is all on cpu, and shares nothing, stays as it
/// is.
void assignStreams(exec::ProgramOp program);

} // namespace dlc::lower
#endif
