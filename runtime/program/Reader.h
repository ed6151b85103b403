//===- Reader.h - a .dlcx file to a Program -----------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_READER_H
#define DLC_RUNTIME_PROGRAM_READER_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

/// Maps the file; constants and code stay in the mapping. Throws dlc::Error.
DLC_EXPORT Program readProgram(const std::string &path);

/// Reads an artefact from memory, copying it. `name` stands in messages in place of a path.
DLC_EXPORT Program readProgram(const void *data, size_t size, const std::string &name = "<memory>");

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_READER_H
