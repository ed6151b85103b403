//===- Text.h - CUDA C++ text, line by line -------------------------------===//
#ifndef DLC_CODEGEN_CUDA_EMIT_TEXT_H
#define DLC_CODEGEN_CUDA_EMIT_TEXT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace dlc::cuda {

/// Text of indented lines. Lines after begin() are collected in a separate part until end(). In the
/// meantime, ahead() inserts lines before that part.
class IndentedText {
public:
  void line(const llvm::Twine &text) {
    parts.back() += std::string(2 * indentation, ' ') + text.str() + "\n";
  }
  /// Writes the line `head {` and increases the indentation.
  void open(const llvm::Twine &head) {
    line(head + (head.isTriviallyEmpty() ? "{" : " {"));
    ++indentation;
  }
  void close(const llvm::Twine &tail = "}") {
    --indentation;
    line(tail);
  }
  /// Writes a line such as `} else {`, one level less indented.
  void turn(const llvm::Twine &middle) {
    --indentation;
    line(middle);
    ++indentation;
  }
  void begin() { parts.emplace_back(); }
  std::string end() {
    std::string part = std::move(parts.back());
    parts.pop_back();
    return part;
  }
  void append(const std::string &text) { parts.back() += text; }
  /// Calls `write`, whose lines are inserted before the current part, with `indent` levels of
  /// indentation.
  void ahead(unsigned indent, llvm::function_ref<void()> write) {
    std::string part = end();
    std::swap(indent, indentation);
    write();
    std::swap(indent, indentation);
    parts.push_back(std::move(part));
  }

  std::string fresh(llvm::StringRef prefix) { return (prefix + llvm::Twine(++names)).str(); }

  unsigned indentation = 1;

private:
  std::vector<std::string> parts{""};
  unsigned names = 0;
};

} // namespace dlc::cuda
#endif
