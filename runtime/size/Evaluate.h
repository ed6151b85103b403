//===- Evaluate.h - replaces the symbols of sizes by values ------------------===//
#ifndef DLC_RUNTIME_SIZE_EVALUATE_H
#define DLC_RUNTIME_SIZE_EVALUATE_H

#include "runtime/size/Size.h"

#include <functional>

namespace dlc::size {

/// Value of a size, or the reason why it has none.
struct ValueOrError {
  std::optional<int64_t> value;
  std::string error;
};

/// Returns the value of a symbol, or nullopt if it has none.
using SymbolValues = std::function<std::optional<int64_t>(const Symbol &)>;
/// Returns the size that replaces a symbol, or nullopt to keep the symbol.
using Substitution = std::function<std::optional<Size>(const Symbol &)>;

/// Computes the size for values of its symbols. Fails on overflow, on a symbol without a value, and
/// if the result is not an integer. Does not check that the values are in the ranges of the
/// symbols.
ValueOrError evaluate(const Size &size, const SymbolValues &values);

/// Replaces symbols by sizes, and returns the normal form of the result.
Size substitute(const Size &size, const Substitution &replacement);

/// Appends the symbols of the size to `symbols`, each once, sorted by name.
void collectSymbols(const Size &size, std::vector<SymbolRef> &symbols);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_EVALUATE_H
