//===- Native.cpp - runs traced programs as compiled code -----------------===//
#include "dlc/compiler.hpp"
#include "test/frontend/trace/Support.h"

#include <cstring>

namespace dlc::test {

std::vector<trace::Array> execute(trace::Graph graph, const std::vector<trace::Array> &inputs) {
  Model model = compile(std::move(graph), {.threads = 2, .cacheDir = ""});
  std::map<std::string, Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor input(inputs[i].dtype, inputs[i].shape);
    std::memcpy(input.raw(), inputs[i].data.get(), input.bytes());
    given[model.inputs().at(i).name] = input;
  }
  std::map<std::string, Tensor> results = model.run(given);
  std::vector<trace::Array> arrays;
  for (const ModelValue &output : model.outputs()) {
    const Tensor &result = results.at(output.name);
    void *elements;
    arrays.push_back(trace::Array::zeros(result.dtype(), result.shape(), &elements));
    std::memcpy(elements, result.raw(), result.bytes());
  }
  return arrays;
}

} // namespace dlc::test
