//===- Options.cpp - parses command-line arguments ------------------------===//
#include "tools/dlc/Options.h"

#include "dlc/Error.h"
#include "tools/ProcessMemory.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>

namespace dlc::cli {

static std::pair<std::string, std::string> splitAtEquals(const std::string &text,
                                                         const char *option, const char *example) {
  // The last '=' separates name and value, because names of model inputs may contain '='.
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    throw Error(std::string(option) + " '" + text + "': required: " + example);
  return {text.substr(0, at), text.substr(at + 1)};
}

Shapes parseShapes(const std::vector<std::string> &texts) {
  Shapes shapes;
  for (const std::string &text : texts) {
    auto [name, dims] =
        splitAtEquals(text, "--shape", "NAME=1x3x224x224 (NAME= alone for a 0-d tensor)");
    std::vector<int64_t> shape;
    llvm::SmallVector<llvm::StringRef> parts;
    if (!dims.empty())
      llvm::StringRef(dims).split(parts, 'x');
    for (llvm::StringRef part : parts) {
      int64_t size;
      if (part.getAsInteger(10, size) || size < 0)
        throw Error("--shape '" + text +
                    "': required: sizes of 0 or more, separated by 'x'; found: '" + part.str() +
                    "'");
      shape.push_back(size);
    }
    if (!shapes.emplace(name, shape).second)
      throw Error("--shape is given twice for input '" + name + "'; remove one of them");
  }
  return shapes;
}

Values readInputs(const std::vector<std::string> &texts, const Source &source) {
  Values values;
  for (const std::string &text : texts) {
    auto [name, path] = splitAtEquals(text, "--input", "NAME=FILE.npy");
    if (values.count(name))
      throw Error("--input is given twice for input '" + name + "'; remove one of them");
    values[name] = runtime::readNpy(path);
    for (const ValueInfo &input : source.inputs())
      if (input.name == name && input.dtype)
        values[name] = runtime::packArray(values[name], *input.dtype, path);
  }
  return values;
}

Shapes getInputShapes(const ModelArguments &arguments, const Values &values) {
  Shapes shapes = parseShapes(arguments.shapes);
  for (const auto &[name, array] : values) {
    auto [at, isNew] = shapes.try_emplace(name, array.shape);
    if (!isNew && at->second != array.shape)
      throw Error("input '" + name + "': --shape says " + shapeText(at->second) +
                  ", the array given is " + shapeText(array.shape) + "; required: the same");
  }
  return shapes;
}

Phase parsePhase(const std::string &name) {
  if (std::optional<Phase> phase = phaseFromName(name))
    return *phase;
  std::string known;
  for (Phase phase : allPhases())
    known += (known.empty() ? "" : ", ") + phaseName(phase).str();
  throw Error("unknown phase '" + name + "'; required: one of " + known);
}

double peakMib() { return readProcessMemoryMib("VmHWM"); }

std::string truncateStart(const std::string &text, size_t most) {
  return text.size() <= most ? text : "..." + text.substr(text.size() - most + 3);
}

static std::string formatWithUnit(double value, double step, const char *const *units, int count) {
  int unit = 0;
  while (value >= step && unit + 1 < count) {
    value /= step;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text,
                value < 10 && unit    ? "%.2f %s"
                : value < 100 && unit ? "%.1f %s"
                                      : "%.0f %s",
                value, units[unit]);
  return text;
}

std::string bytesText(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return formatWithUnit(bytes, 1024, units, 5);
}

std::string flopsText(double flops) {
  static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  return formatWithUnit(flops, 1000, units, 5);
}

} // namespace dlc::cli
