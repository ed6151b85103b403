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
/// The default nominal value is the geometric mean of the bounds, or 64 if there is no maximum,
/// rounded to a multiple of the divisor in the range.
SymbolOrError makeSymbol(std::string_view name, int64_t minimum, std::optional<int64_t> maximum,
                         int64_t divisor = 1, std::optional<int64_t> nominal = std::nullopt);
/// Parses `MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL]`, for example `1..512:8@128`.
SymbolOrError parseSymbol(std::string_view name, std::string_view range);
/// Formats the range in the form that `parseSymbol` parses. A divisor of 1 is omitted.
std::string formatRange(const Symbol &symbol);

/// Returns whether `name` consists of at most 64 ASCII letters, digits, '_' and '.', and begins
/// with a letter or '_'.
bool isSymbolName(std::string_view name);

/// Returns the error message for a value that is out of the symbol's range, or an empty text if the
/// value is in the range.
std::string checkValue(const Symbol &symbol, int64_t value);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_SYMBOL_H
