//===- Writer.h - writes a Program to a .dlcx file ---------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_WRITER_H
#define DLC_RUNTIME_PROGRAM_WRITER_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

/// Validates the program, writes it to a temporary file next to `path`, syncs and renames this
/// file. `path` is thus either the complete new program or unchanged. Throws dlc::Error (disk full,
/// invalid program).
DLC_EXPORT void writeProgram(const Program &program, const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_WRITER_H
