//===- Symbol.h - ranges of symbols, and their text form ---------------------===//
#ifndef DLC_RUNTIME_SIZE_SYMBOL_H
#define DLC_RUNTIME_SIZE_SYMBOL_H

#include "runtime/size/Size.h"

#include <string_view>

namespace dlc::size {

/// Largest size of a dimension.
constexpr int64_t kMaxSize = int64_t(1) << 46;

/// Result of a function that may fail: a symbol, or the reason why there is none.
struct SymbolOrError {
  SymbolRef symbol;
  std::string error;
};

/// Creates a symbol. The bounds are moved to the nearest multiples of the divisor within the range.
/// Without a nominal value, it is the geometric mean of the bounds, or 64 if there is no maximum.
SymbolOrError makeSymbol(std::string_view name, int64_t minimum, std::optional<int64_t> maximum,
                         int64_t divisor = 1, std::optional<int64_t> nominal = std::nullopt);
/// Parses `MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL]`, for example `1..512:8@128`.
SymbolOrError parseSymbol(std::string_view name, std::string_view range);
/// Formats the range as `parseSymbol` reads it. A divisor of 1 is omitted.
std::string formatRange(const Symbol &symbol);

/// Returns whether `name` is letters, digits, '_' and '.', and does not begin with a digit or '.'.
bool isSymbolName(std::string_view name);

/// Returns why the symbol cannot have this value, or an empty text if it can.
std::string checkValue(const Symbol &symbol, int64_t value);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_SYMBOL_H
