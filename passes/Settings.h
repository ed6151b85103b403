//===- Settings.h - names and values of compilation options ---------------===//
//
// The names, help texts and permitted values of the fields of ModelOptions are declared here, once
// for command lines, pass options and the conformance tests.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_SETTINGS_H
#define DLC_PASSES_SETTINGS_H

#include "dlc/options.hpp"

#include <functional>
#include <variant>

namespace dlc {

/// Description of one compilation option and of the field that it sets.
struct Setting {
  const char *name, *help;
  /// Field that the option sets. The type of a number determines its unit: an int is a count, an
  /// int64_t a size in bytes ("64MiB"), a double a duration in seconds ("1.5m"). The value 'none'
  /// sets an optional string, a folder, to an empty string: no files are stored. Options of any
  /// other kind have a function that takes the text.
  std::variant<std::string *, std::vector<std::string> *, std::optional<std::string> *, int *,
               int64_t *, double *, bool *, std::function<void(const std::string &)>>
      field;
  /// Permitted values of the option. If empty, any text is accepted.
  std::vector<std::string> choices = {};
  /// List of values of the form PATTERN=CHOICE, which apply to operations whose names match
  /// PATTERN. Null if the option does not support patterns.
  std::vector<std::string> *byName = nullptr;
  /// Value of the option if it is given without a value.
  const char *alone = nullptr;

  /// Returns whether the option may be given several times.
  bool isList() const;
  bool isFlag() const { return std::holds_alternative<bool *>(field); }
  /// Parses the text and sets the field. Returns an error message, or an empty string on success.
  std::string set(const std::string &text) const;
  /// Checks the current value of the field. Returns an error message, or an empty string if it is
  /// valid.
  std::string problem() const;
  /// Returns the value of a string or int field as text, or an empty string for fields of other
  /// types.
  std::string value() const;
};

/// Returns the settings of all compilation options. They refer to `options`, which must outlive
/// them.
std::vector<Setting> getModelSettings(ModelOptions &options);

/// Returns the effective value of the option `matmulPrecision`, which limits the rounding of the
/// f32 operands of matmuls and convolutions. The option `accuracy` "fast" implies "medium".
std::string getMatmulPrecision(const ModelOptions &options);

} // namespace dlc

#endif // DLC_PASSES_SETTINGS_H
