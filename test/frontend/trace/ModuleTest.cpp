//===- ModuleTest.cpp - names, parameters, seeds and arguments of modules -===//
#include "test/frontend/trace/Support.h"

#include <cmath>
#include <set>

using namespace dlc;
using namespace dlc::test;
using trace::Array;
using trace::Tensor;

namespace {

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(8, 4)), out = add("out", Linear(4, 2, false));
  Parameter scale = parameter("scale", {2}, Init::constant(2));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))) * scale; }
};

std::vector<std::string> namesOf(const nn::Module &module) {
  std::vector<std::string> names;
  for (const nn::Parameter &parameter : module.parameters())
    names.push_back(parameter.name());
  return names;
}

TEST(Modules, ParametersAreNamedByPath) {
  EXPECT_EQ(namesOf(Mlp()),
            (std::vector<std::string>{"scale", "hidden.weight", "hidden.bias", "out.weight"}));
  struct Outer : nn::Module {
    Sequential body = add("body", Sequential(Mlp(), nn::ReLU(), Linear(2, 1)));
    BatchNorm1d norm = add("norm", BatchNorm1d(1));
  };
  Outer outer;
  EXPECT_EQ(namesOf(outer),
            (std::vector<std::string>{"body.0.scale", "body.0.hidden.weight", "body.0.hidden.bias",
                                      "body.0.out.weight", "body.2.weight", "body.2.bias",
                                      "norm.weight", "norm.bias", "norm.running_mean",
                                      "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_TRUE(outer.find("norm.running_var").isBuffer());
  EXPECT_FALSE(outer.find("norm.nothing"));
  // Buffers are not counted.
  EXPECT_EQ(outer.parameterCount(), 2 + 32 + 4 + 8 + 2 + 1 + 1 + 1);
}

TEST(Modules, NamesAreUnique) {
  struct Twice : nn::Module {
    Linear a = add("a", Linear(1, 1)), b = add("a", Linear(1, 1));
  };
  EXPECT_CONTAINS(errorOf([] { Twice(); }), "twice");
  struct Shared : nn::Module {
    Linear a = add("a", Linear(1, 1)), b = add("b", a);
  };
  EXPECT_CONTAINS(errorOf([] { Shared(); }), "already");
}

TEST(Modules, CopiesShareParameters) {
  Mlp mlp;
  Mlp copy = mlp;
  copy.scale.set(Array::of({2}, {5.f, 6.f}));
  EXPECT_EQ(valuesOf(mlp.scale.value()), (std::vector<double>{5, 6}));
}

TEST(Modules, StartsAreReproducible) {
  Mlp a, b;
  std::vector<double> first = valuesOf(a.hidden.weight.value());
  EXPECT_EQ(first, valuesOf(b.hidden.weight.value()));
  b.seed(7);
  EXPECT_NE(first, valuesOf(b.hidden.weight.value()));
  // Initial values must be the same on every machine and in every version.
  EXPECT_FLOAT_EQ(float(first[0]), -0.0288359631f);
  EXPECT_FLOAT_EQ(float(first[31]), 0.0355135038f);
}

TEST(Modules, StartsHaveTheirDistributions) {
  auto figures = [](trace::Init init, DType dtype = DType::F32) {
    trace::Parameter parameter({100, 200}, init, dtype);
    double sum = 0, squares = 0, largest = 0;
    std::vector<double> values = valuesOf(parameter.value());
    for (double value : values) {
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    return std::array{sum / 20000, std::sqrt(squares / 20000), largest};
  };
  auto uniform = figures(trace::Init::fanIn(200));
  EXPECT_NEAR(uniform[0], 0, 1e-3);
  EXPECT_NEAR(uniform[1], 1 / std::sqrt(600.0), 1e-3);
  EXPECT_LE(uniform[2], 1 / std::sqrt(200.0));
  auto normal = figures(trace::Init::normal(2), DType::F64);
  EXPECT_NEAR(normal[0], 0, 0.05);
  EXPECT_NEAR(normal[1], 2, 0.05);
  EXPECT_GT(normal[2], 6);
  auto cut = figures(trace::Init::truncatedNormal(1), DType::BF16);
  EXPECT_NEAR(cut[1], 0.8796, 0.02);
  EXPECT_LE(cut[2], 2);
}

TEST(Modules, ConvertToOtherFloats) {
  Mlp mlp;
  mlp.scale.set(Array::of({2}, {1.00390625f, 3.f}));
  mlp.to(DType::BF16);
  EXPECT_EQ(mlp.hidden.weight.dtype(), DType::BF16);
  // A value half-way between two neighbors is rounded to the even one.
  EXPECT_EQ(valuesOf(mlp.scale.value()), (std::vector<double>{1, 3}));
  std::string text = trace::trace(mlp, {{"x", {1, 8}, DType::BF16}}).text();
  EXPECT_CONTAINS(text, "tensor<1x2xbf16>");
}

TEST(Modules, ParametersAreConstantsThatShareTheMemory) {
  Mlp mlp;
  std::string text = trace::trace(mlp, {{"x", {1, 8}}}).text();
  EXPECT_CONTAINS(text, "dense_resource<hidden.weight> : tensor<4x8xf32>");
  EXPECT_CONTAINS(text, "dense<2.000000e+00> : tensor<2xf32>");
}

TEST(Modules, ParametersCanBeArguments) {
  Mlp mlp;
  trace::Graph graph = trace::trace(mlp, {{"x", {1, 8}}}, {.parametersAsArguments = true});
  std::string text = graph.text();
  EXPECT_CONTAINS(text, "tensor<4x8xf32> {dlc.name = \"hidden.weight\", dlc.parameter}");
  std::vector<std::string> names;
  std::vector<Array> inputs = {Array::of({1, 8}, std::vector<float>(8, 1.f))};
  for (const nn::Parameter &parameter : graph.parameters()) {
    names.push_back(parameter.name());
    inputs.push_back(parameter.value());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"hidden.weight", "hidden.bias", "out.weight", "scale"}));
  Array found = evaluate(std::move(graph), inputs)[0];
  expectNear(found, evaluate(trace::trace(mlp, {{"x", {1, 8}}}), {inputs[0]})[0]);
}

TEST(Modules, RecurrentLayersWithParametersAsArguments) {
  nn::LSTM lstm(3, 4, {.layers = 2, .bidirectional = true});
  auto function = [&](Tensor x) { return lstm(x); };
  Array x = Array::of({2, 1, 3}, {1.f, 2.f, 3.f, -1.f, 0.f, 1.f});
  trace::Graph graph = trace::trace(function, {{"x", {2, 1, 3}}}, {.parametersAsArguments = true});
  std::vector<Array> inputs = {x};
  for (const nn::Parameter &parameter : graph.parameters())
    inputs.push_back(parameter.value());
  EXPECT_EQ(inputs.size(), 17u);
  expectNear(evaluate(std::move(graph), inputs)[0], run(function, {x})[0]);
}

TEST(Modules, MustHaveAForward) {
  struct Nothing : nn::Module {};
  EXPECT_CONTAINS(errorOf([] { trace::trace(Nothing(), {{"x", {1}}}); }), "no forward()");
}

TEST(Modules, LayersCheckTheirSizes) {
  EXPECT_CONTAINS(errorOf([] { nn::Linear(0, 3); }), "1 or more");
  EXPECT_CONTAINS(errorOf([] { nn::Conv2d(3, 4, 3, {.groups = 2}); }), "groups");
  EXPECT_CONTAINS(errorOf([] { nn::Conv2d(3, 4, {1, 2, 3}); }), "spatial");
  EXPECT_CONTAINS(errorOf([] { nn::MultiheadAttention(10, 3); }), "heads");
  EXPECT_CONTAINS(errorOf([] { nn::Dropout(2); }), "probability");
}

} // namespace
