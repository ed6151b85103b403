//===- DevicesTest.cpp - layers on devices, and errors of mixed devices ---===//
#include "dlc/optim.hpp"
#include "dlc/parallel.hpp"
#include "dlc/step.hpp"
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using trace::Array;
using trace::Shape;
using trace::Tensor;

namespace {

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(4, 8)), out = add("out", Linear(8, 2));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
};

/// A network whose second half is on cpu:1.
struct Halves : Mlp {
  Halves() { out.to("cpu:1"); }
  Tensor forward(Tensor x) override { return out(relu(hidden(x)).to("cpu:1")); }
};

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

Array sample() { return Array::of({3, 4}, {1, -2, 3, 0, 0.5f, 1, 2, -1, 4, 3, -2, 1}); }

TEST(Devices, WhoNamesNoneIsPlacedLater) {
  Mlp mlp;
  std::string text = trace::trace(mlp, {{"x", {3, 4}}}).text();
  EXPECT_EQ(text.find("dlc.on"), std::string::npos) << text;
  trace::trace(
      [](Tensor x) {
        EXPECT_EQ(x.device(), Device("cpu"));
        return x;
      },
      {{"x", {1}}});
}

TEST(Devices, ToMovesAllParametersAndBuffers) {
  struct Net : nn::Module {
    BatchNorm2d norm = add("norm", BatchNorm2d(3));
    Conv2d conv = add("conv", Conv2d(3, 4, 3));
    Tensor forward(Tensor x) override { return conv(norm(x)); }
  } net;
  for (const trace::Parameter &parameter : net.parameters())
    EXPECT_FALSE(parameter.device());
  net.to("cpu:2");
  EXPECT_EQ(net.parameters().size(), 7u);
  for (const trace::Parameter &parameter : net.parameters())
    EXPECT_EQ(parameter.device(), Device("cpu:2")) << parameter.name();
  std::string text = trace::trace(net, {{"x", {1, 3, 8, 8}, DType::F32, "cpu:2"}}).text();
  EXPECT_EQ(text.find("xf32>"), std::string::npos) << text;
  EXPECT_EQ(text.find("dlc.on<cpu>"), std::string::npos) << text;
  EXPECT_EQ(text.find("dlc.transfer"), std::string::npos) << text;
}

TEST(Devices, LayersOnSeveralMeetByMoves) {
  Halves halves;
  trace::Graph graph = trace::trace(halves, {{"x", {3, 4}}}, {.state = true});
  std::string text = graph.text();
  EXPECT_EQ(countOf(text, "dlc.transfer"), 1u) << text;
  EXPECT_CONTAINS(text, "-> tensor<3x8xf32, #dlc.on<cpu:1>>");
  // Operations that were traced before a device was named are placed, too.
  EXPECT_CONTAINS(text, "%arg0: tensor<3x4xf32, #dlc.on<cpu>>");
  EXPECT_CONTAINS(text, "-> (tensor<3x2xf32, #dlc.on<cpu:1>>");
  graph.verify();
}

TEST(Devices, MovesChangeNoValues) {
  Halves halves;
  Mlp mlp;
  expectNear(run(halves, {sample()})[0], run(mlp, {sample()})[0], 1e-7);
}

TEST(Devices, MixingNamesBothAndTheMend) {
  Mlp mlp;
  mlp.out.to("cpu:1");
  std::string error = errorOf([&] { trace::trace(mlp, {{"x", {3, 4}}}); });
  EXPECT_CONTAINS(error, "DevicesTest.cpp:");
  EXPECT_CONTAINS(error, "matmul: the result of relu is on cpu, 'out.weight' on cpu:1; move one "
                         "with .to(\"cpu:1\")");
  EXPECT_CONTAINS(error, "(in 'out')");
  mlp.to("cuda:0");
  error = errorOf([&] { trace::trace(mlp, {{"x", {3, 4}}}); });
  EXPECT_CONTAINS(error, "matmul: 'x' is on cpu, 'hidden.weight' on cuda:0; move one: "
                         "x.to(\"cuda:0\")");
  error = errorOf([] {
    trace::trace([](Tensor x, Tensor y) { return x + y; },
                 {{"x", {2}, DType::F32, "cuda:0"}, {"y", {2}, DType::F32, "cpu"}});
  });
  EXPECT_CONTAINS(error, "'x' is on cuda:0, 'y' on cpu; move one: y.to(\"cuda:0\")");
}

TEST(Devices, TheDefaultIsTheTracesOwn) {
  Mlp mlp;
  mlp.to("cuda:1");
  trace::Graph graph = trace::trace(mlp, {{"x", {3, 4}}}, {.device = "cuda:1"});
  EXPECT_EQ(graph.text().find("dlc.transfer"), std::string::npos);
  EXPECT_EQ(graph.text().find("dlc.on<cpu>"), std::string::npos);
}

