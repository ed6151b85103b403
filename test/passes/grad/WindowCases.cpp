//===- WindowCases.cpp - gradients of convolution and pooling -------------===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {
namespace {

struct Window {
  const char *name;
  Shape x, w, strides, dilations, low, high;
  int groups = 1;
  bool bias = false;
  Shape extra = {};
};

const Window convs[] = {
    {"1d", {2, 3, 7}, {4, 3, 3}, {1}, {1}, {1}, {1}},
    {"odd", {1, 3, 5, 4}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {"pointwise", {2, 4, 3, 3}, {3, 4, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"stride", {1, 3, 9, 8}, {2, 3, 5, 3}, {2, 3}, {1, 1}, {2, 0}, {1, 1}, 1, true},
    {"remainder", {1, 1, 6, 7}, {1, 1, 2, 2}, {3, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"dilated", {1, 2, 7, 8}, {2, 2, 3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
    {"groups", {2, 4, 4, 4}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2, true},
    {"depthwise", {1, 4, 5, 5}, {4, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 4},
    {"asymmetric", {1, 2, 6, 6}, {2, 2, 4, 4}, {2, 2}, {1, 1}, {0, 1}, {3, 2}},
    {"3d", {1, 2, 3, 4, 3}, {2, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"empty", {0, 3, 4, 4}, {2, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

const Window transposed[] = {
    {"1d", {2, 3, 4}, {3, 2, 3}, {2}, {1}, {1}, {1}},
    {"odd", {1, 3, 3, 4}, {3, 2, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, true},
    {"stride", {1, 2, 3, 3}, {2, 3, 3, 3}, {2, 3}, {1, 1}, {1, 1}, {1, 0}, 1, false, {1, 2}},
    {"dilated", {1, 2, 3, 3}, {2, 2, 3, 3}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
    {"groups", {1, 4, 3, 3}, {4, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 2, true},
    {"longer", {1, 2, 3, 3}, {2, 2, 2, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}, 1, false, {2, 3}},
};

void addConv(std::vector<Case> &cases, const char *op, const Window &w) {
  bool isTransposed = std::string(op) == "conv_transpose";
  Case c{.name = std::string(op) + "/" + w.name,
         .operands = {{w.x}, {w.w}},
         .second = std::string(w.name) == "stride",
         .narrow = std::string(w.name) == "groups"};
  if (w.bias)
    c.operands.push_back({{isTransposed ? w.w[1] * w.groups : w.w[0]}});
  c.attributes = "strides = " + array(w.strides) + ", dilations = " + array(w.dilations) +
                 ", low = " + array(w.low) + ", high = " + array(w.high) +
                 ", groups = " + std::to_string(w.groups) + " : i64";
  if (isTransposed)
    c.attributes += ", extra = " + array(w.extra.empty() ? Shape(w.strides.size(), 0) : w.extra);
  cases.push_back(c);
}

struct Pool {
  const char *name;
  Shape x, window, strides, dilations, low, high;
};
const Pool pools[] = {
    {"1d", {2, 3, 8}, {3}, {2}, {1}, {0}, {1}},
    {"odd", {1, 2, 5, 6}, {3, 2}, {2, 2}, {1, 1}, {1, 0}, {1, 1}},
    {"overlap", {1, 2, 6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"dilated", {1, 2, 7, 7}, {3, 3}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
    {"global", {2, 3, 4, 4}, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"large", {1, 2, 17, 17}, {17, 16}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"3d", {1, 1, 3, 4, 3}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 0, 1}},
    {"empty", {0, 3, 4, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
};

} // namespace

std::vector<Case> windowCases() {
  std::vector<Case> cases;
  for (const Window &w : convs)
    addConv(cases, "conv", w);
  for (const Window &w : transposed)
    addConv(cases, "conv_transpose", w);
  for (const Pool &p : pools) {
    std::string attributes = "window = " + array(p.window) + ", strides = " + array(p.strides) +
                             ", dilations = " + array(p.dilations) + ", low = " + array(p.low) +
                             ", high = " + array(p.high);
    int64_t count = 1;
    for (int64_t d : p.x)
      count *= d;
    bool second = std::string(p.name) == "odd";
    auto add = [&](const std::string &op, Fill fill, std::string more = "", unsigned results = 1) {
      cases.push_back({.name = op + "/" + p.name,
                       .operands = {{p.x, fill}},
                       .attributes = attributes + more,
                       .results = results,
                       .second = second});
    };
    add("max_pool", distinct(count));
    add("max_pool_indices", distinct(count), "", 2);
    std::string counted = ", counted_high = " + array(p.high);
    add("avg_pool", uniform(-2, 2), counted);
    cases.back().name = std::string("avg_pool/plain/") + p.name;
    add("avg_pool", uniform(-2, 2), counted + ", include_pad");
    cases.back().name = std::string("avg_pool/pad/") + p.name;
    add("avg_pool", uniform(-2, 2),
        ", counted_high = " + array(Shape(p.high.size(), 0)) + ", include_pad");
    cases.back().name = std::string("avg_pool/up/") + p.name;
  }
  return cases;
}

} // namespace dlc::gradtest
