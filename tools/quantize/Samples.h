//===- Samples.h - calibration data in batches ----------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_SAMPLES_H
#define DLC_TOOLS_QUANTIZE_SAMPLES_H

#include "tools/quantize/Data.h"

#include "dlc/compiler.hpp"
#include "onnx.pb.h"

#include <functional>

namespace dlc::quantize {

using Arrays = std::map<std::string, Tensor>;

/// Calibration arrays in batches, checked against the inputs of a model.
class CalibrationBatches {
public:
  CalibrationBatches(const CalibrationData &data, const std::string &model,
                     const std::vector<ModelValue> &inputs);

  /// Returns the number of complete batches. The batch size is that of the model; the last left()
  /// samples are not used.
  int64_t batches() const { return count / each; }
  int64_t used() const { return batches() * each; }
  int64_t left() const { return count - used(); }
  Arrays batch(int64_t index) const;

private:
  /// A calibration array, in the order of the model's inputs. Arrays without a sample dimension are
  /// passed unchanged with each batch.
  struct Field {
    std::string name;
    Tensor all;
    bool isSampled;
  };
  std::vector<Field> fields;
  int64_t count = 1, each = 1;
};

/// Runs a model on all batches of calibration samples. The model is written to a temporary file and
/// compiled.
void runOver(const onnx::ModelProto &model, const CalibrationBatches &samples,
             const ModelOptions &options, const std::function<void(const Arrays &)> &take);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_SAMPLES_H
