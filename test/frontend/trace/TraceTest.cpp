//===- TraceTest.cpp - IR that functions are traced to, and its source locations ===//
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using namespace dlc::trace;

namespace {

TEST(Trace, NamesInputsAndResults) {
  std::string text =
      trace::trace([](Tensor a, Tensor b) { return std::pair(a + b, a * b); },
                   {{"left", {2, 3}}, {"right", {3}}}, {.outputs = {"sum", "product"}})
          .text();
  EXPECT_CONTAINS(
      text, "func.func @main(%arg0: tensor<2x3xf32> {dlc.name = \"left\"}, %arg1: tensor<3xf32> "
            "{dlc.name "
            "= \"right\"}) -> (tensor<2x3xf32> {dlc.name = \"sum\"}, tensor<2x3xf32> {dlc.name = "
            "\"product\"})");
  EXPECT_CONTAINS(text, "dlc.add");
  EXPECT_CONTAINS(text, "dlc.mul");
}

TEST(Trace, LocationsAreTheCallers) {
  unsigned line = __LINE__ + 1;
  Graph graph = trace::trace([](Tensor x) { return silu(x); }, {{"x", {4}}});
  std::string text = graph.text(true), place = "TraceTest.cpp\":" + std::to_string(line) + ":";
  // silu consists of two operations, which have the location of the call.
  size_t first = text.find(place);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("frontend/trace/ops/Elementwise.cpp"), std::string::npos) << text;
}

TEST(Trace, LocationsInModulesNameTheLayer) {
  struct Net : nn::Module {
    Linear hidden = add("hidden", Linear(4, 2));
    Tensor forward(Tensor x) override { return exp(hidden(x)); }
  };
  struct Outer : nn::Module {
    Net net = add("net", Net());
    Sequential rest = add("rest", Sequential(nn::ReLU(), Linear(2, 2)));
    Tensor forward(Tensor x) override { return rest(net(x)); }
  };
  std::string text = trace::trace(Outer(), {{"x", {1, 4}}}).text(true);
  EXPECT_CONTAINS(text, "loc(\"net.hidden\"(");
  EXPECT_CONTAINS(text, "loc(\"net\"(");
  EXPECT_CONTAINS(text, "loc(\"rest.1\"(");
  EXPECT_EQ(text.find("Layers.cpp"), std::string::npos) << text;
}

TEST(Trace, NumbersTakeTheTensorsType) {
  std::string text =
      trace::trace([](Tensor x, Tensor i) { return std::pair(2 * x + 0.5f, i % 3 == 1); },
                   {{"x", {2}, DType::BF16}, {"i", {2}, DType::U8}})
          .text();
  EXPECT_CONTAINS(text, "dense<5.000000e-01> : tensor<bf16>");
  EXPECT_CONTAINS(text, "dense<3> : tensor<ui8>");
}

TEST(Trace, Arithmetic) {
  auto results = run(
      [](Tensor a, Tensor b) {
        return std::vector<Tensor>{
            a + b,         a - b,       a * b, a / b,           -a,
            maximum(a, b), pow(a, 2.0), 1 / b, clamp(a, -1, 2), cast(a < b, DType::F32)};
      },
      {Array::of({2, 2}, {1.f, -2.f, 3.f, 4.f}), Array::of({2}, {2.f, 4.f})});
  auto values = [&](size_t i) { return valuesOf(results[i]); };
  using V = std::vector<double>;
  EXPECT_EQ(values(0), (V{3, 2, 5, 8}));
  EXPECT_EQ(values(1), (V{-1, -6, 1, 0}));
  EXPECT_EQ(values(2), (V{2, -8, 6, 16}));
  EXPECT_EQ(values(3), (V{0.5, -0.5, 1.5, 1}));
  EXPECT_EQ(values(4), (V{-1, 2, -3, -4}));
  EXPECT_EQ(values(5), (V{2, 4, 3, 4}));
  EXPECT_EQ(values(6), (V{1, 4, 9, 16}));
  EXPECT_EQ(values(7), (V{0.5, 0.25}));
  EXPECT_EQ(values(8), (V{1, -1, 2, 2}));
  EXPECT_EQ(values(9), (V{1, 1, 0, 0}));
}

TEST(Trace, IntegersAndBooleans) {
  auto results = run(
      [](Tensor a) {
        return std::vector<Tensor>{
            a % 4, fmod(a, 4), a & 3, a << 1, ~a, cast(logical_not(a > 0) | (a == 5), DType::I64)};
      },
      {Array::ints({3}, {5, -6, 7})});
  using V = std::vector<double>;
  EXPECT_EQ(valuesOf(results[0]), (V{1, 2, 3}));
  EXPECT_EQ(valuesOf(results[1]), (V{1, -2, 3}));
  EXPECT_EQ(valuesOf(results[2]), (V{1, 2, 3}));
  EXPECT_EQ(valuesOf(results[3]), (V{10, -12, 14}));
  EXPECT_EQ(valuesOf(results[4]), (V{-6, 5, -8}));
  EXPECT_EQ(valuesOf(results[5]), (V{1, 1, 0}));
}

