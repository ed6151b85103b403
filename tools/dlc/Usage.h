//===- Usage.h - error messages of wrong command lines ------------------------===//
#ifndef DLC_TOOLS_DLC_USAGE_H
#define DLC_TOOLS_DLC_USAGE_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace dlc::cli {

/// Returns a check that accepts the same values as `check`. Its message names the required values
/// and the one that was found.
CLI::Validator withRequiredText(const CLI::Validator &check, const std::string &required);

/// Checks that a value is one of these names.
CLI::Validator oneOf(const std::vector<std::string> &names);
/// Checks that a value is a number of 1 or more.
CLI::Validator atLeastOne();
/// Checks that a value is a number between these two.
template <typename Number> CLI::Validator between(Number low, Number high) {
  return withRequiredText(CLI::Range(low, high), "a number from " + CLI::detail::to_string(low) +
                                                     " to " + CLI::detail::to_string(high));
}
/// Checks that a value is a number other than NaN and infinity.
CLI::Validator finite();

/// Returns the message for a command line that `app` cannot parse: the mistake, what is required,
/// and the most similar option or command, if there is one.
std::string usageError(const CLI::App &app, const CLI::ParseError &error);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_USAGE_H
