//===- Samples.cpp - calibration data in batches --------------------------===//
#include "tools/quantize/Samples.h"
#include "tools/quantize/Graph.h"

#include "dlc/Error.h"
#include "tools/compiler/Source.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

namespace dlc::quantize {
namespace {

/// Maximum batch size for models with a dynamic batch dimension, because larger batches would only
/// use more memory.
constexpr int64_t kMaxEach = 8;

std::string typeText(const std::optional<DType> &type, const std::vector<int64_t> &shape) {
  return (type ? std::string(dtypeName(*type)) : "an unknown type") + " " + shapeText(shape);
}

/// Returns true if all dimensions of an array except the first match the model's input. Dynamic
/// dimensions match any size.
bool matchesInputShape(const ModelValue &input, const std::vector<int64_t> &shape) {
  if (!input.hasRank)
    return true;
  if (shape.size() != input.shape.size())
    return false;
  for (size_t i = 1; i < shape.size(); ++i)
    if (input.shape[i] >= 0 && input.shape[i] != shape[i])
      return false;
  return true;
}

/// A temporary folder, which the destructor removes.
struct TemporaryFolder {
  TemporaryFolder() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("dlc-quantize", path))
      throw Error("a folder for temporary files cannot be created: " + error.message() +
                  "; set $TMPDIR to another folder");
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path.str().str(), ignored);
  }
  llvm::SmallString<128> path;
};

} // namespace

CalibrationBatches::CalibrationBatches(const CalibrationData &data, const std::string &model,
                                       const std::vector<ModelValue> &inputs) {
  std::string known;
  for (const auto &[name, array] : data.arrays)
    known += (known.empty() ? "" : ", ") + (name.empty() ? "one array" : "'" + name + "'");
  int64_t fixed = 0;
  std::string first;
  for (const ModelValue &input : inputs) {
    auto found = llvm::find_if(data.arrays, [&](const auto &array) {
      return array.first == input.name || (array.first.empty() && inputs.size() == 1);
    });
    if (found == data.arrays.end())
      throw Error(data.name + ": required: an array '" + input.name + "' for the input of " +
                  model + ", " + typeText(input.dtype, input.shape) +
                  "; found: " + (known.empty() ? "no arrays" : known));
    const Tensor &all = found->second;
    if (all.dtype() != input.dtype || !matchesInputShape(input, all.shape()))
      throw Error(data.name + ": array '" + input.name + "': required: " +
                  typeText(input.dtype, input.shape) + " with samples along the first dimension; " +
                  "found: " + typeText(all.dtype(), all.shape()));
    bool isSampled = !all.shape().empty();
    fields.push_back({input.name, all, isSampled});
    if (!isSampled)
      continue;
    int64_t size = all.shape()[0];
    if (!first.empty() && size != count)
      throw Error(data.name + ": required: the same number of samples in every array; found: " +
                  std::to_string(count) + " in '" + first + "' and " + std::to_string(size) +
                  " in '" + input.name + "'");
    first = input.name;
    count = size;
    if (input.hasRank && input.shape[0] >= 0) {
      if (fixed && fixed != input.shape[0])
        throw Error(model + ": inputs have " + std::to_string(fixed) + " and " +
                    std::to_string(input.shape[0]) +
                    " as their first dimension; required: the same batch size for all");
      fixed = input.shape[0];
    }
  }
  each = fixed;
  for (int64_t size = kMaxEach; each == 0 && size > 0; --size)
    if (count % size == 0)
      each = size;
  if (batches() < 1 || count < 1)
    throw Error(data.name + ": has " + std::to_string(count) + " samples; required: at least " +
                std::to_string(std::max<int64_t>(each, 1)) + ", one batch of " + model);
}

Arrays CalibrationBatches::batch(int64_t index) const {
  Arrays arrays;
  for (const Field &field : fields) {
    if (!field.isSampled) {
      arrays[field.name] = field.all;
      continue;
    }
    std::vector<int64_t> shape = field.all.shape();
    shape[0] = each;
    Tensor part(field.all.dtype(), shape);
    std::memcpy(part.raw(),
                static_cast<const char *>(field.all.raw()) + size_t(index) * part.bytes(),
                part.bytes());
    arrays[field.name] = part;
  }
  return arrays;
}

void runOver(const onnx::ModelProto &model, const CalibrationBatches &samples,
             const ModelOptions &options, const std::function<void(const Arrays &)> &take) {
  TemporaryFolder folder;
  std::string path = (folder.path + "/model.onnx").str();
  writeModel(model, path);
  Model compiled = compile(path, options);
  for (int64_t i = 0; i < samples.batches(); ++i)
    take(compiled.run(samples.batch(i)));
}

} // namespace dlc::quantize
