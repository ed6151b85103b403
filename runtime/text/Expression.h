//===- Expression.h - regular expressions of tokenizers, by PCRE2 -------------===//
#ifndef DLC_RUNTIME_TEXT_EXPRESSION_H
#define DLC_RUNTIME_TEXT_EXPRESSION_H

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct pcre2_real_code_8;

namespace dlc::text {

/// Compiled regular expression in the syntax of the `tokenizers` library. `\s` has the Unicode
/// property White_Space. The number of backtracking steps of each match is limited.
class Expression {
public:
  explicit Expression(const std::string &pattern);
  /// Returns the begin and end offsets of all matches, from left to right. The text must be valid
  /// UTF-8. Throws dlc::Error if a match exceeds the limit.
  std::vector<std::pair<size_t, size_t>> matches(std::string_view text) const;

private:
  std::string pattern;
  std::shared_ptr<pcre2_real_code_8> code;
};

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_EXPRESSION_H
