//===- Inputs.h - arrays for the inputs of a program ----------------------===//
#ifndef DLC_TOOLS_DLC_INPUTS_H
#define DLC_TOOLS_DLC_INPUTS_H

#include "runtime/session/Session.h"
#include "tools/compiler/Source.h"

namespace dlc::cli {

/// Returns one array per input of the program, in the program's order: the array from `given`, the
/// constant value of an input that was bound at compile time, or random elements. Throws dlc::Error
/// if a given array does not fit.
std::vector<runtime::NpyArray> arraysFor(const runtime::Session &session, const Values &given,
                                         uint64_t seed);

/// Completes the input shapes with size 1 for each unspecified dynamic dimension, and reports each
/// such dimension on stderr.
Shapes completeShapesWithOnes(const Source &source, const Shapes &given);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_INPUTS_H
