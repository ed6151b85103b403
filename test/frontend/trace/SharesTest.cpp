//===- SharesTest.cpp - steps whose optimizer state is split over ranks ---===//
//
// test/tools/dlc/sharded-optimizer.test checks the results of such steps on ranks.
//
//===----------------------------------------------------------------------===//
#include "dlc/step.hpp"
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using trace::Tensor;

namespace {

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(8, 4)), out = add("out", Linear(4, 3));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
};

const std::vector<trace::Spec> batch = {{"x", {6, 8}}, {"t", {6}, DType::I64}};

std::string textOf(const optim::Optimizer &optimizer, const StepOptions &options) {
  Mlp mlp;
  return traceStep(mlp, loss::cross_entropy, optimizer, batch, options).text();
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

const StepOptions split = {.dataParallel = true, .world = 2, .shardOptimizer = true};

TEST(Shares, OfOneRuleAreOneBucket) {
  std::string text = textOf(optim::adam(), split);
  EXPECT_EQ(countOf(text, "dlc.reduce_scatter"), 1u);
  EXPECT_EQ(countOf(text, "dlc.all_gather"), 1u);
  // 51 parameters and one zero of padding for an even count. The layer used last is the first in
  // the buffer.
  EXPECT_CONTAINS(text, "tensor<26xf32> {dlc.name = \"optimizer.adam.m.share0\", dlc.shares = {of "
                        "= 2 : i64, parts = [{name = \"optimizer.adam.m.out.bias\", shape = "
                        "array<i64: 3>}");
  EXPECT_CONTAINS(text, "{name = \"optimizer.adam.v.hidden.weight\", shape = array<i64: 4, 8>}]}");
  EXPECT_EQ(countOf(text, "\"optimizer.adam.m.out.bias\", dlc.state"), 0u);
}

TEST(Shares, OfEachRuleAreItsBuckets) {
  optim::Optimizer optimizer = optim::adamw({.weightDecay = 0.1});
  optimizer.group("*.bias", optim::adamw({.weightDecay = 0}));
  std::string text = textOf(optimizer, split);
  EXPECT_EQ(countOf(text, "dlc.reduce_scatter"), 2u);
  EXPECT_CONTAINS(text, "tensor<4xf32> {dlc.name = \"optimizer.adamw.m.share0\"");
  EXPECT_CONTAINS(text, "tensor<22xf32> {dlc.name = \"optimizer.adamw.m.share1\"");
}

TEST(Shares, AreAFewLargeBuckets) {
  struct Wide : nn::Module {
    Linear a = add("a", Linear(512, 600)), b = add("b", Linear(600, 600)),
           c = add("c", Linear(600, 3));
    Tensor forward(Tensor x) override { return c(relu(b(relu(a(x))))); }
  } wide;
  std::string text = traceStep(wide, loss::cross_entropy, optim::adam(),
                               {{"x", {2, 512}}, {"t", {2}, DType::I64}}, split)
                         .text();
  // The first bucket ends before b.weight, with which it would exceed the maximum size of the first
  // bucket.
  EXPECT_EQ(countOf(text, "dlc.reduce_scatter"), 2u);
  EXPECT_CONTAINS(text, "parts = [{name = \"optimizer.adam.m.c.bias\", shape = array<i64: 3>}, "
                        "{name = \"optimizer.adam.m.c.weight\", shape = array<i64: 3, 600>}, "
                        "{name = \"optimizer.adam.m.b.bias\", shape = array<i64: 600>}]}");
}

TEST(Shares, NormsAreOfAllRanks) {
  StepOptions options = split;
  options.clipNorm = 1;
  options.lossScale = LossScale{};
  // All-reduces of the loss, of the sum of all magnitudes and of the squared norm.
  EXPECT_EQ(countOf(textOf(optim::sgd(), options), "dlc.all_reduce"), 3u);
}

TEST(Shares, AreForRulesOfElements) {
  optim::Optimizer lars("lars", 0.1, [](optim::Update &u) {
    return u.value - u.gradient * (u.rate / sqrt(sum(square(u.gradient))));
  });
  EXPECT_CONTAINS(errorOf([&] { textOf(lars, split); }),
                  "optimizer 'lars' cannot be split over ranks: dlc.reduce combines elements of a "
                  "parameter");
}

TEST(Gradients, TravelInTheTypeThatIsAskedFor) {
  std::string text = textOf(optim::sgd(), {.dataParallel = true, .gradients = DType::BF16});
  EXPECT_EQ(countOf(text, "dlc.all_reduce"), 5u);
  EXPECT_CONTAINS(text, "(tensor<4x8xbf16>) -> tensor<4x8xbf16>");
  // The loss is not a gradient, so its type does not change.
  EXPECT_CONTAINS(text, "(tensor<f32>) -> tensor<f32>");
  StepOptions options = split;
  options.gradients = DType::BF16;
  text = textOf(optim::adam(), options);
  EXPECT_CONTAINS(text, "(tensor<52xbf16>) -> tensor<26xbf16>");
  EXPECT_CONTAINS(text, "(tensor<26xf32>) -> tensor<52xf32>");
}

TEST(Gradients, TravelOrDoNot) {
  auto mistake = [](const StepOptions &options) {
    return errorOf([&] { textOf(optim::sgd(), options); });
  };
  EXPECT_CONTAINS(mistake({.gradients = DType::BF16}), "requires a data-parallel step");
  EXPECT_CONTAINS(mistake({.dataParallel = true, .gradients = DType::F16}), "found f16");
  EXPECT_CONTAINS(
      mistake({.dataParallel = true, .gradients = DType::BF16, .world = 2, .chunks = 4}),
      "found bf16 gradients and 4 chunks");
}

TEST(Network, IsTrainedByAllProcesses) {
  Mlp one, other;
  auto text = [](const Network &network, const StepOptions &options) {
    return traceStep(network, loss::cross_entropy, optim::sgd(), batch, options).text();
  };
  EXPECT_EQ(text(data_parallel(one), {}), text(other, {.dataParallel = true}));
}

TEST(Shares, NeedAWorld) {
  StepOptions options = split;
  options.world = 0;
  EXPECT_CONTAINS(errorOf([&] { textOf(optim::sgd(), options); }),
                  "the size of the world: 1 rank or more");
  options = {.world = 2, .shardOptimizer = true};
  EXPECT_CONTAINS(errorOf([&] { textOf(optim::sgd(), options); }), "require a data-parallel step");
}

TEST(Chunks, AreAddedInOrder) {
  StepOptions options{.dataParallel = true, .world = 2, .chunks = 4};
  std::string text = textOf(optim::sgd(), options);
  // Two chunks of three samples on each rank: 51 gradients for each of four chunks, and four
  // losses.
  EXPECT_EQ(countOf(text, "dlc.gradient("), 2u);
  EXPECT_CONTAINS(text, "(tensor<102xf32>) -> tensor<204xf32>");
  EXPECT_CONTAINS(text, "(tensor<2xf32>) -> tensor<4xf32>");
  EXPECT_EQ(countOf(text, "dlc.all_reduce"), 0u);
  options.world = 3;
  EXPECT_CONTAINS(errorOf([&] { textOf(optim::sgd(), options); }), "found 4 chunks for 3 ranks");
}

} // namespace
