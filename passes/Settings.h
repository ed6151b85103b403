//===- Settings.h - options by name: what people type, and what it sets ---===//
//
// The fields of ModelOptions are declared once, and so are the names, texts and values that command
// lines, pass options and conformance give them: here.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_SETTINGS_H
#define DLC_PASSES_SETTINGS_H

#include "dlc/options.hpp"

#include <functional>
#include <variant>

namespace dlc {

/// A field of some options, by name.
struct Setting {
  const char *name, *help;
  /// Of numbers, an int counts, an int64_t is bytes ("64MiB"), and a double seconds ("1.5m"). The
  /// folder of an optional text is 'none' where nothing is kept. A function takes all else.
  std::variant<std::string *, std::vector<std::string> *, std::optional<std::string> *, int *,
               int64_t *, double *, bool *, std::function<void(const std::string &)>>
      field;
  /// What a text may be; empty: anything.
  std::vector<std::string> choices = {};
  /// Takes PATTERN=CHOICE, for operations of such names.
  std::vector<std::string> *byName = nullptr;
  /// What the name stands for alone.
  const char *alone = nullptr;

  /// May be given several times.
  bool isList() const;
  bool isFlag() const { return std::holds_alternative<bool *>(field); }
  /// Sets the field. Returns what is wrong, else nothing.
  std::string set(const std::string &text) const;
  /// What is wrong with the field as it is, else nothing.
  std::string problem() const;
  /// The field as text; nothing where it stands for itself (empty, 0).
  std::string value() const;
};

/// All that is asked of a compilation by name. Lives no longer than the options.
std::vector<Setting> settingsOf(ModelOptions &options);

/// What products of f32 may round their operands to: `accuracy` fast asks for it, too.
std::string matmulPrecisionOf(const ModelOptions &options);

} // namespace dlc

#endif // DLC_PASSES_SETTINGS_H
