//===- Checker.h - every offset, size and index of a manifest, before use -----===//
#ifndef DLC_RUNTIME_PROGRAM_CHECKER_H
#define DLC_RUNTIME_PROGRAM_CHECKER_H

#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

namespace dlc::runtime {

/// Checks the manifest against the program's constants and code. Throws dlc::Error naming the place
/// in the manifest ("commands[3].buffers[1]"), what was required and what was found.
DLC_EXPORT Plan checkProgram(const Program &program);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_CHECKER_H
