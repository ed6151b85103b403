//===- TrainData.cpp - reads the data of a training step ------------------===//
#include "tools/dlc/train/TrainData.h"

#include "runtime/data/Npz.h"
#include "tools/compiler/Source.h"

#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dlc::cli {
namespace {

/// Returns NumPy's name of an element type, for hints in error messages.
const char *numpyName(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "float32";
  case DType::F64:
    return "float64";
  case DType::F16:
    return "float16";
  case DType::I64:
    return "int64";
  case DType::I32:
    return "int32";
  case DType::U8:
    return "uint8";
  case DType::Bool:
    return "bool";
  default:
    return nullptr;
  }
}

std::string typeText(DType dtype, const std::vector<int64_t> &shape) {
  return std::string(dtypeName(dtype)) + " " + shapeText(shape);
}

/// Returns the index of the first NaN in a float array, or -1. A NaN has an exponent of all ones
/// and a non-zero fraction.
template <typename Word> int64_t findFirstNan(const void *data, size_t count, int fractionBits) {
  constexpr int width = 8 * sizeof(Word);
  const Word exponent = Word(((Word(1) << (width - 1 - fractionBits)) - 1) << fractionBits);
  const Word magnitude = Word(Word(~Word(0)) >> 1);
  const char *at = static_cast<const char *>(data);
  for (size_t i = 0; i < count; ++i) {
    Word word; // memcpy, because arrays in an archive may be unaligned
    std::memcpy(&word, at + i * sizeof(Word), sizeof word);
    if ((word & magnitude) > exponent)
      return int64_t(i);
  }
  return -1;
}

int64_t findFirstNanOfType(DType dtype, const void *data, size_t count) {
  switch (dtype) {
  case DType::F32:
    return findFirstNan<uint32_t>(data, count, 23);
  case DType::F64:
    return findFirstNan<uint64_t>(data, count, 52);
  case DType::F16:
    return findFirstNan<uint16_t>(data, count, 10);
  case DType::BF16:
    return findFirstNan<uint16_t>(data, count, 7);
  default:
    return -1;
  }
}

