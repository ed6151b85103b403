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

#include <cassert>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlc::runtime {

/// Bytes and the shared owner of their memory: a mapped model file, a mapped artefact, a heap
/// block.
struct Span {
  Span() = default;
  /// Asserts that the bytes have an owner.
  Span(const void *data, size_t bytes, std::shared_ptr<const void> owner)
      : data(data), bytes(bytes), owner(std::move(owner)) {
    assert((bytes == 0 || this->owner.use_count() > 0) && "a span needs an owner of its memory");
  }

  const void *data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

struct Program {
  nlohmann::json manifest;
  /// In the order of manifest["constants"]. The program shares the ownership of their memory, which
  /// may be a mapped model file: it needs neither the compiler nor its MLIRContext.
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
