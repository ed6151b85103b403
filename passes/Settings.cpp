//===- Settings.cpp - names and values of compilation options -------------===//
#include "passes/Settings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace dlc {

namespace {

using Units = llvm::ArrayRef<std::pair<llvm::StringRef, double>>;

/// Parses a number with an optional unit. Returns nullopt if the text is malformed or the value is
/// not in the range (0, most).
std::optional<double> parseQuantity(llvm::StringRef text, Units units, double most) {
  double unit = 1, value = 0;
  for (auto [name, size] : units)
    if (text.consume_back(name)) {
      unit = size;
      break;
    }
  if (text.rtrim().getAsDouble(value) || !(value > 0) || value * unit >= most)
    return std::nullopt;
  return value * unit;
}

constexpr std::pair<llvm::StringRef, double> kBytes[] = {
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"B", 1}};
constexpr std::pair<llvm::StringRef, double> kSeconds[] = {
    {"ms", 1e-3}, {"min", 60}, {"m", 60}, {"h", 3600}, {"s", 1}};

/// Joins the choices to a text such as "a, b or c".
std::string joinChoices(const std::vector<std::string> &choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  return text;
}

std::string invalidSettingMessage(const Setting &setting, const std::string &text,
                                  const std::string &required) {
  return std::string(setting.name) + " '" + text + "': required: " + required;
}

std::string invalidChoiceMessage(const Setting &setting, const std::string &text) {
  return invalidSettingMessage(
      setting, text,
      joinChoices(setting.choices) +
          (setting.byName ? ", or PATTERN=" + setting.choices.front() + ", .." : ""));
}

/// Visitor that parses a text for each type of field and sets the field. Returns a description of
/// the required format on failure, otherwise an empty string.
struct SettingParser {
  const std::string &text;

  std::string operator()(std::string *field) const { return *field = text, ""; }
  std::string operator()(std::vector<std::string> *field) const {
    return field->push_back(text), "";
  }
  std::string operator()(std::optional<std::string> *field) const {
    return *field = text == "none" ? "" : text, "";
  }
  std::string operator()(int *field) const {
    int value = 0;
    if (llvm::StringRef(text).getAsInteger(10, value) || value < 0 || value > 4096)
      return "a number from 0 to 4096";
    return *field = value, "";
  }
  std::string operator()(int64_t *field) const {
    std::optional<double> bytes = parseQuantity(text, kBytes, 0x1p62);
    if (!bytes)
      return "bytes, as in 800000, 64MiB or 1.5GiB";
    return *field = int64_t(*bytes), "";
  }
  std::string operator()(double *field) const {
    std::optional<double> seconds = parseQuantity(text, kSeconds, 1e7);
    if (!seconds)
      return "a time, as in 60s, 1.5m or 500ms";
    return *field = *seconds, "";
  }
  std::string operator()(bool *field) const {
    if (!text.empty() && text != "true" && text != "false")
      return "true or false";
    return *field = text != "false", "";
  }
  std::string operator()(const std::function<void(const std::string &)> &take) const {
    return take(text), "";
  }
};

} // namespace

bool Setting::isList() const {
  return byName || std::holds_alternative<std::vector<std::string> *>(field);
}

std::string Setting::set(const std::string &text) const {
  // PATTERN ends at the last '=', because operation names may contain '='.
  size_t at = byName ? text.rfind('=') : std::string::npos;
  std::string choice = at == std::string::npos ? text : text.substr(at + 1);
  if (at == 0 || (!choices.empty() && !llvm::is_contained(choices, choice)))
    return invalidChoiceMessage(*this, text);
  if (at != std::string::npos) {
    byName->push_back(text);
    return "";
  }
  std::string required = std::visit(SettingParser{text.empty() && alone ? alone : text}, field);
  return required.empty() ? "" : invalidSettingMessage(*this, text, required);
}

std::string Setting::problem() const {
  auto *number = std::get_if<int *>(&field);
  std::string text = value();
  bool isUnset = text.empty() || (number && **number == 0);
  if (!choices.empty() && !isUnset && !llvm::is_contained(choices, text))
    return invalidChoiceMessage(*this, text);
  for (const std::string &each : byName ? *byName : std::vector<std::string>())
    if (size_t at = each.rfind('=');
        at == std::string::npos || at == 0 || !llvm::is_contained(choices, each.substr(at + 1)))
      return invalidSettingMessage(*this, each, "PATTERN=" + joinChoices(choices));
  return "";
}

