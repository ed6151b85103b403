//===- Symbol.cpp - ranges of symbols, and their text form -------------------===//
#include "runtime/size/Symbol.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace dlc::size;

namespace {
SymbolOrError fail(std::string_view name, std::string text) {
  return {nullptr, "symbol '" + std::string(name) + "': " + std::move(text)};
}

int64_t computeNominal(int64_t minimum, std::optional<int64_t> maximum, int64_t divisor) {
  const double middle =
      maximum ? std::sqrt(double(std::max<int64_t>(minimum, 1)) * double(*maximum)) : 64.0;
  const int64_t nearest = int64_t(std::llround(middle / double(divisor))) * divisor;
  return std::clamp(nearest, minimum, maximum.value_or(std::max(nearest, minimum)));
}

/// Reads an integer at the beginning of `text` and removes it.
std::optional<int64_t> takeInteger(std::string_view &text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data())
    return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

/// Removes `prefix` from `text`. Returns whether `text` began with it.
bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}
} // namespace

SymbolOrError dlc::size::makeSymbol(std::string_view name, int64_t minimum,
                                    std::optional<int64_t> maximum, int64_t divisor,
                                    std::optional<int64_t> nominal) {
  if (!isSymbolName(name))
    return fail(name, "required: a name of letters, digits, '_' and '.'; found: '" +
                          std::string(name.substr(0, 64)) + "'; rename the symbol");
  if (minimum < 0 || minimum > kMaxSize || (maximum && (*maximum < minimum || *maximum > kMaxSize)))
    return fail(name,
                "required: 0 <= minimum <= maximum <= 2^46; found: " + std::to_string(minimum) +
                    ".." + (maximum ? std::to_string(*maximum) : "") + "; correct the range");
  if (divisor < 1 || divisor > kMaxSize)
    return fail(name, "required: a divisor from 1 to 2^46; found: " + std::to_string(divisor) +
                          "; correct it");
  const int64_t first = (minimum + divisor - 1) / divisor * divisor;
  if (maximum)
    *maximum -= *maximum % divisor;
  if (first > maximum.value_or(kMaxSize))
    return fail(name, "required: a multiple of " + std::to_string(divisor) +
                          " in the range; found: none from " + std::to_string(minimum) +
                          "; widen the range");
  Symbol symbol{std::string(name), first, maximum, divisor,
                nominal ? *nominal : computeNominal(first, maximum, divisor)};
  if (std::string error = checkValue(symbol, symbol.nominal); !error.empty())
    return {nullptr, "nominal value: " + error};
  return {std::make_shared<const Symbol>(std::move(symbol)), ""};
}

SymbolOrError dlc::size::parseSymbol(std::string_view name, std::string_view range) {
  std::string_view rest = range;
  const std::optional<int64_t> minimum = takeInteger(rest);
  bool isValid = minimum && take(rest, "..");
  std::optional<int64_t> maximum = isValid ? takeInteger(rest) : std::nullopt;
  std::optional<int64_t> divisor = 1, nominal;
  if (isValid && take(rest, ":"))
    isValid = bool(divisor = takeInteger(rest));
  if (isValid && take(rest, "@"))
    isValid = bool(nominal = takeInteger(rest));
  if (!isValid || !rest.empty())
    return fail(name, "required: MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL]; found: '" +
                          std::string(range.substr(0, 64)) + "'; write for example 1..512:8@128");
  return makeSymbol(name, *minimum, maximum, *divisor, nominal);
}

std::string dlc::size::formatRange(const Symbol &symbol) {
  std::string text = std::to_string(symbol.minimum) + "..";
  if (symbol.maximum)
    text += std::to_string(*symbol.maximum);
  if (symbol.divisor != 1)
    text += ":" + std::to_string(symbol.divisor);
  return text + "@" + std::to_string(symbol.nominal);
}

bool dlc::size::isSymbolName(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

std::string dlc::size::checkValue(const Symbol &symbol, int64_t value) {
  const bool isInRange = value >= symbol.minimum && value <= symbol.maximum.value_or(kMaxSize);
  if (isInRange && value % symbol.divisor == 0)
    return "";
  std::string range = "at least " + std::to_string(symbol.minimum);
  if (symbol.maximum)
    range = std::to_string(symbol.minimum) + " to " + std::to_string(*symbol.maximum);
  if (symbol.divisor != 1)
    range += ", a multiple of " + std::to_string(symbol.divisor);
  return "size '" + symbol.name + "' is out of range; required: " + range +
         "; found: " + std::to_string(value) + "; use a size in the range";
}
