//===- Options.cpp - arguments to values ---------------------------------------------===//
#include "tools/dlc/Options.h"

#include "dlc/Error.h"
#include "tools/ProcessMemory.h"
#include "tools/compiler/Programs.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>

namespace dlc::cli {

static std::pair<std::string, std::string> splitAtEquals(const std::string &text,
                                                         const char *option, const char *example) {
  // Names of values may hold '=': the last one divides.
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
                    "': required: sizes of 0 or more divided by 'x'; found: '" + part.str() + "'");
      shape.push_back(size);
    }
    shapes[name] = shape;
  }
  return shapes;
}

int64_t parseBytes(const std::string &text, const char *option) {
  static const std::pair<llvm::StringRef, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
      {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"B", 1}};
  llvm::StringRef number(text);
  double unit = 1, value = 0;
  for (auto [name, bytes] : units)
    if (number.consume_back(name)) {
      unit = bytes;
      break;
    }
  if (number.rtrim().getAsDouble(value) || !(value > 0) || value * unit >= 0x1p62)
    throw Error(std::string(option) + " '" + text +
                "': required: bytes, as in 800000, 64MiB or 1.5GiB");
  return int64_t(value * unit);
}

double parseSeconds(const std::string &text, const char *option) {
  static const std::pair<llvm::StringRef, double> units[] = {
      {"ms", 1e-3}, {"min", 60}, {"m", 60}, {"h", 3600}, {"s", 1}};
  llvm::StringRef number(text);
  double unit = 1, value = 0;
  for (auto [name, seconds] : units)
    if (number.consume_back(name)) {
      unit = seconds;
      break;
    }
  if (number.rtrim().getAsDouble(value) || !(value > 0) || value * unit > 1e7)
    throw Error(std::string(option) + " '" + text +
                "': required: a time, as in 60s, 1.5m or 500ms");
  return value * unit;
}

Values readInputs(const std::vector<std::string> &texts) {
  Values values;
  for (const std::string &text : texts) {
    auto [name, path] = splitAtEquals(text, "--input", "NAME=FILE.npy");
    values[name] = runtime::readNpy(path);
  }
  return values;
}

Shapes shapesOf(const ModelArguments &arguments, const Values &values) {
  Shapes shapes = parseShapes(arguments.shapes);
  for (const auto &[name, array] : values) {
    auto [at, isNew] = shapes.try_emplace(name, array.shape);
    if (!isNew && at->second != array.shape)
      throw Error("input '" + name + "': --shape says " + shapeText(at->second) +
                  ", the array given is " + shapeText(array.shape) + "; required: the same");
  }
  return shapes;
}

CompileOptions compileOptionsOf(const ModelArguments &arguments) {
  CompileOptions options;
  options.device = arguments.device;
  options.place = arguments.place;
  options.forbidTransfers = arguments.forbidTransfers;
  options.threads = arguments.threads;
  options.tune = arguments.tune;
  options.kernels = arguments.kernels;
  options.tuning.database = arguments.database;
  options.tuning.pinned = !arguments.database.empty();
  if (arguments.tune || arguments.onMiss == "measure")
    options.tuning.onMiss = OnMiss::Measure;
  else if (arguments.onMiss == "error")
    options.tuning.onMiss = OnMiss::Error;
  if (!arguments.workspace.empty())
    options.tuning.workspaceBytes = parseBytes(arguments.workspace, "--workspace");
  options.gpuArch = arguments.gpuArch;
  options.precision = {arguments.precision, arguments.matmulPrecision, arguments.precisionOf,
                       arguments.weights};
  for (const std::string &text : arguments.accuracy) {
    if (text.find('=') == std::string::npos)
      options.accuracy = text;
    else
      options.accuracyOf.push_back(text);
  }
  if (!arguments.maxMemory.empty())
    options.maxMemory = parseBytes(arguments.maxMemory, "--max-memory");
  options.cacheDir = arguments.cache.empty()     ? defaultCacheDir()
                     : arguments.cache == "none" ? ""
                                                 : arguments.cache;
  return options;
}

std::string databaseOf(const CompileOptions &options) {
  if (!options.tuning.database.empty())
    return options.tuning.database;
  return options.cacheDir.empty() ? "" : options.cacheDir + "/tuning.jsonl";
}

Phase parsePhase(const std::string &name) {
  if (std::optional<Phase> phase = phaseFromName(name))
    return *phase;
  std::string known;
  for (Phase phase : allPhases())
    known += (known.empty() ? "" : ", ") + phaseName(phase).str();
  throw Error("unknown phase '" + name + "'; known: " + known);
}

double peakMib() { return processMib("VmHWM"); }

std::string endOf(const std::string &text, size_t most) {
  return text.size() <= most ? text : "..." + text.substr(text.size() - most + 3);
}

static std::string scaled(double value, double step, const char *const *units, int count) {
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
  return scaled(bytes, 1024, units, 5);
}

std::string flopsText(double flops) {
  static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  return scaled(flops, 1000, units, 5);
}

} // namespace dlc::cli
