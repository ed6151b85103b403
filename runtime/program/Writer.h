//===- Writer.h - a Program to a .dlcx file -----------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_WRITER_H
#define DLC_RUNTIME_PROGRAM_WRITER_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

/// Writes to a temporary file beside `path`, syncs it and renames it, so that `path` is either the
/// whole new program or what it was. Checks the program first. Throws dlc::Error (disk full, bad
/// program).
DLC_EXPORT void writeProgram(const Program &program, const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_WRITER_H
