//===- Quantize.cpp - Python bindings of quantization ---------------------===//
#include "tools/python/Quantize.h"
#include "tools/python/Raise.h"
#include "tools/python/Waiting.h"
#include "tools/quantize/Quantize.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <tuple>

namespace nb = nanobind;

namespace dlc::python {
namespace {

/// Calibration array: name, element type, shape, and address of the elements in row-major order.
using Array = std::tuple<std::string, std::string, std::vector<int64_t>, uintptr_t>;
using Layer = std::tuple<std::string, std::vector<int64_t>, std::string, std::optional<double>>;
using Output = std::tuple<std::string, double, std::optional<double>>;

/// Converts the calibration arrays. Copies the elements, because Tensors may outlive the Python
/// arrays.
quantize::CalibrationData toCalibrationData(const std::vector<Array> &arrays) {
  quantize::CalibrationData data{"data", {}};
  for (const auto &[name, type, shape, address] : arrays) {
    std::optional<DType> dtype = parseDType(type);
    if (!dtype)
      raise(PyExc_TypeError,
            "data['" + name + "']: required: a supported element type; found: " + type);
    Tensor tensor(*dtype, shape);
    std::memcpy(tensor.raw(), reinterpret_cast<const void *>(address), tensor.bytes());
    data.arrays.emplace_back(name, tensor);
  }
  return data;
}

/// Exception that is thrown after the user has interrupted the quantization.
struct QuantizationCancelled {};

/// Quantizes a model. Returns (layers, outputs, number of samples, unused samples, bytes before,
/// bytes after).
nb::tuple quantized(const std::string &model, const std::optional<std::vector<Array>> &data,
                    const std::string &output, const std::string &weights, int64_t block,
                    const std::string &ranges, double percentile,
                    const std::vector<std::string> &keep, double minSnr, int threads,
                    nb::handle show) {
  quantize::Options options;
  options.model = model;
  options.output = output;
  if (data)
    options.data = toCalibrationData(*data);
  options.weights = weights;
  options.block = block;
  options.ranges = {ranges, percentile};
  options.keep = keep;
  options.minSnr = minSnr;
  options.compile.threads = threads;
  WaitState waiting;
  options.progress = [&](const char *what, int64_t done, int64_t total) {
    if (waiting.isCancelled.load())
      throw QuantizationCancelled();
    waiting.tell(what, int(done), int(total));
  };
  const quantize::QuantizationReport report = convertErrorsToPython(
      [&] { return runInterruptibly(waiting, show, [&] { return quantize::quantize(options); }); });
  std::vector<Layer> layers;
  for (const quantize::LayerLoss &layer : report.layers)
    layers.emplace_back(layer.name, layer.shape, layer.kept, layer.snr);
  std::vector<Output> outputs;
  for (const quantize::OutputLoss &each : report.outputs)
    outputs.emplace_back(each.name, each.snr, each.sameLargest);
  return nb::make_tuple(layers, outputs, report.samples, report.samplesLeft, report.bytesBefore,
                        report.bytesAfter);
}

} // namespace

void bindQuantize(nb::module_ &module) {
  module.def("quantize", quantized, nb::arg("model"), nb::arg("data").none(), nb::arg("output"),
             nb::arg("weights"), nb::arg("block"), nb::arg("ranges"), nb::arg("percentile"),
             nb::arg("keep"), nb::arg("least_snr"), nb::arg("threads"), nb::arg("show").none());
}

} // namespace dlc::python
