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

/// Description of one option and the field that it sets.
struct Setting {
  const char *name, *help;
  /// The field. The type of a number determines its unit: an int is a count, an int64_t a size in
  /// bytes ("64MiB"), a double a duration in seconds ("1.5m"). The value 'none' sets an optional
  /// string, a folder, to an empty string: no files are stored. Options of any other kind have a
  /// function that takes the text.
  std::variant<std::string *, std::vector<std::string> *, std::optional<std::string> *, int *,
               int64_t *, double *, bool *, std::function<void(const std::string &)>>
      field;
  /// Permitted values. If empty, any text is accepted.
  std::vector<std::string> choices = {};
  /// List for values of the form PATTERN=CHOICE, which apply to operations whose names match
  /// PATTERN.
  std::vector<std::string> *byName = nullptr;
  /// Value that the option takes if it is given without one.
  const char *alone = nullptr;

  /// Whether the option may be given several times.
  bool isList() const;
  bool isFlag() const { return std::holds_alternative<bool *>(field); }
  /// Parses the text and sets the field. Returns an error message, or an empty string on success.
  std::string set(const std::string &text) const;
  /// Checks the current value of the field. Returns an error message, or an empty string if it is
  /// valid.
  std::string problem() const;
  /// The value of a string or int field as text. Empty for fields of other types.
  std::string value() const;
};

/// All options of a compilation. The settings refer to `options`, which must outlive them.
std::vector<Setting> settingsOf(ModelOptions &options);

/// The effective value of `matmulPrecision`, which limits the rounding of the f32 operands of
/// matmuls and convolutions. `accuracy` "fast" implies "medium".
std::string matmulPrecisionOf(const ModelOptions &options);

} // namespace dlc

#endif // DLC_PASSES_SETTINGS_H
