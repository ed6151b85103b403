//===- LayerCases.cpp - gradients of normalization and attention ----------===//
#include "test/passes/grad/Harness.h"

#include <set>

namespace dlc::gradtest {
namespace {

std::string segments(int scale, int bias) {
  return ", operandSegmentSizes = array<i32: 1, " + std::to_string(scale) + ", " +
         std::to_string(bias) + ">";
}

void addNorms(std::vector<Case> &cases) {
  struct Row {
    const char *name;
    Shape x;
    int axis;
  };
  const Row rows[] = {{"inner", {3, 7}, 1},
                      {"outer", {4, 3}, 0},
                      {"middle", {2, 3, 4}, 1},
                      {"one", {4, 1}, 1},
                      {"empty", {0, 4}, 1}};
  const Fill positive = uniform(0.5, 2);
  for (const Row &r : rows) {
    std::string axis = "axis = " + std::to_string(r.axis) + " : i64", n = r.name;
    cases.push_back({.name = "softmax/" + n,
                     .operands = {{r.x}},
                     .attributes = axis,
                     .second = n == "inner",
                     .narrow = n == "inner"});
    cases.push_back({.name = "log_softmax/" + n,
                     .operands = {{r.x}},
                     .attributes = axis,
                     .second = n == "inner",
                     .narrow = n == "inner"});
    Shape tail(r.x.begin() + r.axis, r.x.end());
    std::string eps = axis + ", eps = 1.0e-2 : f64";
    cases.push_back(
        {.name = "layer_norm/plain/" + n, .operands = {{r.x}}, .attributes = eps + segments(0, 0)});
    cases.push_back({.name = "layer_norm/scale/" + n,
                     .operands = {{r.x}, {tail, positive}},
                     .attributes = eps + segments(1, 0)});
    cases.push_back({.name = "layer_norm/both/" + n,
                     .operands = {{r.x}, {tail, positive}, {tail}},
                     .attributes = eps + segments(1, 1),
                     .second = n == "inner",
                     .narrow = n == "inner"});
    cases.push_back({.name = "rms_norm/plain/" + n, .operands = {{r.x}}, .attributes = eps});
    cases.push_back({.name = "rms_norm/scale/" + n,
                     .operands = {{r.x}, {tail, positive}},
                     .attributes = eps,
                     .second = n == "inner",
                     .narrow = n == "inner"});
  }
  const std::pair<const char *, Shape> images[] = {
      {"2d", {5, 3}}, {"1d", {2, 3, 4}}, {"odd", {2, 5, 3, 2}}, {"one", {4, 1}}};
  for (auto &[name, shape] : images) {
    int64_t c = shape[1];
    std::string n = name;
    cases.push_back({.name = "batch_norm/" + n,
                     .operands = {{shape}, {{c}, positive}, {{c}}, {{c}}, {{c}, positive}},
                     .attributes = "eps = 1.0e-2 : f64",
                     .second = n == "1d",
                     .narrow = n == "1d"});
    cases.push_back({.name = "batch_norm_train/" + n,
                     .operands = {{shape}, {{c}, positive}, {{c}}},
                     .attributes = "eps = 1.0e-2 : f64",
                     .results = 3,
                     .second = n == "1d",
                     .narrow = n == "1d"});
    for (int64_t groups : std::set<int64_t>{1, c % 2 ? c : 2, c}) {
      std::string label = n + "/" + std::to_string(groups),
                  attributes = "groups = " + std::to_string(groups) + " : i64, eps = 1.0e-2 : f64";
      cases.push_back({.name = "group_norm/plain/" + label,
                       .operands = {{shape}},
                       .attributes = attributes + segments(0, 0)});
      cases.push_back({.name = "group_norm/both/" + label,
                       .operands = {{shape}, {{c}, positive}, {{c}}},
                       .attributes = attributes + segments(1, 1),
                       .second = n == "1d",
                       .narrow = n == "1d"});
    }
    for (int size : {1, 2, 3})
      cases.push_back({.name = "lrn/" + n + "/" + std::to_string(size),
                       .operands = {{shape}},
                       .attributes = "size = " + std::to_string(size) +
                                     " : i64, alpha = 0.3 : f64, beta = 0.75 : f64, k = 1.5 : f64",
                       .second = size == 2});
  }
}

void addAttention(std::vector<Case> &cases) {
  // With `whole`, attention is one fused operation as on a GPU, which stores the log-sum-exp
  // instead of the scores.
  auto attention = [&](const char *name, const std::vector<Operand> &operands, bool causal = false,
                       bool second = false) {
    for (bool whole : {false, true})
      cases.push_back({.name = std::string("attention/") + name + (whole ? "/whole" : ""),
                       .operands = operands,
                       .attributes = std::string("scale = 0.6 : f64") + (causal ? ", causal" : "") +
                                     (whole ? ", dlc.device = \"cuda:0\"" : ""),
                       .second = second,
                       .narrow = second});
  };
  Operand q{{2, 3, 4}}, k{{2, 5, 4}}, v{{2, 5, 3}};
  attention("plain", {q, k, v}, false, true);
  attention("causal", {q, k, v}, true);
  attention("heads", {{{2, 2, 3, 4}}, {{2, 2, 3, 4}}, {{2, 2, 3, 4}}}, true);
  attention("mask", {q, k, v, {{3, 5}, {}, "i1"}});
  attention("hidden_rows", {q, k, v, {{3, 5}, {Fill::HiddenRows}, "i1"}});
  attention("bias", {q, k, v, {{2, 1, 5}}});
}

} // namespace

std::vector<Case> layerCases() {
  std::vector<Case> cases;
  addNorms(cases);
  addAttention(cases);
  return cases;
}

} // namespace dlc::gradtest
