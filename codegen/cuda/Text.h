//===- Text.h - CUDA C++ text, line by line -------------------------------===//
#ifndef DLC_CODEGEN_CUDA_TEXT_H
#define DLC_CODEGEN_CUDA_TEXT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace dlc::cuda {

/// Lines with indentation. A part started by `begin` is separate until `end`. In the meantime,
/// lines can be inserted before it (`ahead`).
class Text {
public:
  void line(const llvm::Twine &text) {
    parts.back() += std::string(2 * indentation, ' ') + text.str() + "\n";
  }
  /// Writes `head {`.
  void open(const llvm::Twine &head) {
    line(head + (head.isTriviallyEmpty() ? "{" : " {"));
    ++indentation;
  }
  void close(const llvm::Twine &tail = "}") {
    --indentation;
    line(tail);
  }
  /// Writes `} else {`.
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
  /// Calls `write`, whose lines are written to the part that contains the current one.
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
