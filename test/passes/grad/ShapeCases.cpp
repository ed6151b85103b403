//===- ShapeCases.cpp - gradients of data movement, reductions and matmuls ===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {
namespace {

std::string list(const char *name, const Shape &values) { return name + (" = " + array(values)); }

void addMovements(std::vector<Case> &cases) {
  auto slice = [&](const char *name, Shape x, Shape start, Shape size, Shape stride) {
    cases.push_back({.name = std::string("slice/") + name,
                     .operands = {{x}},
                     .attributes = list("start", start) + ", " + list("size", size) + ", " +
                                   list("stride", stride)});
  };
  slice("part", {4, 6}, {1, 2}, {2, 3}, {1, 1});
  slice("strided", {7, 9}, {1, 0}, {3, 4}, {2, 2});
  slice("reversed", {5, 7}, {4, 6}, {5, 3}, {-1, -3});
  slice("one", {5, 7}, {4, 0}, {1, 1}, {3, 2});
  slice("none", {5, 7}, {0, 0}, {0, 7}, {1, 1});
  auto pad = [&](const char *name, int mode, Shape x, Shape low, Shape high) {
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    cases.push_back({.name = std::string("pad/") + modes[mode] + "/" + name,
                     .operands = {{x}, {{}}},
                     .attributes = std::string("mode = #dlc<pad_mode ") + modes[mode] + ">, " +
                                   list("low", low) + ", " + list("high", high)});
  };
  pad("plain", 0, {3, 4}, {1, 0}, {2, 3});
  pad("cropped", 0, {5, 6}, {-1, 2}, {1, -2});
  pad("empty", 0, {0, 2}, {1, 1}, {1, 0});
  for (int mode : {1, 2, 3})
    pad("both", mode, {4, 5}, {2, 1}, {3, 4});
  cases.push_back({.name = "reshape", .operands = {{{4, 6}}}, .resultTypes = {"tensor<3x8xFF>"}});
  cases.push_back({.name = "transpose",
                   .operands = {{{2, 3, 4}}},
                   .attributes = list("permutation", {1, 2, 0})});
  cases.push_back(
      {.name = "broadcast", .operands = {{{3, 1}}}, .resultTypes = {"tensor<2x3x4xFF>"}});
  cases.push_back(
      {.name = "broadcast/scalar", .operands = {{{}}}, .resultTypes = {"tensor<2x3xFF>"}});
  cases.push_back({.name = "concat",
                   .operands = {{{2, 3}}, {{2, 1}}, {{2, 0}}, {{2, 4}}},
                   .attributes = "axis = 1 : i64"});
  cases.push_back(
      {.name = "concat/same", .operands = {{{2, 3}}}, .resultTypes = {"tensor<2x6xFF>"}, .body = R"(
    %y = dlc.concat 1 (%a0, %a0) : (tensor<2x3xFF>, tensor<2x3xFF>) -> tensor<2x6xFF>
    return %y : tensor<2x6xFF>)"});
  // Adjacent parts, and overlapping parts.
  cases.push_back({.name = "slices/split",
                   .operands = {{{2, 6}}},
                   .resultTypes = {"tensor<2x3xFF>"},
                   .body = R"(
    %p = dlc.slice %a0 start [0, 0] size [2, 3] stride [1, 1] : (tensor<2x6xFF>) -> tensor<2x3xFF>
    %q = dlc.slice %a0 start [0, 3] size [2, 3] stride [1, 1] : (tensor<2x6xFF>) -> tensor<2x3xFF>
    %y = dlc.mul %p, %q : (tensor<2x3xFF>, tensor<2x3xFF>) -> tensor<2x3xFF>
    return %y : tensor<2x3xFF>)"});
  cases.push_back({.name = "slices/overlap",
                   .operands = {{{2, 6}}},
                   .resultTypes = {"tensor<2x4xFF>"},
                   .body = R"(
    %p = dlc.slice %a0 start [0, 0] size [2, 4] stride [1, 1] : (tensor<2x6xFF>) -> tensor<2x4xFF>
    %q = dlc.slice %a0 start [0, 2] size [2, 4] stride [1, 1] : (tensor<2x6xFF>) -> tensor<2x4xFF>
    %y = dlc.mul %p, %q : (tensor<2x4xFF>, tensor<2x4xFF>) -> tensor<2x4xFF>
    return %y : tensor<2x4xFF>)"});
}

void addReductions(std::vector<Case> &cases) {
  struct Axes {
    const char *name;
    Shape x, axes;
    bool keep = false;
  };
  const Axes shapes[] = {{"inner", {3, 5}, {1}},        {"outer", {3, 5}, {0}, true},
                         {"all", {2, 3, 2}, {0, 1, 2}}, {"two", {2, 3, 4}, {0, 2}},
                         {"ones", {3, 1}, {1}},         {"empty", {0, 3}, {0}}};
  const char *const kinds[] = {"sum", "mean", "max", "min", "prod"};
  for (int kind = 0; kind < 5; ++kind)
    for (const Axes &s : shapes) {
      if (kind == 1 && std::string(s.name) == "empty")
        continue; // the mean of zero elements is NaN
      cases.push_back({.name = std::string("reduce/") + kinds[kind] + "/" + s.name,
                       .operands = {{s.x, kind == 4   ? uniform(0.5, 1.5)
                                          : kind >= 2 ? distinct(24)
                                                      : uniform(-2, 2)}},
                       .attributes = std::string("kind = #dlc<reduce_kind ") + kinds[kind] + ">, " +
                                     list("axes", s.axes) + (s.keep ? ", keepdims" : ""),
                       .second = kind == 4});
    }
  // One factor is zero, and the largest element occurs twice.
  cases.push_back({.name = "reduce/prod/zero",
                   .operands = {{{2, 4}, uniform(0, 1), "i32"}, {{2, 4}}},
                   .resultTypes = {"tensor<2xFF>"},
                   .body = R"(
    %m = dlc.cast %a0 to FF : (tensor<2x4xi32>) -> tensor<2x4xFF>
    %x = dlc.mul %a1, %m : (tensor<2x4xFF>, tensor<2x4xFF>) -> tensor<2x4xFF>
    %y = dlc.reduce prod %x axes [1] : (tensor<2x4xFF>) -> tensor<2xFF>
    return %y : tensor<2xFF>)"});
  for (const char *exclusive : {"", ", exclusive"})
    for (const char *reverse : {"", ", reverse"})
      for (int kind : {0, 4})
        cases.push_back({.name = std::string("cumulative/") + kinds[kind] + exclusive + reverse,
                         .operands = {{{3, 5}, uniform(0.5, 1.5)}},
                         .attributes = std::string("axis = 1 : i64, kind = #dlc<reduce_kind ") +
                                       kinds[kind] + ">" + exclusive + reverse});
  for (const char *largest : {"true", "false"})
    cases.push_back({.name = std::string("topk/") + largest,
                     .operands = {{{4, 6}, distinct(24)}},
                     .attributes = std::string("k = 3 : i64, axis = 1 : i64, largest = ") + largest,
                     .results = 2});
}

void addProducts(std::vector<Case> &cases) {
  struct Matrices {
    const char *name;
    Shape a, b; // shapes without transposes
  };
  const Matrices shapes[] = {
      {"2d", {3, 4}, {4, 5}},        {"batch", {2, 3, 4}, {2, 4, 5}},
      {"linear", {2, 3, 4}, {4, 5}}, {"linear4d", {2, 2, 3, 4}, {1, 1, 4, 5}},
      {"left", {3, 4}, {2, 4, 5}},   {"stretched", {2, 1, 3, 4}, {3, 4, 2}},
      {"ones", {1, 1}, {1, 1}},      {"empty", {0, 4}, {4, 2}}};
  for (const Matrices &m : shapes)
    for (int flags = 0; flags < 4; ++flags) {
      Shape a = m.a, b = m.b;
      if (flags & 1)
        std::swap(a[a.size() - 2], a.back());
      if (flags & 2)
        std::swap(b[b.size() - 2], b.back());
      std::string attributes = flags & 1 ? "transpose_a" : "";
      attributes += flags == 3 ? ", " : "";
      attributes += flags & 2 ? "transpose_b" : "";
      cases.push_back({.name = std::string("matmul/") + m.name + "/" + (flags & 1 ? "t" : "n") +
                               (flags & 2 ? "t" : "n"),
                       .operands = {{a}, {b}},
                       .attributes = attributes,
                       .second = std::string(m.name) == "linear",
                       .narrow = std::string(m.name) == "linear"});
    }
  const Fill ends = {Fill::Uniform, 0, 7};
  for (const char *transposed : {"", "transpose_b"})
    cases.push_back({.name = std::string("grouped_matmul/") + (*transposed ? "t" : "n"),
                     .operands = {{{6, 4}},
                                  {*transposed ? Shape{3, 5, 4} : Shape{3, 4, 5}},
                                  {{3}, ends, "i32"}},
                     .attributes = transposed,
                     .second = true,
                     .narrow = true});
  cases.push_back({.name = "grouped_weight_grad/plain",
                   .operands = {{{6, 4}}, {{6, 5}}, {{3}, ends, "i64"}},
                   .second = true,
                   .narrow = true});
}

} // namespace

std::vector<Case> shapeCases() {
  std::vector<Case> cases;
  addMovements(cases);
  addReductions(cases);
  addProducts(cases);
  return cases;
}

} // namespace dlc::gradtest
