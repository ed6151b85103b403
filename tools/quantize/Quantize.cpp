//===- Quantize.cpp - quantizes a model: calibration, loss of each layer, rewriting -----------===//
#include "tools/quantize/Quantize.h"
#include "tools/quantize/Layers.h"
#include "tools/quantize/Rewrite.h"
#include "tools/quantize/Samples.h"

#include "dlc/Error.h"
#include "passes/OpNames.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace dlc::quantize {
namespace {

/// Minimum opset: the first one in which QuantizeLinear supports per-channel scales.
constexpr int64_t kMinOpset = 13;

std::string joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

void requireOneOf(const char *option, const std::string &found,
                  const std::vector<std::string> &known) {
  if (!llvm::is_contained(known, found))
    throw Error(std::string(option) + ": required: one of " + joinNames(known) + "; found: '" +
                found + "'");
}

void checkOptions(const Options &options) {
  requireOneOf("weights", options.weights, {"int8", "int4"});
  requireOneOf("ranges", options.ranges.kind, rangeRuleNames());
  if (options.block < 16 || (options.block & (options.block - 1)))
    throw Error("block " + std::to_string(options.block) +
                ": required: a power of two of 16 or more");
  // The negated comparison also rejects NaN.
  if (!(options.ranges.percentile >= 50 && options.ranges.percentile <= 100))
    throw Error("percentile " + std::to_string(options.ranges.percentile) +
                ": required: 50 to 100");
}

class Quantizer {
public:
  explicit Quantizer(const Options &options)
      : options(options), model(readModel(options.model)), graph(model) {
    if (getOpsetVersion(model) < kMinOpset)
      throw Error(options.model + ": has opset " + std::to_string(getOpsetVersion(model)) +
                  "; required: " + std::to_string(kMinOpset) +
                  " or later, which supports a scale per channel; convert it with "
                  "onnx.version_converter.convert_version(model, 17)");
    report.bytesBefore = model.ByteSizeLong();
    layers = collectLayers(graph, options.model);
    scheme.bits = options.weights == "int4" ? 4 : 8;
    scheme.block = options.block;
    keepAsAsked();
    requireLayers("keep keeps every layer in f32");
  }

  QuantizationReport run() {
    if (options.data) {
      samples.emplace(*options.data, options.model,
                      compile(options.model, options.compile).inputs());
      report.samples = samples->used();
      report.samplesLeft = samples->left();
      if (scheme.bits == 8)
        calibrate();
      measureLayers();
      requireLayers("the SNR of every layer is too low; decrease the minimum SNR (--least-snr), or "
                    "try other --ranges or data");
    }
    // Removes the scales of values that are no longer quantized, because all adjacent layers remain
    // in f32.
    if (!scheme.scales.empty()) {
      std::map<std::string, std::string> left = valuesIn8Bits(graph, layers);
      std::map<std::string, QuantizationScale> scales;
      for (auto &[value, source] : left)
        scales[value] = scheme.scales.at(source);
      scheme.scales = std::move(scales);
    }
    onnx::ModelProto result = quantized(model, layers, scheme);
    report.bytesAfter = result.ByteSizeLong();
    if (samples)
      measureOutputs(result);
    writeModel(result, options.output);
    for (const QuantizableLayer &layer : layers)
      report.layers.push_back({layer.name, layer.shape, layer.kept, layer.snr});
    return std::move(report);
  }

private:
  /// Runs a model on all batches of the calibration data, and passes the outputs of each batch to
  /// `take`.
  void over(const char *what, const onnx::ModelProto &model,
            const std::function<void(const Arrays &)> &take) const {
    auto tell = [&](int64_t done) {
      if (options.progress)
        options.progress(what, done, samples->batches());
    };
    int64_t done = 0;
    tell(done);
    runOver(model, *samples, options.compile, [&](const Arrays &arrays) {
      take(arrays);
      tell(++done);
    });
  }

  void keepAsAsked() {
    std::set<std::string> used;
    for (QuantizableLayer &layer : layers) {
      for (const std::string &pattern : options.keep)
        if (matchesPattern(pattern, layer.name) || matchesPattern(pattern, layer.node->op_type())) {
          used.insert(pattern);
          layer.kept = "keep " + pattern;
        }
      if (layer.isQuantized() && scheme.bits == 4 && layer.depth < 0)
        layer.kept = "int4 supports only matmuls";
    }
    for (const std::string &pattern : options.keep)
      if (!used.count(pattern))
        throw Error("keep " + pattern +
                    ": no layer has a matching name or operator type; the first is '" +
                    layers.front().name + "', a " + layers.front().node->op_type());
  }

  void requireLayers(const std::string &otherwise) const {
    if (llvm::none_of(layers, [](const QuantizableLayer &layer) { return layer.isQuantized(); }))
      throw Error(options.model + ": no layer is left to quantize: " +
                  (llvm::all_of(layers,
                                [](const QuantizableLayer &layer) {
                                  return !llvm::StringRef(layer.kept).starts_with("keep ") &&
                                         !layer.snr;
                                })
                       ? layers.front().name + ": " + layers.front().kept
                       : otherwise));
  }

