//===- Samples.h - calibration data in batches ----------------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_SAMPLES_H
#define DLC_TOOLS_QUANTIZE_SAMPLES_H

#include "tools/quantize/Data.h"

#include "dlc/compiler.hpp"
#include "onnx.pb.h"

#include <functional>

namespace dlc::quantize {

using Arrays = std::map<std::string, Tensor>;

/// Arrays, checked against a model's inputs.
class Samples {
public:
  Samples(const Data &data, const std::string &model, const std::vector<ModelValue> &inputs);

  /// Batches as large as the model takes them; what is left at the end is not among them.
  int64_t batches() const { return count / each; }
  int64_t used() const { return batches() * each; }
  int64_t left() const { return count - used(); }
  Arrays batch(int64_t index) const;

private:
  /// In the inputs' order; those without samples are whole in each batch.
  struct Field {
    std::string name;
    Tensor all;
    bool isSampled;
  };
  std::vector<Field> fields;
  int64_t count = 1, each = 1;
};

/// Runs a model, which is written to a file for it, over the batches.
void runOver(const onnx::ModelProto &model, const Samples &samples, const ModelOptions &options,
             const std::function<void(const Arrays &)> &take);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_SAMPLES_H
