//===- Quantize.h - a model in f32 becomes one in eight bits -------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_QUANTIZE_H
#define DLC_TOOLS_QUANTIZE_QUANTIZE_H

#include "tools/quantize/Layers.h"
#include "tools/quantize/Ranges.h"

#include "dlc/compiler.hpp"

#include <functional>

namespace dlc::quantize {

struct Options {
  std::string model, output;
  /// Calibration data (.npz). Empty: weights alone are quantised.
  std::string data;
  /// int8 or int4 (products' weights only, the rest in f32).
  std::string weights = "int8";
  int64_t block = 32;
  RangeRule ranges;
  /// Layers of these names or kinds stay in f32 (* any characters, ? one).
  std::vector<std::string> keep;
  /// Layers of less signal to noise, in dB, stay in f32.
  double leastSnr = 15;
  ModelOptions compile;
  /// Told what is done now.
  std::function<void(const char *what)> progress;
};

/// What one output of the model is after quantising, over the calibration data.
struct OutputLoss {
  std::string name;
  double snr = 0;
  /// Of rows along the last dimension, in a hundred: those whose largest element stays the same.
  double sameLargest = 0;
};

struct Report {
  std::vector<Layer> layers;
  std::vector<OutputLoss> outputs;
  size_t bytesBefore = 0, bytesAfter = 0;
  int64_t samples = 0, samplesLeft = 0;
};

/// Writes the quantised model. Throws dlc::Error. The report's layers' nodes are gone.
Report quantize(const Options &options);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_QUANTIZE_H