  /// Determines the scales of values from their ranges on the calibration data.
  void calibrate() {
    std::map<std::string, std::string> values = valuesIn8Bits(graph, layers);
    std::vector<std::string> sources;
    for (auto &[value, source] : values)
      if (value == source)
        sources.push_back(value);
    onnx::ModelProto watched = addObservedOutputs(model, sources);
    std::map<std::string, ObservedRange> seen;
    over("calibrating", watched, [&](const Arrays &arrays) {
      for (const std::string &value : sources) {
        const Tensor &array = arrays.at(value);
        if (array.dtype() != DType::F32)
          throw Error(options.model + ": value '" + value + "' is " +
                      std::string(dtypeName(array.dtype())) + "; required: f32");
        if (!seen[value].addEnds(array.data<float>(), size_t(array.elements())))
          throw Error(options.data->name + ": value '" + value +
                      "' of the model becomes infinite or NaN with these samples; required: "
                      "finite numbers");
      }
    });
    if (options.ranges.kind != "minmax")
      over("calibrating", watched, [&](const Arrays &arrays) {
        for (const std::string &value : sources) {
          const Tensor &array = arrays.at(value);
          seen[value].addCounts(array.data<float>(), size_t(array.elements()));
        }
      });
    for (auto &[value, source] : values)
      scheme.scales[value] = seen.at(source).scaleBy(options.ranges);
  }

  static double decibels(double signal, double noise) {
    constexpr double kMax = 200;
    return noise > 0 && signal > 0 ? std::min(10 * std::log10(signal / noise), kMax)
           : noise > 0             ? -kMax
                                   : kMax;
  }

  /// Measures the signal-to-noise ratio of each layer if only this layer is quantized.
  void measureLayers() {
    std::vector<LossOutputs> outputs;
    onnx::ModelProto both = mergedModels(model, layers, scheme, outputs);
    std::vector<std::pair<double, double>> sums(outputs.size());
    over("measuring the error of each layer", both, [&](const Arrays &arrays) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        sums[i].first += double(*arrays.at(outputs[i].signal).data<float>());
        sums[i].second += double(*arrays.at(outputs[i].noise).data<float>());
      }
    });
    size_t next = 0;
    for (QuantizableLayer &layer : layers) {
      if (!layer.isQuantized())
        continue;
      auto [signal, noise] = sums[next++];
      layer.snr = decibels(signal, noise);
      if (*layer.snr < options.minSnr || !std::isfinite(noise)) {
        char text[64];
        std::snprintf(text, sizeof text, "below %g dB", options.minSnr);
        layer.kept = text;
      }
    }
  }

  /// Measures the error of the outputs of the quantized model relative to those of the f32 model.
  void measureOutputs(const onnx::ModelProto &result) {
    const char *what = "comparing the outputs";
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto &output : model.graph().output())
      if (output.type().tensor_type().elem_type() == onnx::TensorProto::FLOAT)
        names.push_back(output.name());
    std::vector<Arrays> wanted;
    over(what, addObservedOutputs(model, names),
         [&](const Arrays &arrays) { wanted.push_back(arrays); });
    struct Sums {
      double signal = 0, noise = 0;
      int64_t rows = 0, same = 0;
    };
    std::map<std::string, Sums> sums;
    size_t at = 0;
    over(what, addObservedOutputs(result, names), [&](const Arrays &arrays) {
      for (const std::string &name : names) {
        const Tensor &a = wanted[at].at(name), &b = arrays.at(name);
        Sums &s = sums[name];
        const float *x = a.data<float>(), *y = b.data<float>();
        for (int64_t i = 0; i < a.elements(); ++i) {
          s.signal += double(x[i]) * x[i];
          s.noise += (double(x[i]) - y[i]) * (double(x[i]) - y[i]);
        }
        int64_t row = a.shape().empty() ? 1 : a.shape().back();
        for (int64_t i = 0; row > 1 && i + row <= a.elements(); i += row, ++s.rows)
          s.same += std::max_element(x + i, x + i + row) - (x + i) ==
                    std::max_element(y + i, y + i + row) - (y + i);
      }
      ++at;
    });
    for (const std::string &name : names) {
      const Sums &s = sums[name];
      report.outputs.push_back({name, decibels(s.signal, s.noise), std::nullopt});
      if (s.rows)
        report.outputs.back().sameLargest = 100.0 * double(s.same) / double(s.rows);
    }
  }

  const Options &options;
  const onnx::ModelProto model;
  const OnnxGraph graph;
  std::vector<QuantizableLayer> layers;
  QuantizationScheme scheme;
  std::optional<CalibrationBatches> samples;
  QuantizationReport report;
};

} // namespace

QuantizationReport quantize(const Options &options) {
  checkOptions(options);
  return Quantizer(options).run();
}

} // namespace dlc::quantize
