//===- Arrays.cpp - datasets of arrays in memory and in NumPy files ----------===//
#include "runtime/data/Npz.h"
#include "runtime/data/Source.h"

#include "runtime/program/Message.h"

#include <algorithm>
#include <cstring>

namespace dlc::data {

using runtime::fail;
using runtime::formatList;
using runtime::NpyArray;

namespace {

struct ArraySource : Dataset::Source {
  std::vector<runtime::Span> spans;
  std::vector<size_t> bytes; // bytes of one sample, by field

  void read(int64_t index, void *const *to) const override {
    for (size_t i = 0; i < spans.size(); ++i)
      if (bytes[i])
        std::memcpy(
            to[i], static_cast<const char *>(spans[i].data) + static_cast<size_t>(index) * bytes[i],
            bytes[i]);
  }
};

Dataset arraysOf(const std::vector<std::pair<std::string, NpyArray>> &arrays,
                 const std::string &where) {
  auto source = std::make_shared<ArraySource>();
  if (arrays.empty())
    fail(where, "required: at least one array in the dataset; found none");
  for (const auto &[name, array] : arrays) {
    if (array.shape.empty())
      fail(where, "array '", name, "' is 0-d; required: the samples along a first dimension");
    int64_t size = array.shape[0];
    if (&array != &arrays[0].second && size != source->size)
      fail(where, "the arrays must have the same number of samples; '", arrays[0].first, "' has ",
           source->size, " and '", name, "' has ", size);
    source->size = size;
    source->fields.push_back({name, array.dtype, {array.shape.begin() + 1, array.shape.end()}});
    source->spans.push_back(array.data);
    source->bytes.push_back(size ? array.data.bytes / static_cast<size_t>(size) : 0);
  }
  return Dataset(source);
}

/// Returns a tensor that uses the array's memory; copies it if it is not aligned for the element
/// type.
Tensor toTensor(const NpyArray &array) {
  runtime::Span span = array.data;
  if (reinterpret_cast<uintptr_t>(span.data) % dtypeBytes(array.dtype) != 0)
    span = runtime::copyToOwnedSpan(span.data, span.bytes);
  return Tensor::view(const_cast<void *>(span.data), array.dtype, array.shape,
                      std::const_pointer_cast<void>(span.owner));
}

} // namespace

Dataset arrays(const NamedTensors &fields) {
  std::vector<std::pair<std::string, NpyArray>> spans;
  spans.reserve(fields.size());
  for (const auto &[name, tensor] : fields)
    spans.emplace_back(
        name, NpyArray{tensor.dtype(),
                       tensor.shape(),
                       {tensor.raw(), tensor.bytes(), std::make_shared<const Tensor>(tensor)}});
  return arraysOf(spans, "");
}

Dataset arrays(Tensor x, Tensor target) {
  return arrays({{"x", std::move(x)}, {"target", std::move(target)}});
}

Dataset npy(const std::vector<std::pair<std::string, std::string>> &files) {
  std::vector<std::pair<std::string, NpyArray>> read;
  read.reserve(files.size());
  for (const auto &[name, path] : files)
    read.emplace_back(name, runtime::readNpy(path));
  return arraysOf(read, "");
}

Dataset npz(const std::string &path, const std::vector<std::string> &names) {
  auto all = runtime::readNpz(path);
  const std::string where = "'" + path + "': ";
  if (names.empty())
    return arraysOf(all, where);
  std::vector<std::pair<std::string, NpyArray>> chosen;
  for (const std::string &name : names) {
    auto found = std::find_if(all.begin(), all.end(), [&](auto &a) { return a.first == name; });
    if (found == all.end()) {
      std::vector<std::string> known;
      known.reserve(all.size());
      for (auto &array : all)
        known.push_back(array.first);
      fail(where, "there is no array '", name, "'; the arrays are: ", formatList(known));
    }
    chosen.push_back(*found);
  }
  return arraysOf(chosen, where);
}

NamedTensors readNpz(const std::string &path) {
  NamedTensors tensors;
  for (const auto &[name, array] : runtime::readNpz(path))
    tensors.emplace_back(name, toTensor(array));
  return tensors;
}

Tensor readNpy(const std::string &path) { return toTensor(runtime::readNpy(path)); }

} // namespace dlc::data
