//===- ElementwiseCases.cpp - gradients of elementwise operations ---------===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {

std::vector<Case> elementwiseCases() {
  const Fill away = distinct(15), positive = uniform(0.5, 2), inside = uniform(-0.8, 0.8);
  const Fill small = uniform(-1, 1), wide = uniform(-3, 3);
  std::vector<Case> cases;
  auto unary = [&](const std::string &name, Fill fill, bool second = false) {
    for (const Shape &shape : {Shape{3, 5}, Shape{}, Shape{0, 3}})
      cases.push_back({.name = name + "/" + conformance::typeText(shape, "f"),
                       .operands = {{shape, fill}},
                       .second = second});
  };
  unary("abs", away);
  unary("neg", wide);
  unary("sign", away);
  unary("floor", away);
  unary("exp", small, true);
  unary("expm1", small);
  unary("log", positive, true);
  unary("log1p", positive);
  unary("sqrt", positive);
  unary("rsqrt", positive, true);
  unary("sin", wide);
  unary("cos", wide);
  unary("tan", inside);
  unary("asin", inside);
  unary("acos", inside);
  unary("atan", wide);
  unary("sinh", small);
  unary("cosh", small);
  unary("tanh", wide, true);
  unary("asinh", wide);
  unary("acosh", uniform(1.5, 3));
  unary("atanh", inside);
  unary("erf", wide);
  unary("erfc", wide, true);
  unary("erfinv", inside, true);
  unary("sigmoid", wide, true);
  unary("relu", away);
  unary("gelu", wide, true);
  cases.push_back({.name = "gelu/tanh",
                   .operands = {{{3, 5}, wide}},
                   .attributes = "approximate",
                   .second = true});

  struct Shapes {
    const char *name;
    Shape a, b;
  };
  const Shapes shapes[] = {{"same", {3, 5}, {3, 5}},   {"row", {3, 5}, {5}},
                           {"column", {3, 5}, {3, 1}}, {"both", {3, 1}, {1, 5}},
                           {"scalar", {}, {2, 3}},     {"ones", {1, 1}, {2, 1, 3}},
                           {"empty", {0, 3}, {3}}};
  for (const Shapes &s : shapes) {
    auto binary = [&](const std::string &name, Fill a, Fill b, std::string attributes = "",
                      bool second = false) {
      cases.push_back({.name = name + "/" + s.name,
                       .operands = {{s.a, a}, {s.b, b}},
                       .attributes = attributes,
                       .second = second});
    };
    binary("add", wide, wide);
    binary("sub", wide, wide);
    binary("mul", wide, wide, "", true);
    binary("div", wide, positive, "", true);
    binary("pow", positive, wide, "", true);
    binary("atan2", wide, positive, "", true);
    binary("max", distinct(15), uniform(-0.2, 0.2));
    binary("min", distinct(15), uniform(-0.2, 0.2));
    // The quotient stays strictly between two integers, where the gradient is continuous.
    binary("rem", uniform(4.2, 4.8), uniform(1.7, 1.9));
    cases.push_back(
        {.name = std::string("select/") + s.name, .operands = {{s.b, {}, "i1"}, {s.a}, {s.b}}});
  }
  cases.push_back({.name = "rem/truncated",
                   .operands = {{{3, 5}, uniform(-4.8, -4.2)}, {{5}, uniform(1.7, 1.9)}},
                   .attributes = "truncated"});
  cases.push_back({.name = "pow/constant",
                   .operands = {{{3, 5}, wide}},
                   .resultTypes = {"tensor<3x5xFF>"},
                   .body = R"(
    %two = dlc.constant dense<3.0> : tensor<FF>
    %y = "dlc.pow"(%a0, %two) : (tensor<3x5xFF>, tensor<FF>) -> tensor<3x5xFF>
    return %y : tensor<3x5xFF>)"});
  cases.push_back(
      {.name = "pow/integer", .operands = {{{3, 5}, wide}, {{5}, uniform(1, 3), "i32"}}});
  // Norms and standard deviations of rows, where one row is always 0.
  for (const char *reduction : {"sum", "mean"})
    cases.push_back({.name = std::string("sqrt/of squares, ") + reduction,
                     .operands = {{{3, 5}, wide}},
                     .resultTypes = {"tensor<3xFF>"},
                     .body = R"(
    %rows = dlc.constant dense<[[1.0], [0.0], [2.0]]> : tensor<3x1xFF>
    %x = dlc.mul %a0, %rows : (tensor<3x5xFF>, tensor<3x1xFF>) -> tensor<3x5xFF>
    %square = dlc.mul %x, %x : (tensor<3x5xFF>, tensor<3x5xFF>) -> tensor<3x5xFF>
    %sum = dlc.reduce )" + std::string(reduction) +
                             R"( %square axes [1] : (tensor<3x5xFF>) -> tensor<3xFF>
    %y = dlc.sqrt %sum : (tensor<3xFF>) -> tensor<3xFF>
    return %y : tensor<3xFF>)"});
  cases.push_back({.name = "cast/narrow",
                   .operands = {{{3, 5}, wide}},
                   .resultTypes = {"tensor<3x5xFF>"},
                   .body = R"(
    %w = dlc.cast %a0 to f64 : (tensor<3x5xFF>) -> tensor<3x5xf64>
    %s = dlc.mul %w, %w : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %y = dlc.cast %s to FF : (tensor<3x5xf64>) -> tensor<3x5xFF>
    return %y : tensor<3x5xFF>)"});
  // A value with three uses, one of which is not differentiable, and an unused result.
  cases.push_back({.name = "uses",
                   .operands = {{{4}, wide}, {{4}, uniform(0, 3), "i32"}, {{4}, wide}},
                   .resultTypes = {"tensor<4xFF>", "tensor<4xFF>"},
                   .body = R"(
    %s = dlc.sin %a0 : (tensor<4xFF>) -> tensor<4xFF>
    %unused = dlc.exp %s : (tensor<4xFF>) -> tensor<4xFF>
    %i = dlc.cast %s to i32 : (tensor<4xFF>) -> tensor<4xi32>
    %j = dlc.add %i, %a1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %k = dlc.cast %j to FF : (tensor<4xi32>) -> tensor<4xFF>
    %m = dlc.mul %s, %k : (tensor<4xFF>, tensor<4xFF>) -> tensor<4xFF>
    %y = dlc.add %m, %s : (tensor<4xFF>, tensor<4xFF>) -> tensor<4xFF>
    return %y, %s : tensor<4xFF>, tensor<4xFF>)"});
  return cases;
}

} // namespace dlc::gradtest
