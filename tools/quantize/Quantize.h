//===- Quantize.h - a model in f32 becomes one in eight bits -------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_QUANTIZE_H
#define DLC_TOOLS_QUANTIZE_QUANTIZE_H

#include "tools/quantize/Data.h"
#include "tools/quantize/Ranges.h"

#include "dlc/compiler.hpp"

#include <functional>
#include <optional>

namespace dlc::quantize {

struct Options {
  std::string model, output;
  /// Nothing: weights alone are quantised.
  std::optional<Data> data;
  /// int8 or int4 (products' weights only, the rest in f32).
  std::string weights = "int8";
  int64_t block = 32;
  RangeRule ranges;
  /// Layers of these names or kinds stay in f32 (* any characters, ? one).
  std::vector<std::string> keep;
  /// Layers of less signal to noise, in dB, stay in f32.
  double leastSnr = 15;
  ModelOptions compile;
  /// Told what is done, and with how many batches of how many; what it throws ends all.
  std::function<void(const char *what, int64_t done, int64_t total)> progress;
};

/// A layer, and what became of it.
struct LayerLoss {
  std::string name;
  std::vector<int64_t> shape; ///< of its weights
  /// Why it stays in f32; empty: it does not.
  std::string kept;
  /// Of its results, in dB: how much stronger they are than what quantising it alone changes.
  std::optional<double> snr;

  bool isQuantised() const { return kept.empty(); }
};

/// What one output of the model is after quantising, over the calibration data.
struct OutputLoss {
  std::string name;
  double snr = 0;
  /// Of rows along the last dimension, in a hundred: those whose largest element stays the same.
  double sameLargest = 0;
};

struct Report {
  std::vector<LayerLoss> layers;
  std::vector<OutputLoss> outputs;
  size_t bytesBefore = 0, bytesAfter = 0;
  int64_t samples = 0, samplesLeft = 0;
};

/// Writes the quantised model. Throws dlc::Error.
Report quantize(const Options &options);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_QUANTIZE_H
