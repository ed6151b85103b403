//===- StateTest.cpp - state, training mode, random numbers, gradients -----===//
#include "dlc/optim.hpp"
#include "test/frontend/trace/Support.h"

#include <set>

using namespace dlc;
using namespace dlc::test;
using namespace dlc::trace;

namespace {

struct Net : nn::Module {
  Linear out = add("out", Linear(20, 2));
  Parameter scale = parameter("scale", {2}, Init::constant(3));
  Tensor forward(Tensor x) override { return out(x) * scale; }
};

TEST(State, IsArgumentsWithTheirStart) {
  Net net;
  net.out.bias.set(Array::of({2}, {1.f, 2.f}));
  Graph graph = trace::trace(
      [&](Tensor x) {
        Parameter seen = variable("seen", {}, DType::I64, 5);
        assign(seen, seen + 1);
        Parameter zero = variable("zero", {3});
        return net(x) + sum(zero);
      },
      {{"x", {1, 20}}}, {.state = true});
  std::string text = graph.text();
  EXPECT_CONTAINS(text, "dlc.init = dense_resource<out.weight> : tensor<2x20xf32>, dlc.name = "
                        "\"out.weight\", dlc.parameter, dlc.state}");
  EXPECT_CONTAINS(text, "dlc.init = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>");
  EXPECT_CONTAINS(text, "dlc.init = dense<3.000000e+00> : tensor<2xf32>, dlc.name = \"scale\"");
  EXPECT_CONTAINS(text, "{dlc.init = dense<5> : tensor<i64>, dlc.name = \"seen\", dlc.state}");
  EXPECT_CONTAINS(text, "tensor<3xf32> {dlc.name = \"zero\", dlc.state}");
  EXPECT_CONTAINS(text, "-> (tensor<1x2xf32> {dlc.name = \"y\"}, tensor<i64> {dlc.name = \"seen\", "
                        "dlc.state})");
}

TEST(State, AssignedValuesAreReadBack) {
  // Adds x twice.
  auto function = [](Tensor x) {
    Parameter sum = variable("sum", {2});
    assign(sum, sum + x);
    assign(sum, sum + x);
    return Operand(sum).kind == Operand::Kind::Parameter ? sum + 0 : x;
  };
  auto results = evaluate(trace::trace(function, {{"x", {2}}}, {.state = true}),
                          {Array::of({2}, {1.f, 2.f}), Array::of({2}, {10.f, 10.f})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(valuesOf(results[0]), (std::vector<double>{12, 14}));
  EXPECT_EQ(valuesOf(results[1]), (std::vector<double>{12, 14}));
}

TEST(State, Mistakes) {
  Net net;
  auto traced = [](auto function, TraceOptions options = {.state = true}) {
    return errorOf([&] { trace::trace(function, {{"x", {2}}}, options); });
  };
  auto change = [&](Tensor x) {
    assign(net.scale, x * 2);
    return x;
  };
  EXPECT_CONTAINS(traced(change, {}), ".state = true");
  EXPECT_CONTAINS(traced([](Tensor x) { return x + variable("v", {2}); }, {}), ".state = true");
  unsigned line = __LINE__ + 2;
  std::string text = traced([&](Tensor x) {
    assign(net.scale, sum(x));
    return x;
  });
  EXPECT_CONTAINS(text, "StateTest.cpp:" + std::to_string(line) + ":");
  EXPECT_CONTAINS(text, "'scale' must be");
  EXPECT_CONTAINS(traced([&](Tensor x) {
                    return cond(
                        sum(x) > 0,
                        [&] {
                          assign(net.scale, x);
                          return std::vector{x};
                        },
                        [&] { return std::vector{x}; });
                  }),
                  "inside a branch");
  EXPECT_CONTAINS(traced([&](Tensor x) { return x + variable("v", {2}) + variable("v", {1}); }),
                  "already");
  nn::Linear a(2, 2), b(2, 2);
  EXPECT_CONTAINS(traced([&](Tensor x) { return b(a(x)); }), "'weight' twice");
  EXPECT_CONTAINS(traced([&](Tensor x) { return x + variable("x", {2}); }), "'x' twice");
}

TEST(State, InputsOnTheWay) {
  std::string text = trace::trace(
                         [](Tensor x) {
                           return x * input({"lr", {}}) + variable("v", {2});
                         },
                         {{"x", {2}}}, {.state = true})
                         .text();
  EXPECT_CONTAINS(text, "@main(%arg0: tensor<2xf32> {dlc.name = \"x\"}, %arg1: tensor<f32> "
                        "{dlc.name = \"lr\"}, %arg2: tensor<2xf32> {dlc.name = \"v\", dlc.state})");
}

TEST(Modes, TrainAndEval) {
  struct Outer : nn::Module {
    Dropout drop = add("drop", Dropout(0.5));
    BatchNorm2d norm = add("norm", BatchNorm2d(3));
    Tensor forward(Tensor x) override { return norm(drop(x)); }
  };
  auto textOf = [](const Outer &net, TraceOptions options) {
    return trace::trace(Outer(net), {{"x", {2, 3, 4, 4}}}, options).text();
  };
  Outer net;
  EXPECT_EQ(textOf(net, {}).find("random"), std::string::npos);
  std::string text = textOf(net, {.state = true, .training = true});
  EXPECT_CONTAINS(text, "dlc.random");
  EXPECT_CONTAINS(text, "dlc.batch_norm_train");
  EXPECT_CONTAINS(text, "{dlc.name = \"norm.running_mean\", dlc.state}");
  EXPECT_CONTAINS(text, "dlc.init = dense<1.000000e+00> : tensor<3xf32>, dlc.name = "
                        "\"norm.running_var\", dlc.state}");
  EXPECT_CONTAINS(text, "tensor<i64> {dlc.name = \"norm.num_batches_tracked\", dlc.state}");
  // The step counter is updated automatically.
  EXPECT_CONTAINS(text.substr(text.find("->")), "tensor<i64> {dlc.name = \"step\", dlc.state}");
  // A module whose mode was set explicitly keeps that mode.
  net.norm.eval();
  text = textOf(net, {.state = true, .training = true});
  EXPECT_CONTAINS(text, "dlc.random");
  EXPECT_EQ(text.find("batch_norm_train"), std::string::npos) << text;
  net.train();
  EXPECT_TRUE(net.norm.isTraining());
  EXPECT_CONTAINS(errorOf([&] { textOf(net, {}); }), ".state = true");
}

TEST(Modes, BatchNormNeedsMoreThanOneElement) {
  nn::BatchNorm1d norm(3);
  EXPECT_CONTAINS(errorOf([&] {
                    trace::trace(norm, {{"x", {1, 3}}}, {.state = true, .training = true});
                  }),
                  "more than one element");
}

std::vector<double> dropped(uint64_t seed, int64_t step, DType dtype = DType::F32) {
  auto function = [](Tensor x) { return dropout(x, 0.25); };
  auto graph = trace::trace(function, {{"x", {1000}, dtype}}, {.state = true, .seed = seed});
  void *counter;
  Array count = Array::zeros(DType::I64, {}, &counter);
  *static_cast<int64_t *>(counter) = step;
  auto results = evaluate(std::move(graph),
                          {Array::of({1000}, std::vector<float>(1000, 3.f)).to(dtype), count});
  EXPECT_EQ(valuesOf(results[1]), std::vector<double>{double(step + 1)});
  return valuesOf(results[0]);
}

TEST(Dropout, IsReproducible) {
  std::vector<double> first = dropped(0, 0);
  EXPECT_EQ(first, dropped(0, 0));
  EXPECT_NE(first, dropped(0, 1));
  EXPECT_NE(first, dropped(1, 0));
  int64_t zeros = 0;
  for (double value : first) {
    zeros += value == 0;
    EXPECT_TRUE(value == 0 || value == 4) << value;
  }
  EXPECT_NEAR(double(zeros), 250, 60);
  // The mask does not depend on the element type.
  EXPECT_EQ(first, dropped(0, 0, DType::BF16));
}

TEST(Dropout, CallsHaveSeedsOfTheirOwn) {
  std::string text = trace::trace([](Tensor x) { return dropout(dropout(x, 0.5), 0.5); },
                                  {{"x", {4}}}, {.state = true})
                         .text();
  std::set<std::string> seeds;
  for (size_t at = text.find("seed "); at != std::string::npos; at = text.find("seed ", at + 1))
    seeds.insert(text.substr(at, text.find(' ', at + 5) - at));
  EXPECT_EQ(seeds.size(), 2u) << text;
  auto ends = trace::trace([](Tensor x) { return dropout(x, 0) + dropout(x, 1); }, {{"x", {4}}});
  EXPECT_EQ(valuesOf(evaluate(std::move(ends), {Array::of({4}, {1.f, 2.f, 3.f, 4.f})})[0]),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(Dropout, BetweenRecurrentLayers) {
  nn::LSTM lstm(3, 4, {.layers = 3, .dropout = 0.5});
  std::string text =
      trace::trace(lstm, {{"x", {2, 1, 3}}}, {.state = true, .training = true}).text();
  size_t count = 0;
  for (size_t at = text.find("dlc.random"); at != std::string::npos;
       at = text.find("dlc.random", at + 1))
    ++count;
  EXPECT_EQ(count, 2u);
}

TEST(Gradients, AreAnOperation) {
  Net net;
  std::string text = trace::trace(
                         [&](Tensor x) {
                           Tensor loss = sum(net(x));
                           return grad(loss, {net.out.weight, x});
                         },
                         {{"x", {1, 20}}}, {.state = true})
                         .text();
  EXPECT_CONTAINS(text, "dlc.gradient(");
  EXPECT_CONTAINS(text, "(tensor<f32>, tensor<2x20xf32>, tensor<1x20xf32>) -> (tensor<2x20xf32>, "
                        "tensor<1x20xf32>)");
  EXPECT_CONTAINS(errorOf([&] {
                    trace::trace([](Tensor x) { return grad(x, {x}); }, {{"x", {2}}});
                  }),
                  "one element");
  EXPECT_CONTAINS(errorOf([&] {
                    trace::trace([](Tensor x) { return grad(sum(x), {1.0}); }, {{"x", {2}}});
                  }),
                  "number");
}

TEST(Gradients, GoToParametersThatTheLossDependsOn) {
  struct Both : nn::Module {
    Net net = add("net", Net()), other = add("other", Net());
    BatchNorm1d norm = add("norm", BatchNorm1d(2));
  } both;
  trace::trace(
      [&](Tensor x) {
        Tensor y = both.net(x), z = sum(both.other(x));
        Tensor inside = cond(
            z > 0, [&] { return std::vector{y}; },
            [&] { return std::vector{y * both.norm.weight}; })[0];
        std::vector<std::string> names;
        for (const Parameter &parameter : parametersOf(sum(inside)))
          names.push_back(parameter.name());
        EXPECT_EQ(names, (std::vector<std::string>{"net.out.weight", "net.out.bias", "net.scale",
                                                   "norm.weight"}));
        return z;
      },
      {{"x", {1, 20}}}, {.parametersAsArguments = true});
}

} // namespace
