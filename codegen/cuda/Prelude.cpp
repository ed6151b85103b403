//===- Prelude.cpp - CUDA C++ files that generated kernels include --------===//
#include "codegen/cuda/Prelude.h"

#include "ir/dlc/Dialect.h"

#include <set>

namespace dlc::cuda {

namespace {

struct EmbeddedFile {
  llvm::StringLiteral name, text;
};

constexpr EmbeddedFile files[] = {
#include "codegen/cuda/KernelFiles.inc"
};

/// CUDA text that defines the function of each elementwise operation by a function of CUDA.
template <typename Op> constexpr const char *source = nullptr;
#define DLC_CUDA(Op, mnemonic, cuda, operands)                                                     \
  template <>                                                                                      \
  constexpr const char *source<Op> =                                                               \
      "DK_FUNCTION_" #operands "(" #mnemonic ", " #cuda "f, " #cuda ")\n";
#include "ir/dlc/ElementwiseTable.inc"
// RsqrtOp and SigmoidOp need no generated text, because kernels/functions.cuh defines their
// functions.
template <> constexpr const char *source<RsqrtOp> = "";
template <> constexpr const char *source<SigmoidOp> = "";

/// Returns the text of elementwise.inc, which kernels/functions.cuh includes.
std::string buildElementwiseFunctions() {
  std::string text;
#define DLC_FUNCTION(Op, mnemonic, value, operands)                                                \
  static_assert(source<Op> != nullptr, "no CUDA text of " #mnemonic);                              \
  text += source<Op>;
#include "ir/dlc/ElementwiseTable.inc"
  return text;
}

/// Returns the text of a file of codegen/cuda/kernels.
std::string readFile(llvm::StringRef name) {
  if (name == "elementwise.inc")
    return buildElementwiseFunctions();
  const EmbeddedFile *file =
      llvm::find_if(files, [&](const EmbeddedFile &file) { return file.name == name; });
  assert(file != std::end(files) && "codegen/cuda/kernels has no such file");
  return file->text.str();
}

/// Appends `text` to `result`. Its `#include` lines are replaced by the files that are not in
/// `done` yet.
void expandIncludes(llvm::StringRef text, std::set<std::string> &done, std::string &result) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    llvm::StringRef name = line;
    if (!name.consume_front("#include \""))
      result += (line + "\n").str();
    else if (done.insert(name.drop_back().str()).second)
      expandIncludes(readFile(name.drop_back()), done, result);
    text = rest;
  }
}

} // namespace

std::string expandIncludes(llvm::StringRef text) {
  std::set<std::string> done;
  std::string result;
  expandIncludes(text, done, result);
  return result;
}

} // namespace dlc::cuda
