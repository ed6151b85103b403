//===- RankPartTest.cpp - random numbers and batch norm statistics of ranks -===//
//
// test/tools/dlc/sync-batch-norm.test and dropout-ranks.test check the results of such steps on
// ranks.
//
//===----------------------------------------------------------------------===//
#include "frontend/trace/RankPart.h"
#include "dlc/nn_layers.hpp"
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using trace::Array;
using trace::Tensor;

namespace {

using Values = std::vector<double>;

/// Returns the results of dropout of ones for each part of each rank's batch.
std::vector<std::vector<Values>> draws(int ranks, const StepOptions &options) {
  const auto parts = size_t(partsOf(options));
  trace::Graph graph = trace::traceFunction(
      [&](const std::vector<Tensor> &xs) {
        std::vector<Tensor> drawn;
        for (size_t part = 0; part < parts; ++part) {
          trace::BatchPartScope here(options, int64_t(part));
          drawn.push_back(trace::dropout(xs[0], 0.5));
        }
        return drawn;
      },
      {{"x", {64}}}, {.state = true, .training = true});
  std::vector<std::vector<Values>> found;
  for (const auto &rank :
       evaluateOnRanks(ranks, std::move(graph),
                       {Array::of({64}, std::vector<float>(64, 1)), Array::ints({}, {7})})) {
    found.emplace_back();
    for (size_t part = 0; part < parts; ++part)
      found.back().push_back(valuesOf(rank[part]));
  }
  return found;
}

TEST(RankPart, EachRankDrawsOtherNumbers) {
  const Values alone = draws(1, {})[0][0];
  for (int64_t world : {0, 3}) {
    StepOptions options{.dataParallel = true, .world = world};
    options.shardOptimizer = world > 0;
    const auto found = draws(3, options);
    EXPECT_EQ(found[0][0], alone);
    EXPECT_NE(found[1][0], alone);
    EXPECT_NE(found[2][0], alone);
    EXPECT_NE(found[1][0], found[2][0]);
  }
  const auto found = draws(2, {.microBatches = 2, .dataParallel = true});
  EXPECT_NE(found[0][0], found[0][1]);
  EXPECT_NE(found[0][1], found[1][1]);
}

TEST(RankPart, AChunkDrawsTheSameOnWhicheverRank) {
  const auto one = draws(1, {.dataParallel = true, .world = 1, .chunks = 4})[0];
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < a; ++b)
      EXPECT_NE(one[a], one[b]) << a << " and " << b;
  for (int ranks : {2, 4}) {
    const auto found = draws(ranks, {.dataParallel = true, .world = ranks, .chunks = 4});
    std::vector<Values> all;
    for (const auto &rank : found)
      all.insert(all.end(), rank.begin(), rank.end());
    EXPECT_EQ(all, one) << ranks << " ranks";
  }
}

struct Normed : nn::Module {
  BatchNorm1d norm = add("norm", BatchNorm1d(2));
  Linear out = add("out", Linear(2, 3));
  Tensor forward(Tensor x) override { return out(norm(x)); }
};

std::string textOf(const StepOptions &options) {
  return traceStep(Normed(), loss::cross_entropy, optim::sgd(),
                   {{"x", {8, 2}}, {"t", {8}, DType::I64}}, options)
      .text();
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(RankPart, BatchNormsAreOfAllRanksWhereThatIsAskedFor) {
  EXPECT_EQ(countOf(textOf({.dataParallel = true}), "dlc.over_ranks"), 0u);
  // Each micro-batch is normalized separately, chunks are normalized together.
  std::string text = textOf({.microBatches = 2, .dataParallel = true, .syncBatchNorm = true});
  EXPECT_EQ(countOf(text, "dlc.over_ranks = {layer = 0 : i64}"), 1u);
  EXPECT_EQ(countOf(text, "dlc.over_ranks = {layer = 1 : i64}"), 1u);
  text = textOf({.dataParallel = true, .syncBatchNorm = true, .world = 2, .chunks = 4});
  EXPECT_EQ(countOf(text, "dlc.over_ranks = {chunks = 4 : i64, layer = 0 : i64, ranks = 2 : i64}"),
            2u);
  EXPECT_CONTAINS(errorOf([] { textOf({.syncBatchNorm = true}); }),
                  "requires a data-parallel step");
}

TEST(RankPart, RunningVariancesAreOfAllRanksElements) {
  for (const StepOptions &options :
       {StepOptions{.dataParallel = true, .syncBatchNorm = true},
        StepOptions{.dataParallel = true, .syncBatchNorm = true, .world = 2, .chunks = 2}}) {
    Normed net;
    net.train();
    trace::Graph graph = trace::traceFunction(
        [&](const std::vector<Tensor> &xs) {
          trace::BatchPartScope here(options, 0);
          return std::vector<Tensor>{net.norm(xs[0])};
        },
        {{"x", {2, 2}}}, {.state = true, .training = true});
    // The variance of a rank's elements 0 and 2 is 1. With those of the other rank there are 4
    // elements.
    std::vector<Array> inputs = {Array::of({2, 2}, {0, 0, 2, 2})};
    for (const trace::Parameter &parameter : graph.parameters())
      inputs.push_back(parameter.value());
    const auto found = evaluateOnRanks(2, std::move(graph), inputs);
    for (const auto &rank : found)
      expectNear(rank[2], Array::of({2}, {0.9f + 0.1f * 4 / 3, 0.9f + 0.1f * 4 / 3}));
  }
}

} // namespace
