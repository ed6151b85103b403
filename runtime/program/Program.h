//===- Program.h - a compiled program in memory -------------------------------===//
//
// What the compiler makes, the writer stores and the session runs. The manifest is JSON; its schema
// is documented in Manifest.md beside this file and enforced by Checker.cpp.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_PROGRAM_H
#define DLC_RUNTIME_PROGRAM_PROGRAM_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dlc::runtime {

/// Bytes that somebody else keeps alive: a mapped model file, a mapped artefact, a heap block.
struct Span {
  const void *data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

struct Program {
  nlohmann::json manifest;
  /// In the order of manifest["constants"]. Weights stay where they are (in a mapped model file).
  std::vector<Span> constants;
  /// A flat position-independent image: no relocations, no external symbols. Ordinary bytes, unless
  /// codeIsExecutable says that `code.data` is already mapped for execution.
  Span code;
  bool codeIsExecutable = false;
  /// The program as text of the IR, for people; may be empty.
  std::string ir;
};

/// A Span that owns a copy of `bytes` bytes at `data`, aligned to 64.
DLC_EXPORT Span copyToSpan(const void *data, size_t bytes);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PROGRAM_H
