//===- Program.h - a compiled program in memory ------------------------------===//
//
// The compiler builds a Program, the writer stores it and a session runs it. The manifest is JSON.
// Manifest.md in this folder documents its schema, and Checker.cpp validates it.
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

/// Bytes with a shared owner of their memory: a mapped model file, a mapped program file or a heap
/// block.
struct Span {
  Span() = default;
  /// Creates a span; asserts that non-empty memory has an owner.
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
  /// Constants in the order of manifest["constants"]. The program shares the ownership of their
  /// memory, which may be a mapped model file. It does not depend on the compiler or its
  /// MLIRContext.
  std::vector<Span> constants;
  /// Flat position-independent machine code without relocations or external symbols. If
  /// codeIsExecutable is set, `code.data` is already mapped with execute permission; otherwise it
  /// is plain data.
  Span code;
  bool codeIsExecutable = false;
  /// Human-readable IR of the program; may be empty.
  std::string ir;
};

/// Returns a Span that owns a copy of `bytes` bytes at `data`, aligned to 64 bytes.
DLC_EXPORT Span copyToOwnedSpan(const void *data, size_t bytes);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PROGRAM_H
