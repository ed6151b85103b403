//===- Checker.h - validates all offsets, sizes and indices of a manifest ----===//
#ifndef DLC_RUNTIME_PROGRAM_CHECKER_H
#define DLC_RUNTIME_PROGRAM_CHECKER_H

#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

namespace dlc::runtime {

/// Validates the manifest against the program's constants and code and converts it into a Plan.
/// Throws dlc::Error with the position in the manifest ("commands[3].buffers[1]"), what was
/// required and what was found.
DLC_EXPORT Plan checkProgram(const Program &program);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_CHECKER_H
