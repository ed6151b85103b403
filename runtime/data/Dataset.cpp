//===- Dataset.cpp - datasets of slices, functions and generators ------------===//
#include "runtime/data/Source.h"

#include "runtime/program/Message.h"

#include <cstring>

namespace dlc::data {

using runtime::fail;
using runtime::formatList;
using runtime::message;

std::string formatSpec(DType dtype, const std::vector<int64_t> &shape) {
  return message(dtypeName(dtype), formatList(shape));
}

void checkSample(const std::vector<TensorSpec> &fields, const Sample &sample) {
  if (sample.size() != fields.size())
    fail("required: ", fields.size(), " tensors in each sample; found: ", sample.size());
  for (size_t i = 0; i < fields.size(); ++i)
    if (sample[i].dtype() != fields[i].dtype || sample[i].shape() != fields[i].shape)
      fail("field '", fields[i].name, "': required: ", formatSpec(fields[i].dtype, fields[i].shape),
           "; found: ", formatSpec(sample[i].dtype(), sample[i].shape()),
           "; all samples must have one type and shape");
}

static void checkFields(const std::vector<TensorSpec> &fields) {
  if (fields.empty())
    fail("a dataset needs at least one field");
  for (const TensorSpec &field : fields)
    for (int64_t dim : field.shape)
      if (dim < 0)
        fail("field '", field.name, "': the shape ", formatList(field.shape),
             " has a negative dimension");
}

namespace {

struct SliceSource : Dataset::Source {
  std::shared_ptr<const Source> whole;
  int64_t begin = 0;
  void read(int64_t index, void *const *to) const override { whole->read(begin + index, to); }
};

struct FunctionSource : Dataset::Source {
  std::function<Sample(int64_t)> sample;
  void read(int64_t index, void *const *to) const override {
    Sample made = sample(index);
    checkSample(fields, made);
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i].bytes())
        std::memcpy(to[i], made[i].raw(), made[i].bytes());
  }
};

struct StreamSource : Dataset::Source {
  std::function<Generator(uint64_t)> begin;
  void read(int64_t, void *const *) const override {
    fail("the samples of a generator can only be read in sequence; use an indexed dataset for "
         "other orders");
  }
  Generator start(uint64_t epoch) const override { return begin(epoch); }
};

} // namespace

Dataset::Dataset(std::shared_ptr<const Source> source) : held(std::move(source)) {
  if (!held)
    fail("a dataset needs a source");
  checkFields(held->fields);
}

int64_t Dataset::size() const { return held->size; }
const std::vector<TensorSpec> &Dataset::fields() const { return held->fields; }
const std::vector<std::string> &Dataset::classes() const { return held->classes; }

Sample Dataset::operator[](int64_t index) const {
  if (held->size >= 0 && (index < 0 || index >= held->size))
    fail("required: a sample index from 0 to ", held->size - 1, "; found: ", index);
  Sample sample;
  std::vector<void *> to;
  for (const TensorSpec &field : held->fields) {
    sample.emplace_back(field.dtype, field.shape);
    to.push_back(sample.back().raw());
  }
  held->read(index, to.data());
  return sample;
}

Dataset Dataset::slice(int64_t begin, int64_t end) const {
  if (held->size < 0)
    fail("slices of a generator are not supported; use an indexed dataset");
  if (begin < 0 || end < begin || end > held->size)
    fail("required: a slice of the samples [0, ", held->size, "); found: [", begin, ", ", end, ")");
  auto slice = std::make_shared<SliceSource>();
  slice->fields = held->fields;
  slice->classes = held->classes;
  slice->size = end - begin;
  slice->whole = held;
  slice->begin = begin;
  return Dataset(slice);
}

Dataset function(int64_t size, std::function<Sample(int64_t)> sample,
                 std::vector<TensorSpec> fields) {
  if (size < 0 || !sample)
    fail("required: a function, and a size of 0 or more; found the size ", size);
  if (fields.empty()) {
    if (size == 0)
      fail("the fields must be given, since there are no samples from which to derive them");
    for (const Tensor &tensor : sample(0)) {
      size_t i = fields.size();
      std::string name = i == 0 ? "x" : i == 1 ? "target" : message("field", i);
      fields.push_back({name, tensor.dtype(), tensor.shape()});
    }
  }
  auto source = std::make_shared<FunctionSource>();
  source->fields = std::move(fields);
  source->size = size;
  source->sample = std::move(sample);
  return Dataset(source);
}

Dataset generator(std::function<Generator(uint64_t)> start, std::vector<TensorSpec> fields) {
  if (!start)
    fail("required: a function that returns a new generator of samples; found: an empty function");
  auto source = std::make_shared<StreamSource>();
  source->fields = std::move(fields);
  source->size = -1;
  source->begin = std::move(start);
  return Dataset(source);
}

} // namespace dlc::data
