//===- NetworksTest.cpp - the benchmark networks become valid programs ----===//
#include "test/frontend/trace/Support.h"
#include "tools/bench/networks/Training.h"

using namespace dlc;
using namespace dlc::test;

namespace {

struct Wanted {
  const char *name;
  /// Number of parameters of the PyTorch module of the same name.
  int64_t parameters;
  size_t tensors;
  const char *result;
};

class Networks : public testing::TestWithParam<Wanted> {};

TEST_P(Networks, Trace) {
  const Wanted &wanted = GetParam();
  bench::Network network = bench::makeNetwork(wanted.name, 2);
  EXPECT_EQ(network.module->parameterCount(), wanted.parameters);
  EXPECT_EQ(network.module->parameters().size(), wanted.tensors);
  // Parameters are arguments, so that the elements of the weights are not computed.
  trace::Graph graph =
      trace::trace(*network.module, network.inputs, {.parametersAsArguments = true});
  EXPECT_CONTAINS(graph.text(),
                  std::string("-> (tensor<") + wanted.result + "> {dlc.name = \"y\"})");
}

TEST_P(Networks, TraceTheirTrainingStep) {
  const Wanted &wanted = GetParam();
  bench::TrainingSetup training = bench::makeTraining(wanted.name, 2);
  trace::Graph graph = traceStep(training.module, training.loss, optim::sgd({.lr = training.rate}),
                                 training.inputs, {.clipNorm = training.clipNorm, .starts = false});
  // Every parameter and buffer is a state with a new value, and so is the step counter.
  std::string text = graph.text();
  std::string results = text.substr(text.find("->"), text.find(") {\n") - text.find("->"));
  size_t states = 0;
  for (size_t at = results.find("dlc.state"); at != std::string::npos;
       at = results.find("dlc.state", at + 1))
    ++states;
  EXPECT_EQ(states, wanted.tensors + 1) << results;
  EXPECT_EQ(graph.parameters().size(), wanted.tensors + 1);
}

INSTANTIATE_TEST_SUITE_P(All, Networks,
                         testing::Values(Wanted{"fcn-s", 117997696, 8, "2x26752xf32"},
                                         Wanted{"alexnet-s", 76009832, 16, "2x1000xf32"},
                                         Wanted{"resnet-50", 25557032, 320, "2x1000xf32"},
                                         Wanted{"fcn-r", 14205962, 8, "2x10xf32"},
                                         Wanted{"alexnet-r", 89578, 8, "2x10xf32"},
                                         Wanted{"resnet-56", 853018, 332, "2x10xf32"},
                                         Wanted{"lstm", 6182672, 11, "2x32x10000xf32"},
                                         Wanted{"bert", 108891650, 150, "2x2xf32"},
                                         Wanted{"mobilenet-v2", 3504872, 314, "2x1000xf32"},
                                         Wanted{"vit", 86567656, 152, "2x1000xf32"}),
                         [](const auto &info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Networks, UnknownNames) {
  EXPECT_CONTAINS(errorOf([] { bench::makeNetwork("vgg"); }), "known: fcn-s");
}

TEST(Networks, Evaluate) {
  // Evaluates the smallest network on a picture of ones.
  bench::Network network = bench::makeNetwork("alexnet-r", 1);
  auto y = evaluate(trace::trace(*network.module, network.inputs),
                    {trace::Array::of({1, 3, 32, 32}, std::vector<float>(3 * 32 * 32, 1.f))});
  ASSERT_EQ(y[0].shape, (trace::Shape{1, 10}));
  double sum = 0;
  for (double value : valuesOf(y[0]))
    sum += std::abs(value);
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, 100);
}

} // namespace
