//===- Reader.h - reads a .dlcx file into a Program --------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_READER_H
#define DLC_RUNTIME_PROGRAM_READER_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

/// Reads a .dlcx file by memory-mapping it; constants and code remain in the mapping. Throws
/// dlc::Error.
DLC_EXPORT Program readProgram(const std::string &path);

/// Reads a program file from memory and copies it. `name` replaces the path in messages.
DLC_EXPORT Program readProgram(const void *data, size_t size, const std::string &name = "<memory>");

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_READER_H
