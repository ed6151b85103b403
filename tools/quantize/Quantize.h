//===- Quantize.h - quantizes an f32 model --------------------------------===//
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
  /// Calibration data. If it is unset, only weights are quantized.
  std::optional<CalibrationData> data;
  /// Type of quantized weights: int8, or int4 (matmul weights only; everything else remains in
  /// f32).
  std::string weights = "int8";
  int64_t block = 32;
  RangeRule ranges;
  /// Patterns of the names or operator types of layers that remain in f32 (* matches any
  /// characters, ? matches one).
  std::vector<std::string> keep;
  /// Minimum signal-to-noise ratio in dB: layers with a lower ratio remain in f32.
  double minSnr = 15;
  ModelOptions compile;
  /// Callback that receives the current activity and the number of finished batches. If it throws
  /// an exception, the quantization is aborted.
  std::function<void(const char *what, int64_t done, int64_t total)> progress;
};

/// Quantization result of one layer.
struct LayerLoss {
  std::string name;
  std::vector<int64_t> shape; ///< shape of the weights
  /// Reason why the layer remains in f32, or an empty text if the layer is quantized.
  std::string kept;
  /// Signal-to-noise ratio in dB of the layer's result if only this layer is quantized.
  std::optional<double> snr;

  bool isQuantized() const { return kept.empty(); }
};

/// Error of one model output after quantization, over the calibration data.
struct OutputLoss {
  std::string name;
  double snr = 0;
  /// Percentage of rows (along the last dimension) whose argmax is the same as in the f32 model.
  /// Unset if rows have fewer than two elements.
  std::optional<double> sameLargest;
};

struct QuantizationReport {
  std::vector<LayerLoss> layers;
  std::vector<OutputLoss> outputs;
  size_t bytesBefore = 0, bytesAfter = 0;
  int64_t samples = 0, samplesLeft = 0;
};

/// Quantizes a model and writes the result to the output file. Throws dlc::Error.
QuantizationReport quantize(const Options &options);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_QUANTIZE_H
