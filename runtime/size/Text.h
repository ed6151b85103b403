//===- Text.h - text form of sizes --------------------------------------------===//
#ifndef DLC_RUNTIME_SIZE_TEXT_H
#define DLC_RUNTIME_SIZE_TEXT_H

#include "runtime/size/Size.h"

#include <functional>
#include <string_view>

namespace dlc::size {

/// Limits of texts that `parse` accepts.
constexpr size_t kMaxTextLength = 4096;
constexpr unsigned kMaxTextDepth = 32;

/// A size, or the reason why the text is not one.
struct SizeOrError {
  Size size;
  std::string error; ///< empty if the size is valid
};

/// Returns the symbol with this name, or null.
using SymbolTable = std::function<SymbolRef(std::string_view name)>;

/// Formats a size, for example `2*batch*length + floordiv(length + 1, 2) - 1`. Parsing the text
/// returns an identical size.
std::string format(const Size &size);

/// Parses sums, products, quotients by a number (`length/2`), parentheses, and the functions
/// `floordiv`, `ceildiv`, `mod`, `min` and `max`.
SizeOrError parse(std::string_view text, const SymbolTable &symbols);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_TEXT_H