TEST(Trace, Shapes) {
  Array x = Array::of({2, 3}, {0.f, 1.f, 2.f, 3.f, 4.f, 5.f});
  auto results = run(
      [](Tensor x) {
        EXPECT_EQ(x.dim(-1), 3);
        EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 2}));
        EXPECT_EQ(flatten(unsqueeze(x, 0), 1).shape(), (Shape{1, 6}));
        EXPECT_EQ(broadcast_to(x, {4, 2, 3}).shape(), (Shape{4, 2, 3}));
        EXPECT_EQ(stack({x, x, x}, 1).shape(), (Shape{2, 3, 3}));
        EXPECT_EQ(squeeze(narrow(x, 0, 1, 1), 0).shape(), (Shape{3}));
        EXPECT_EQ(chunk(x, 2, 1)[1].shape(), (Shape{2, 1}));
        return std::vector<Tensor>{
            transpose(x, 0, 1),    slice(x, 1, -2),           select(x, 0, -1),
            cat({x, x * 10}, -1),  pad(x, {0, 1}, {1, 0}, 9), flip(x, 1),
            slice(x, 1, 0, 99, 2), arange(3, DType::I32),     full({2}, 7, DType::F16)};
      },
      {x});
  using V = std::vector<double>;
  EXPECT_EQ(valuesOf(results[0]), (V{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(valuesOf(results[1]), (V{1, 2, 4, 5}));
  EXPECT_EQ(valuesOf(results[2]), (V{3, 4, 5}));
  EXPECT_EQ(valuesOf(results[3]), (V{0, 1, 2, 0, 10, 20, 3, 4, 5, 30, 40, 50}));
  EXPECT_EQ(valuesOf(results[4]), (V{9, 0, 1, 2, 9, 3, 4, 5, 9, 9, 9, 9}));
  EXPECT_EQ(valuesOf(results[5]), (V{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(valuesOf(results[6]), (V{0, 2, 3, 5}));
  EXPECT_EQ(valuesOf(results[7]), (V{0, 1, 2}));
  EXPECT_EQ(valuesOf(results[8]), (V{7, 7}));
}

TEST(Trace, ReductionsAndLookups) {
  Array x = Array::of({2, 3}, {3.f, 1.f, 2.f, 4.f, 6.f, 5.f}), i = Array::ints({2}, {2, 0});
  auto results = run(
      [](Tensor x, Tensor i) {
        TopK top = topk(x, 2);
        return std::vector<Tensor>{sum(x, 0),
                                   mean(x),
                                   max(x, 1, true),
                                   argmax(x, 1),
                                   cumsum(x, 1),
                                   top.values,
                                   top.indices,
                                   index_select(x, 1, i),
                                   scatter(x, 1, reshape(i, {2, 1}), full({2, 1}, 9))};
      },
      {x, i});
  using V = std::vector<double>;
  EXPECT_EQ(valuesOf(results[0]), (V{7, 7, 7}));
  EXPECT_EQ(valuesOf(results[1]), (V{3.5}));
  EXPECT_EQ(valuesOf(results[2]), (V{3, 6}));
  EXPECT_EQ(results[2].shape, (Shape{2, 1}));
  EXPECT_EQ(valuesOf(results[3]), (V{0, 1}));
  EXPECT_EQ(valuesOf(results[4]), (V{3, 4, 6, 4, 10, 15}));
  EXPECT_EQ(valuesOf(results[5]), (V{3, 2, 6, 5}));
  EXPECT_EQ(valuesOf(results[6]), (V{0, 2, 1, 2}));
  EXPECT_EQ(valuesOf(results[7]), (V{2, 3, 5, 4}));
  EXPECT_EQ(valuesOf(results[8]), (V{3, 1, 9, 9, 6, 5}));
}

TEST(Trace, BranchesAndLoops) {
  auto function = [](Tensor x) {
    Tensor y = cond(
        sum(x) > 0, [&] { return std::vector{x * 2}; }, [&] { return std::vector{-x}; })[0];
    // y, y + 0, y + 0 + 1, y + 0 + 1 + 2
    return repeat(3, {y}, [](Tensor i, std::vector<Tensor> carried) {
      return std::vector{carried[0] + cast(i, DType::F32)};
    })[0];
  };
  EXPECT_EQ(valuesOf(run(function, {Array::of({2}, {1.f, 2.f})})[0]), (std::vector<double>{5, 7}));
  EXPECT_EQ(valuesOf(run(function, {Array::of({2}, {1.f, -2.f})})[0]), (std::vector<double>{2, 5}));
}

TEST(Trace, DynamicSizesStayOpen) {
  std::string text =
      trace::trace([](Tensor x) { return relu(x) + 1; }, {{"x", {kDynamic, 3}}}).text();
  EXPECT_CONTAINS(text, "tensor<?x3xf32>");
}

TEST(Trace, LargeConstantsAreBlobs) {
  std::string text = trace::trace(
                         [](Tensor x) {
                           return x + constant(Array::zeros(DType::F32, {100}), "table") +
                                  constant(Array::of({1}, {3.f}));
                         },
                         {{"x", {100}}})
                         .text();
  EXPECT_CONTAINS(text, "dense_resource<table>");
  EXPECT_CONTAINS(text, "dense<3.000000e+00> : tensor<1xf32>");
}

} // namespace
