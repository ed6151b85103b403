//===- Support.cpp - runs traced programs on the reference evaluator ------===//
#include "test/frontend/trace/Support.h"

#include "frontend/trace/State.h"
#include "frontend/trace/Trace.h"
#include "ir/reference/World.h"

#include <cstring>

namespace dlc::test {

using trace::Array;

std::vector<std::vector<Array>> evaluateOnRanks(int ranks, trace::Graph graph,
                                                const std::vector<Array> &inputs) {
  TracedModule traced = trace::takeModule(std::move(graph));
  auto main = traced.module->lookupSymbol<mlir::func::FuncOp>("main");
  llvm::SmallVector<ref::Tensor> arguments;
  for (const Array &input : inputs) {
    auto type = mlir::RankedTensorType::get(
        input.shape, trace::elementTypeOf(input.dtype, traced.context.get()));
    arguments.push_back(ref::Tensor::borrow(type, input.data.get(), input.data));
  }
  const std::vector<llvm::SmallVector<ref::Tensor>> given(static_cast<size_t>(ranks), arguments);
  std::vector<llvm::SmallVector<ref::Tensor>> results;
  trace::DiagnosticCapture capture(traced.context.get());
  if (failed(ref::evaluateWorld(main, given, results)))
    throw Error("evaluation failed: " + capture.text);
  std::vector<std::vector<Array>> arrays;
  for (const auto &rank : results) {
    arrays.emplace_back();
    for (const ref::Tensor &result : rank) {
      void *elements;
      Array array = Array::zeros(trace::dtypeOf(result.getElementType()),
                                 {result.getShape().begin(), result.getShape().end()}, &elements);
      std::memcpy(elements, result.data(), array.bytes());
      arrays.back().push_back(array);
    }
  }
  return arrays;
}

std::vector<Array> evaluate(trace::Graph graph, const std::vector<Array> &inputs) {
  return evaluateOnRanks(1, std::move(graph), inputs)[0];
}

std::vector<trace::Spec> specsOf(const std::vector<Array> &inputs) {
  std::vector<trace::Spec> specs;
  for (size_t i = 0; i < inputs.size(); ++i)
    specs.push_back({"x" + std::to_string(i), inputs[i].shape, inputs[i].dtype});
  return specs;
}

std::vector<double> valuesOf(const Array &array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.size(); ++i)
    values.push_back(array.at(i));
  return values;
}

void expectNear(const Array &found, const Array &wanted, double tolerance) {
  ASSERT_EQ(found.dtype, wanted.dtype);
  ASSERT_EQ(found.shape, wanted.shape);
  for (int64_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found.at(i), wanted.at(i), tolerance * (1 + std::abs(wanted.at(i))))
        << "element " << i;
}

} // namespace dlc::test