int64_t readInteger(DType dtype, const void *data, size_t index) {
  const char *at = static_cast<const char *>(data) + index * dtypeBytes(dtype);
  if (dtype == DType::I32) {
    int32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  int64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void checkArray(const std::string &where, const runtime::TensorInfo &input,
                const runtime::NpyArray &array) {
  std::vector<int64_t> sample(input.shape.begin() + 1, input.shape.end());
  std::string what = where + "array '" + input.name + "': ";
  bool hasSamples = !array.shape.empty();
  std::vector<int64_t> found(array.shape.begin() + hasSamples, array.shape.end());
  if (!hasSamples || found != sample)
    throw Error(what + "required: samples of shape " + shapeText(sample) +
                " along a first dimension; found: the shape " + shapeText(array.shape));
  if (array.dtype != input.dtype) {
    const char *wanted = numpyName(input.dtype);
    throw Error(what + "required: " + std::string(dtypeName(input.dtype)) +
                "; found: " + std::string(dtypeName(array.dtype)) +
                (wanted ? std::string("; save it as .astype(numpy.") + wanted + ")" : ""));
  }
  size_t count = array.data.bytes / dtypeBytes(array.dtype);
  int64_t nan = findFirstNanOfType(array.dtype, array.data.data, count);
  if (nan >= 0) {
    size_t perSample = count / size_t(array.shape[0]);
    throw Error(what + "sample " + std::to_string(size_t(nan) / perSample) + ", element " +
                std::to_string(size_t(nan) % perSample) +
                ": is NaN; required: a number; remove such samples or replace the values");
  }
}

void checkClasses(const std::string &where, const runtime::TensorInfo &input,
                  const runtime::NpyArray &array, const nlohmann::json &training) {
  int64_t classes = training.value("classes", int64_t(0));
  if (classes <= 0 || (array.dtype != DType::I64 && array.dtype != DType::I32))
    return;
  bool hasIgnored = training.contains("ignored");
  int64_t ignored = training.value("ignored", int64_t(0));
  size_t count = array.data.bytes / dtypeBytes(array.dtype);
  for (size_t i = 0; i < count; ++i) {
    int64_t label = readInteger(array.dtype, array.data.data, i);
    if ((label >= 0 && label < classes) || (hasIgnored && label == ignored))
      continue;
    size_t perSample = count / size_t(array.shape[0]);
    throw Error(where + "array '" + input.name + "', sample " + std::to_string(i / perSample) +
                ": required: a class from 0 to " + std::to_string(classes - 1) +
                (hasIgnored ? " or the ignored " + std::to_string(ignored) : "") +
                "; found: " + std::to_string(label) +
                (hasIgnored ? "" : " (dlc compile --ignore-index sets a class that is ignored)"));
  }
}

} // namespace

std::vector<runtime::TensorInfo> batchInputs(const runtime::Plan &plan,
                                             const nlohmann::json &training) {
  nlohmann::json rates = training.value("rates", nlohmann::json::object());
  std::vector<runtime::TensorInfo> inputs;
  for (const runtime::TensorInfo &input : plan.inputs)
    if (!rates.contains(input.name))
      inputs.push_back(input);
  return inputs;
}

int64_t getBatchSize(const std::vector<runtime::TensorInfo> &inputs) {
  if (inputs.empty())
    throw Error("the step has no inputs; required: at least one");
  for (const runtime::TensorInfo &input : inputs)
    if (input.shape.empty() || input.shape[0] != inputs[0].shape[0] || input.shape[0] < 1)
      throw Error("input '" + input.name + "' is " + typeText(input.dtype, input.shape) +
                  "; required: the batch as the first dimension of every input");
  return inputs[0].shape[0];
}

data::Dataset trainingData(const std::string &path, const std::vector<runtime::TensorInfo> &inputs,
                           const nlohmann::json &training) {
  const std::string where = path + ": ";
  auto arrays = runtime::readNpz(path);
  data::NamedTensors fields;
  for (const runtime::TensorInfo &input : inputs) {
    auto found = std::find_if(arrays.begin(), arrays.end(),
                              [&](const auto &array) { return array.first == input.name; });
    if (found == arrays.end()) {
      std::string known;
      for (const auto &[name, array] : arrays)
        known += (known.empty() ? "'" : ", '") + name + "'";
      throw Error(where + "required: an array '" + input.name + "' of " +
                  typeText(input.dtype, input.shape) +
                  " per batch; found: " + (known.empty() ? "no arrays" : known));
    }
    checkArray(where, input, found->second);
    if (input.name == "target")
      checkClasses(where, input, found->second, training);
    const runtime::NpyArray &array = found->second;
    if (!fields.empty() && array.shape[0] != fields[0].second.shape()[0])
      throw Error(where + "required: the same number of samples in every array; found: " +
                  std::to_string(fields[0].second.shape()[0]) + " in '" + fields[0].first +
                  "' and " + std::to_string(array.shape[0]) + " in '" + input.name + "'");
    // The array may be unaligned in its file, because samples are copied bytewise.
    fields.emplace_back(input.name,
                        Tensor::view(const_cast<void *>(array.data.data), array.dtype, array.shape,
                                     std::const_pointer_cast<void>(array.data.owner)));
  }
  return data::arrays(fields);
}

std::string hashDataset(const data::Dataset &dataset) {
  // Hashes only up to 256 samples, including the first and the last, because reading all of a large
  // file would be slow.
  uint64_t hash = llvm::xxh3_64bits(std::to_string(dataset.size()));
  auto add = [&](const void *bytes, size_t count) {
    uint64_t both[2] = {hash, llvm::xxh3_64bits({static_cast<const uint8_t *>(bytes), count})};
    hash = llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(both), sizeof both});
  };
  for (const TensorSpec &field : dataset.fields()) {
    std::string text = field.name + typeText(field.dtype, field.shape);
    add(text.data(), text.size());
  }
  int64_t last = dataset.size() - 1, parts = std::min<int64_t>(last, 255);
  for (int64_t i = 0; i <= parts; ++i)
    for (const Tensor &tensor : dataset[parts ? i * last / parts : 0])
      add(tensor.raw(), tensor.bytes());
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

} // namespace dlc::cli
