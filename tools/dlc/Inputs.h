//===- Inputs.h - arrays for a program's inputs -------------------------------------------===//
#ifndef DLC_TOOLS_DLC_INPUTS_H
#define DLC_TOOLS_DLC_INPUTS_H

#include "runtime/session/Session.h"
#include "tools/compiler/Source.h"

namespace dlc::cli {

/// One array per input of the program, in its order: those given, the fixed values of inputs that
/// were bound when it was compiled, and random elements from the seed for the rest. Throws
/// dlc::Error for one that does not fit.
std::vector<runtime::NpyArray> arraysFor(const runtime::Session &session, const Values &given,
                                         uint64_t seed);

/// Completes shapes, taking 1 for a dimension that nothing says, with a line on stderr.
Shapes completeWithOnes(const Source &source, const Shapes &given);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_INPUTS_H
