//===- ErrorTest.cpp - errors in operands are reported at the call --------===//
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using namespace dlc::trace;

namespace {

template <typename F> std::string messageOf(F &&function, const std::vector<Spec> &inputs) {
  return errorOf([&] { trace::trace(function, inputs); });
}

TEST(Errors, HaveThePlaceOfTheCall) {
  unsigned line = __LINE__ + 2;
  std::string text =
      messageOf([](Tensor a, Tensor b) { return a + b; }, {{"a", {2, 3}}, {"b", {4}}});
  EXPECT_CONTAINS(text, "ErrorTest.cpp:" + std::to_string(line) + ":");
  EXPECT_CONTAINS(text, "C3");
  EXPECT_CONTAINS(text, "[2, 3]");
  EXPECT_CONTAINS(text, "[4]");
}

TEST(Errors, MixedElementTypes) {
  std::string text =
      messageOf([](Tensor a, Tensor b) { return a * b; }, {{"a", {2}}, {"b", {2}, DType::F64}});
  EXPECT_CONTAINS(text, "C1");
  EXPECT_CONTAINS(text, "f32");
  EXPECT_CONTAINS(text, "f64");
  EXPECT_CONTAINS(text, "cast");
}

TEST(Errors, NumbersThatDoNotFit) {
  EXPECT_CONTAINS(messageOf([](Tensor a) { return a + 0.5; }, {{"a", {2}, DType::I32}}), "0.5");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return a + 300; }, {{"a", {2}, DType::U8}}), "300");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return a + -1; }, {{"a", {2}, DType::U8}}), "-1");
}

TEST(Errors, Shapes) {
  EXPECT_CONTAINS(messageOf(
                      [](Tensor a) {
                        return reshape(a, {4, -1});
                      },
                      {{"a", {2, 3}}}),
                  "must divide them");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return reshape(a, {7}); }, {{"a", {2, 3}}}),
                  "number of elements");
  EXPECT_CONTAINS(messageOf(
                      [](Tensor a) {
                        return reshape(a, {-1, -1});
                      },
                      {{"a", {2, 3}}}),
                  "at most one may be -1");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return softmax(a, 2); }, {{"a", {2, 3}}}), "-2 to 1");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return sum(a, {0, -2}); }, {{"a", {2, 3}}}), "distinct");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return narrow(a, 0, 1, 2); }, {{"a", {2, 3}}}),
                  "must be inside");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return matmul(a, a); }, {{"a", {2, 3}}}), "C2");
  EXPECT_CONTAINS(messageOf(
                      [](Tensor a) {
                        return permute(a, {0, 0});
                      },
                      {{"a", {2, 3}}}),
                  "distinct");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return squeeze(a, 0); }, {{"a", {2, 3}}}), "size 1");
  EXPECT_CONTAINS(messageOf([](Tensor a) { return slice(a, 0, 0, 1); }, {{"a", {kDynamic}}}),
                  "must be known");
}

TEST(Errors, LayersNameThemselves) {
  struct Net : nn::Module {
    Linear hidden = add("hidden", Linear(784, 256));
    Tensor forward(Tensor x) override { return hidden(x); }
  };
  unsigned line = __LINE__ - 2;
  std::string text = messageOf(Net(), {{"x", {1, 100}}});
  EXPECT_CONTAINS(text, "ErrorTest.cpp:" + std::to_string(line) + ":");
  EXPECT_CONTAINS(text, "784");
  EXPECT_CONTAINS(text, "(in 'hidden')");
}

TEST(Errors, TensorsDoNotOutliveTheTrace) {
  Tensor kept;
  trace::trace([&](Tensor x) { return kept = x; }, {{"x", {2}}});
  EXPECT_CONTAINS(errorOf([&] { kept.shape(); }), "has ended");
  EXPECT_CONTAINS(errorOf([&] { relu(kept); }), "has ended");
  EXPECT_CONTAINS(messageOf([&](Tensor x) { return x + kept; }, {{"x", {2}}}), "has ended");
  EXPECT_CONTAINS(messageOf([&](Tensor) { return kept; }, {{"x", {2}}}), "");
  EXPECT_CONTAINS(errorOf([] { full({2}, 1); }), "no trace is in progress");
}

TEST(Errors, TensorsOfOtherTraces) {
  std::string text;
  trace::trace(
      [&](Tensor x) {
        text = messageOf([&](Tensor y) { return x + y; }, {{"y", {2}}});
        return x;
      },
      {{"x", {2}}});
  EXPECT_CONTAINS(text, "another trace");
}

TEST(Errors, TensorsStayInTheirBranch) {
  EXPECT_CONTAINS(messageOf(
                      [](Tensor x) {
                        Tensor inner;
                        cond(
                            sum(x) > 0, [&] { return std::vector{inner = x * 2}; },
                            [&] { return std::vector{x}; });
                        return inner + 1;
                      },
                      {{"x", {2}}}),
                  "branch or loop that has ended");
  EXPECT_CONTAINS(messageOf(
                      [](Tensor x) {
                        return cond(
                            sum(x) > 0, [&] { return std::vector{x}; },
                            [&] { return std::vector{sum(x)}; });
                      },
                      {{"x", {2}}}),
                  "same types");
}

TEST(Errors, Inputs) {
  auto identity = [](Tensor x) { return x; };
  EXPECT_CONTAINS(messageOf(identity, {}), "takes 1 tensors");
  EXPECT_CONTAINS(messageOf(identity, {{"", {2}}}), "name");
  EXPECT_CONTAINS(messageOf([](Tensor a, Tensor b) { return a + b; }, {{"x", {2}}, {"x", {2}}}),
                  "name");
  EXPECT_CONTAINS(messageOf(identity, {{"x", {-5}}}), "sizes");
  EXPECT_CONTAINS(messageOf(identity, {{"x", {int64_t(1) << 40, int64_t(1) << 40}}}), "memory");
  EXPECT_CONTAINS(errorOf([&] {
                    trace::trace(identity, {{"x", {2}}}, {.outputs = {"a", "b"}});
                  }),
                  "2 names");
}

TEST(Errors, MissingTensors) {
  EXPECT_CONTAINS(messageOf([](Tensor x) { return x + Tensor(); }, {{"x", {2}}}),
                  "without a value");
  EXPECT_CONTAINS(errorOf([] { Tensor().dtype(); }), "has no value");
}

TEST(Errors, LeaveTheNextTraceAlone) {
  auto bad = [](Tensor x) { return reshape(x, {3}); };
  messageOf(bad, {{"x", {2}}});
  EXPECT_EQ(valuesOf(run([](Tensor x) { return x + 1; }, {Array::of({1}, {1.f})})[0]),
            (std::vector<double>{2}));
}

} // namespace