std::string Setting::value() const {
  auto *text = std::get_if<std::string *>(&field);
  auto *number = std::get_if<int *>(&field);
  return text ? **text : number ? std::to_string(**number) : "";
}

std::vector<Setting> getModelSettings(ModelOptions &o) {
  return {
      {"device",
       "device of inputs, outputs and all operations without another device, such as cuda:0",
       &o.device},
      {"place",
       "device of the operations whose names match: PATTERN=DEVICE; of inputs and outputs: "
       "input:PATTERN=DEVICE, output:PATTERN=DEVICE; of all other operations: auto:cpu,cuda:0=8GiB "
       "(lowest estimated cost within the memory limits) or split:cpu,cpu:1 (parallel branches at "
       "the same time)",
       &o.place},
      {.name = "forbid-transfers",
       .help = "report an error for each transfer that the model does not contain; with =PATTERN, "
               "only for values and operations whose names match",
       .field = &o.forbidTransfers,
       .alone = "*"},
      {"split",
       "split parameters whose names match over the ranks of --world: PATTERN=rows (first "
       "dimension), PATTERN=columns (last dimension), PATTERN=N (dimension N), PATTERN=columns:3 "
       "(each of three blocks of the last dimension)",
       &o.split},
      {"world", "number of processes that run the program together; 0: any number", &o.world},
      {"threads", "number of threads; 0: all that this process may use", &o.threads},
      {"tune", "measure candidate kernels and store the fastest in the tuning database", &o.tune},
      {"precision",
       "type of the operands of matmuls and convolutions; sums are f32",
       &o.precision,
       {"none", "bf16", "f16"}},
      {"precision-of",
       "override --precision for operations whose names match: PATTERN=f32, bf16 or f16",
       &o.precisionOf},
      {"matmul-precision",
       "precision of f32 matmuls: high may use tf32, or two bf16 parts of each operand; medium may "
       "round operands to bf16",
       &o.matmulPrecision,
       {"highest", "high", "medium"}},
      {"weights",
       "storage type of constant matmul weights: bf16, or int8 with a scale for each column",
       &o.weights,
       {"f32", "bf16", "int8"}},
      {"dequantize-weights",
       "whether matmuls read f32 copies of quantized weights: auto (if this is faster, up to 256 "
       "MiB of a program) or never (the program has about the size of the quantized weights)",
       &o.dequantizeWeights,
       {"auto", "never"}},
      {"accuracy",
       "accuracy of f32 that may be given up for speed: strict (sums and constants as in the "
       "model), default (convolutions and matmuls with fewer multiplications, matmuls of bf16 "
       "parts "
       "on AMX tiles: errors up to 2e-5 of the largest result), fast (as default, and "
       "--matmul-precision "
       "medium); PATTERN=LEVEL for matmuls and convolutions whose names match",
       &o.accuracy,
       {"strict", "default", "fast"},
       &o.accuracyOf},
      {"nchwc-block",
       "channels per block of the NCHWc operators in an ONNX file that ONNX Runtime has optimized: "
       "8 "
       "(optimized on a processor without AVX-512) or 16; required if the file permits both",
       &o.nchwcBlock,
       {"8", "16"}},
      {"max-memory",
       "memory limit of a training step for state, constants and intermediate values, such as "
       "64MiB",
       &o.maxMemory},
      {"profile",
       "machine profile of the cost model: the name of a built-in profile, a file written by dlc "
       "tune --machine, or 'measured'; default: $DLC_PROFILE, else the profile of this processor",
       &o.profile},
      {"cache",
       "folder for cached object code and tuning results, or 'none'; default: $DLC_CACHE_DIR, else "
       "~/.cache/dlc",
       &o.cacheDir},
  };
}

std::string getMatmulPrecision(const ModelOptions &options) {
  return options.accuracy == "fast" ? "medium" : options.matmulPrecision;
}

} // namespace dlc
