//===- Samples.h - calibration data in batches ----------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_SAMPLES_H
#define DLC_TOOLS_QUANTIZE_SAMPLES_H

#include "tools/quantize/Data.h"

#include "dlc/compiler.hpp"
#include "onnx.pb.h"

#include <functional>

namespace dlc::quantize {

using Arrays = std::map<std::string, Tensor>;

/// Calibration arrays, checked against the inputs of a model.
class Samples {
public:
  Samples(const Data &data, const std::string &model, const std::vector<ModelValue> &inputs);

  /// Number of complete batches. The batch size is that of the model; left() samples at the end are
  /// not used.
  int64_t batches() const { return count / each; }
  int64_t used() const { return batches() * each; }
  int64_t left() const { return count - used(); }
  Arrays batch(int64_t index) const;

private:
  /// An array, in the order of the inputs. Arrays without a sample dimension are passed unchanged
  /// with each batch.
  struct Field {
    std::string name;
    Tensor all;
    bool isSampled;
  };
  std::vector<Field> fields;
  int64_t count = 1, each = 1;
};

/// Runs a model on all batches. The model is written to a temporary file and compiled.
void runOver(const onnx::ModelProto &model, const Samples &samples, const ModelOptions &options,
             const std::function<void(const Arrays &)> &take);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_SAMPLES_H
