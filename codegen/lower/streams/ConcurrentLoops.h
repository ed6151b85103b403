//===- ConcurrentLoops.h - independent loops that run at the same time ----===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_CONCURRENTLOOPS_H
#define DLC_CODEGEN_LOWER_STREAMS_CONCURRENTLOOPS_H

#include "codegen/providers/Cost.h"
#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Marks independent loops of a CPU program as concurrent where this is faster: each loop then uses
/// one thread, instead of all threads for each command of one loop after another. An example are
/// the two directions of a recurrent layer. Moves the loops together, with the commands that they
/// need; the order of all dependent commands is preserved.
void markConcurrentLoops(exec::ProgramOp program, const CostModel &cost);

} // namespace dlc::lower
#endif