TEST(Devices, ScalarsAndConstantsAreFree) {
  auto function = [](Tensor x) {
    Tensor there = x.to("cpu:1");
    Tensor mask = trace::arange(4, DType::F32) > sum(x);
    Tensor y = where(mask, there * 2 + trace::ones({4}), mean(x));
    EXPECT_EQ(y.device(), Device("cpu:1"));
    // The same constant is also used on the other device.
    return y.to("cpu") + cast(mask, DType::F32) * x;
  };
  trace::Graph graph = trace::trace(function, {{"x", {4}}});
  std::string text = graph.text();
  // Transfers: x to the device, y back, and the sum.
  EXPECT_EQ(countOf(text, "dlc.transfer"), 3u) << text;
  std::vector<Array> got = evaluate(std::move(graph), {Array::of({4}, {1, -1, 0.5f, 0.25f})});
  EXPECT_EQ(valuesOf(got[0]), (std::vector<double>{0.1875, -2, 2.5, 1.75}));
}

TEST(Devices, LoopsCarryPlacedValues) {
  auto function = [](Tensor x) {
    Tensor there = x.to("cpu:1");
    return trace::repeat(3, {there, 1.0f}, [](Tensor i, std::vector<Tensor> c) {
      return std::vector<Tensor>{c[0] * 2 + cast(i, DType::F32), c[1]};
    })[0];
  };
  EXPECT_EQ(valuesOf(run(function, {Array::of({1}, {1})})[0]), std::vector<double>{12});
}

TEST(Devices, GradientsAndOptimisersStayWithTheirParameters) {
  Halves halves;
  trace::Graph graph =
      traceStep(halves, loss::mse_loss, optim::adam({.lr = 1e-2}),
                {{"x", {3, 4}}, {"t", {3, 2}, DType::F32, "cpu:1"}}, {.clipNorm = 1});
  graph.verify();
  for (const trace::Parameter &parameter : graph.parameters()) {
    bool there = parameter.name().find("out.") != std::string::npos;
    EXPECT_EQ(parameter.device().value_or(Device()), there ? Device("cpu:1") : Device("cpu"))
        << parameter.name();
  }
}

TEST(Devices, DataParallelSplitsAndGathers) {
  Mlp mlp;
  Array expected = run(mlp, {sample()})[0];
  auto net = data_parallel(mlp, {"cpu", "cpu:1"});
  // The parameters are the same and have the same names.
  EXPECT_EQ(net.parameters()[0].identity(), mlp.hidden.weight.identity());
  EXPECT_EQ(net.find("out.bias").name(), "out.bias");
  trace::Graph graph = trace::trace(net, {{"x", {3, 4}}}, {.state = true});
  // Transfers: a part of the batch and four parameters to the device, and a result back.
  EXPECT_EQ(countOf(graph.text(), "dlc.transfer"), 6u) << graph.text();
  expectNear(run(net, {sample()})[0], expected, 1e-6);
  // More devices than samples.
  auto many = data_parallel(mlp, {"cpu", "cpu:1", "cpu:2", "cpu:3"});
  expectNear(run(many, {sample()})[0], expected, 1e-6);
}

TEST(Devices, DataParallelWantsABatchAndDevices) {
  Mlp mlp;
  EXPECT_CONTAINS(errorOf([&] { data_parallel(mlp, {}); }), "name at least one device");
  EXPECT_CONTAINS(errorOf([&] {
                    data_parallel(mlp, {"cpu:1", "cpu:1"});
                  }),
                  "the devices must differ; found cpu:1 twice");
  EXPECT_CONTAINS(errorOf([&] { micro_batches(mlp, 0); }), "1 part or more; found 0");
  auto net = data_parallel(mlp, {"cpu", "cpu:1"});
  EXPECT_CONTAINS(errorOf([&] {
                    trace::trace(net, {{"x", {trace::kDynamic, 4}}});
                  }),
                  "data_parallel: the first size must be known");
}

TEST(Devices, RunningStatisticsAreTheFirstReplicas) {
  struct Net : nn::Module {
    BatchNorm1d norm = add("norm", BatchNorm1d(2));
    Tensor forward(Tensor x) override { return norm(x); }
  } net;
  auto parallel = data_parallel(net, {"cpu", "cpu:1"});
  trace::Graph graph = trace::trace(parallel, {{"x", {4, 2}}}, {.state = true, .training = true});
  std::vector<Array> got = evaluate(
      std::move(graph), {Array::of({4, 2}, {1, 2, 3, 4, 50, 60, 70, 80}), net.norm.weight.value(),
                         net.norm.bias.value(), net.norm.runningMean.value(),
                         net.norm.runningVar.value(), net.norm.batches.value()});
  // The results are y, followed by the states in the order of their updates.
  EXPECT_NEAR(got[1].at(0), 0.1 * 2, 1e-6);
  EXPECT_NEAR(got[1].at(1), 0.1 * 3, 1e-6);
}

TEST(Devices, MicroBatchesGiveTheSame) {
  Halves halves;
  Array expected = run(halves, {sample()})[0];
  for (int64_t parts : {1, 2, 3, 5})
    expectNear(run(micro_batches(halves, parts), {sample()})[0], expected, 1e-6);
}

} // namespace
