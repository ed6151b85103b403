//===- QuantizeCommand.cpp - dlc quantize: quantizes an ONNX model --------===//
#include "runtime/data/Npz.h"
#include "tools/dlc/Options.h"
#include "tools/dlc/Progress.h"

#include "dlc/Error.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>

namespace dlc::cli {
namespace {

quantize::CalibrationData readCalibrationData(const std::string &path) {
  quantize::CalibrationData data{path, {}};
  for (const auto &[name, array] : runtime::readNpz(path)) {
    // The array is copied, because arrays in .npz archives may be unaligned.
    Tensor tensor(array.dtype, array.shape);
    std::memcpy(tensor.raw(), array.data.data, array.data.bytes);
    data.arrays.emplace_back(name, tensor);
  }
  return data;
}

std::string shapeOf(const quantize::LayerLoss &layer) { return shapeText(layer.shape); }

std::string resultingType(const quantize::LayerLoss &layer, const std::string &weights) {
  return layer.isQuantized() ? weights : "f32";
}

void printTable(const quantize::QuantizationReport &report, const std::string &weights) {
  std::printf("%-44s %-16s %9s  %s\n", "layer", "weights", "SNR (dB)", "becomes");
  size_t quantized = 0;
  for (const quantize::LayerLoss &layer : report.layers) {
    char snr[16] = "-";
    if (layer.snr)
      std::snprintf(snr, sizeof snr, "%.1f", *layer.snr);
    quantized += layer.isQuantized();
    std::printf("%-44s %-16s %9s  %s%s\n", truncateStart(layer.name, 44).c_str(),
                shapeOf(layer).c_str(), snr, resultingType(layer, weights).c_str(),
                layer.kept.empty() ? "" : (" (" + layer.kept + ")").c_str());
  }
  std::printf("%zu of %zu layers quantized; %s before, %s after\n", quantized, report.layers.size(),
              bytesText(double(report.bytesBefore)).c_str(),
              bytesText(double(report.bytesAfter)).c_str());
  for (const quantize::OutputLoss &output : report.outputs) {
    std::printf("output '%s': SNR %.1f dB", output.name.c_str(), output.snr);
    if (output.sameLargest)
      std::printf(", argmax of a row unchanged in %.2f %%", *output.sameLargest);
    std::printf("\n");
  }
}

void printJson(const quantize::QuantizationReport &report, const std::string &weights) {
  nlohmann::ordered_json json = {{"layers", nlohmann::json::array()},
                                 {"outputs", nlohmann::json::array()},
                                 {"samples", report.samples},
                                 {"bytes_before", report.bytesBefore},
                                 {"bytes_after", report.bytesAfter}};
  for (const quantize::LayerLoss &layer : report.layers) {
    nlohmann::ordered_json row = {
        {"name", layer.name}, {"weights", layer.shape}, {"becomes", resultingType(layer, weights)}};
    if (layer.snr)
      row["snr_db"] = *layer.snr;
    if (!layer.kept.empty())
      row["why"] = layer.kept;
    json["layers"].push_back(row);
  }
  for (const quantize::OutputLoss &output : report.outputs) {
    nlohmann::ordered_json row = {{"name", output.name}, {"snr_db", output.snr}};
    if (output.sameLargest)
      row["same_largest_percent"] = *output.sameLargest;
    json["outputs"].push_back(row);
  }
  std::printf("%s\n", json.dump().c_str());
}

} // namespace

int quantizeCommand(const QuantizeArguments &arguments) {
  quantize::Options options = arguments.options;
  if (arguments.data.empty() && !arguments.saysWeights)
    throw Error("required: --data FILE.npz for calibration, or --weights int8|int4 to quantize "
                "only weights");
  if (!arguments.data.empty())
    options.data = readCalibrationData(arguments.data);
  ProgressBar progress;
  options.progress = [&](const char *what, int64_t done, int64_t total) {
    progress.show(what, int(done), int(total));
  };
  quantize::QuantizationReport report = quantize::quantize(options);
  progress.clear();
  if (report.samplesLeft)
    std::fprintf(stderr, "dlc: the last %lld samples are less than a batch and were ignored\n",
                 static_cast<long long>(report.samplesLeft));
  (arguments.json ? printJson : printTable)(report, options.weights);
  return 0;
}

} // namespace dlc::cli
