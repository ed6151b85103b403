//===- WindowCases.cpp - cases of convolution and pooling -----------------------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

const std::vector<std::string> floats = {"f32", "f16", "bf16", "f64"};

std::string array(const Shape &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

struct Window {
  const char *name;
  Shape x, w, strides, dilations, low, high;
  int groups = 1;
  bool bias = false;
};

const Window convs[] = {
    {"1d", {2, 3, 11}, {4, 3, 3}, {1}, {1}, {1}, {1}},
    {"odd", {1, 3, 9, 7}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {"pointwise", {2, 16, 5, 5}, {32, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"stride", {1, 3, 15, 13}, {8, 3, 5, 3}, {2, 3}, {1, 1}, {2, 0}, {1, 1}, 1, true},
    {"dilated", {1, 4, 13, 13}, {4, 4, 3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
    {"groups", {2, 6, 8, 8}, {9, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 3, true},
    {"depthwise", {1, 16, 9, 9}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 16},
    {"multiplier", {1, 8, 9, 9}, {16, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 8},
    {"asymmetric", {1, 3, 10, 10}, {4, 3, 4, 4}, {2, 2}, {1, 1}, {0, 1}, {3, 2}},
    {"3d", {1, 2, 5, 6, 7}, {3, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"big", {1, 32, 28, 28}, {48, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {"blocks", {2, 16, 13, 9}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {"cut", {1, 48, 65, 3}, {16, 48, 3, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 0}},
    {"dot", {3, 16, 1, 1}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"five", {1, 32, 11, 10}, {16, 32, 5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"eights", {1, 24, 7, 9}, {40, 24, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {"dot5", {2, 16, 1, 1}, {32, 16, 5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"large", {1, 16, 65, 65}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"empty", {0, 3, 8, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"beyond", {1, 16, 14, 14}, {32, 16, 3, 3}, {1, 1}, {12, 24}, {12, 24}, {12, 24}, 1, true},
    {"fewresults", {2, 40, 50, 61}, {3, 40, 3, 2}, {1, 1}, {1, 2}, {1, 0}, {2, 1}, 1, true},
    {"fewresults1d", {1, 64, 700}, {1, 64, 7}, {1}, {1}, {3}, {3}},
    {"depthwise1d", {2, 24, 90}, {24, 1, 9}, {2}, {1}, {4}, {4}, 24, true},
    {"depthwise1d_apart", {1, 8, 300}, {8, 1, 3}, {1}, {64}, {64}, {64}, 8, true},
    {"depthwise1d_causal", {2, 8, 260}, {8, 1, 2}, {1}, {150}, {150}, {0}, 8},
    {"depthwise3d",
     {1, 16, 5, 19, 18},
     {16, 1, 3, 3, 3},
     {2, 1, 2},
     {1, 1, 1},
     {1, 1, 1},
     {1, 0, 1},
     16,
     true},
    {"multiplier", {2, 16, 23, 21}, {48, 1, 3, 3}, {1, 2}, {1, 1}, {1, 0}, {1, 1}, 16, true},
    {"depthwise_rows", {3, 24, 26, 40}, {24, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 24, true},
    {"depthwise_far", {2, 32, 45, 43}, {32, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}, 32},
};

const Window transposed[] = {
    {"1d", {2, 3, 7}, {3, 4, 3}, {2}, {1}, {1}, {1}},
    {"odd", {1, 3, 5, 7}, {3, 4, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, true},
    {"stride", {1, 4, 5, 5}, {4, 6, 3, 3}, {2, 3}, {1, 1}, {1, 1}, {1, 0}},
    {"dilated", {1, 2, 5, 5}, {2, 3, 3, 3}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
    {"groups", {1, 4, 5, 5}, {4, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 2, true},
    {"3d", {1, 2, 3, 4, 3}, {2, 3, 2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"blocks", {1, 32, 13, 7}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"five", {2, 16, 6, 9}, {16, 32, 5, 5}, {1, 1}, {1, 1}, {2, 1}, {2, 3}, 1, true},
    {"big", {1, 16, 14, 14}, {16, 24, 4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"vocoder", {1, 32, 40}, {32, 16, 16}, {8}, {1}, {0}, {0}, 1, true},
    {"phases", {2, 24, 9}, {24, 12, 10}, {5}, {1}, {2}, {3}},
    {"phases2d", {1, 16, 6, 5}, {16, 8, 5, 7}, {4, 5}, {1, 1}, {1, 2}, {0, 1}, 1, true},
    {"phases_groups", {1, 32, 20}, {32, 8, 8}, {4}, {1}, {2}, {2}, 2, true},
    {"phases3d", {1, 8, 3, 4, 5}, {8, 4, 4, 1, 3}, {2, 3, 4}, {1, 1, 1}, {1, 0, 0}, {1, 0, 1}},
    {"phases_alone", {1, 8, 5}, {8, 4, 2}, {3}, {1}, {0}, {0}},
};

void addConv(std::vector<Case> &cases, const char *op, const Window &w, const std::string &t,
             Fill fill) {
  bool isTransposed = std::string(op) == "conv_transpose";
  Case c{op, t + "/" + w.name, {{w.x, t, fill}, {w.w, t, fill}}, "", 1, {8, 16}};
  if (w.bias)
    c.operands.push_back(
        {{isTransposed ? w.w[1] * w.groups : w.w[0]}, isTransposed || t != "i8" ? t : "i32", fill});
  c.attributes = "strides = " + array(w.strides) + ", dilations = " + array(w.dilations) +
                 ", low = " + array(w.low) + ", high = " + array(w.high) +
                 ", groups = " + std::to_string(w.groups) + " : i64";
  if (isTransposed) {
    Shape extra(w.strides.size(), 0);
    extra.back() = w.strides.back() > 1;
    c.attributes += ", extra = " + array(extra);
  }
  cases.push_back(c);
}

/// Convolutions with fused operations. `steps` computes %r from %y with the operands %b (shape
/// [channels]) and %z (shape of %y).
struct FusedConv {
  const char *name, *steps;
};
const FusedConv fusedConvs[] = {
    {"relu", "%r = dlc.relu %y : (Y) -> Y"},
    {"add", "%r = dlc.add %y, %z : (Y, Y) -> Y"},
    {"add_relu", "%s = dlc.add %y, %z : (Y, Y) -> Y\n%r = dlc.relu %s : (Y) -> Y"},
    {"scale_shift", "%s = dlc.mul %y, %b : (Y, B) -> Y\n%t = dlc.add %s, %b : (Y, B) -> Y\n"
                    "%r = dlc.relu %t : (Y) -> Y"},
};

void addFusedConvs(std::vector<Case> &cases) {
  Fill fill{Fill::Uniform, -1, 1};
  for (const FusedConv &fused : fusedConvs)
    for (int64_t window : {3, 5})
      for (Shape size : {Shape{1, 1}, Shape{13, 11}}) {
        Shape x = {2, 16, size[0], size[1]}, y = {2, 32, size[0], size[1]}, b = {1, 32, 1, 1};
        std::string steps = fused.steps, shape = typeText(x, "f32"),
                    weights = typeText({32, 16, window, window}, "f32");
        for (auto [name, type] : {std::pair("Y", y), {"B", b}})
          for (size_t at = 0; (at = steps.find(name, at)) != std::string::npos;)
            steps.replace(at, 1, typeText(type, "f32")), at += 8;
        for (auto [name, argument] : {std::pair("%b", "%a2"), {"%z", "%a3"}})
          for (size_t at; (at = steps.find(name)) != std::string::npos;)
            steps.replace(at, 2, argument);
        Shape pads(2, window / 2);
        cases.push_back(
            {"conv",
             std::string("fused/") + fused.name + "/" + std::to_string(window) + "x" +
                 std::to_string(size[0]),
             {{x, "f32", fill},
              {{32, 16, window, window}, "f32", fill},
              {b, "f32", fill},
              {y, "f32", fill}},
             "",
             1,
             {8, 32},
             {typeText(y, "f32")},
             "%y = dlc.conv %a0, %a1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
             "low = " +
                 array(pads) + ", high = " + array(pads) + ", groups = 1 : i64} : (" + shape +
                 ", " + weights + ") -> " + typeText(y, "f32") + "\n" + steps +
                 "\nreturn %r : " + typeText(y, "f32")});
      }
}

struct Pool {
  const char *name;
  Shape x, window, strides, dilations, low, high;
};
const Pool pools[] = {
    {"1d", {2, 3, 11}, {3}, {2}, {1}, {0}, {1}},
    {"odd", {1, 3, 9, 7}, {3, 2}, {2, 2}, {1, 1}, {1, 0}, {1, 1}},
    {"overlap", {1, 16, 13, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"dilated", {1, 2, 11, 11}, {3, 3}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
    {"global", {2, 5, 7, 7}, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"3d", {1, 2, 5, 6, 7}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 0, 1}},
    {"big", {1, 64, 56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"empty", {0, 3, 8, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    // Rows of several registers: overlapping windows, adjacent windows, long windows, and windows
    // that extend into the padding.
    {"rows", {1, 2, 9, 141}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 0}},
    {"rows_apart", {1, 2, 6, 150}, {2, 3}, {2, 4}, {1, 1}, {0, 2}, {0, 1}},
    {"rows_far", {1, 2, 6, 150}, {2, 5}, {2, 5}, {1, 1}, {0, 0}, {0, 0}},
    {"rows_dilated", {1, 2, 8, 90}, {2, 7}, {1, 1}, {3, 2}, {1, 5}, {2, 6}},
    {"runs", {2, 3, 130}, {25}, {1}, {1}, {12}, {12}},
    {"runs_apart", {1, 3, 5, 120}, {2, 13}, {1, 2}, {1, 1}, {1, 6}, {0, 5}},
    {"longer_rows", {1, 2, 4, 700}, {3, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 2}},
    {"rows3d", {1, 2, 5, 6, 70}, {2, 3, 2}, {2, 1, 2}, {1, 1, 1}, {0, 1, 0}, {1, 1, 0}},
};

void addPools(std::vector<Case> &cases) {
  for (const Pool &p : pools) {
    std::string attributes = "window = " + array(p.window) + ", strides = " + array(p.strides) +
                             ", dilations = " + array(p.dilations) + ", low = " + array(p.low) +
                             ", high = " + array(p.high);
    for (const char *type : {"f32", "f16", "bf16", "f64", "i8", "ui8", "i32", "i64"}) {
      std::string t = type;
      Fill fill = isFloatName(t)      ? Fill{Fill::Uniform, -3, 3}
                  : isUnsignedName(t) ? Fill{Fill::Uniform, 0, 99}
                                      : Fill{Fill::Uniform, -99, 99};
      cases.push_back({"max_pool", t + "/" + p.name, {{p.x, t, fill}}, attributes, 1, {0, 0}});
      // oneDNN's pooling does not always propagate NaN.
      if ((t == "f32" || t == "f64") && p.x.back() > 56)
        cases.push_back({"max_pool",
                         t + "/special/" + p.name,
                         {{p.x, t, {Fill::Special}}},
                         attributes,
                         1,
                         {0, 0}});
      cases.push_back(
          {"max_pool_indices", t + "/" + p.name, {{p.x, t, fill}}, attributes, 2, {0, 0}});
    }
    cases.push_back({"max_pool_indices",
                     std::string("f32/column_major/") + p.name,
                     {{p.x, "f32"}},
                     attributes + ", column_major",
                     2,
                     {0, 0}});
    for (const std::string &t : floats) {
      cases.push_back({"avg_pool",
                       t + "/" + p.name,
                       {{p.x, t}},
                       attributes + ", counted_high = " + array(p.high),
                       1,
                       {8, 8}});
      cases.push_back({"avg_pool",
                       t + "/include_pad/" + p.name,
                       {{p.x, t}},
                       attributes + ", include_pad, counted_high = " + array(p.high),
                       1,
                       {8, 8}});
      cases.push_back(
          {"avg_pool",
           t + "/round_up/" + p.name,
           {{p.x, t}},
           attributes + ", include_pad, counted_high = " + array(Shape(p.high.size(), 0)),
           1,
           {8, 8}});
    }
  }
}

/// Returns the shape of the result: the number of window positions in each spatial dimension.
Shape pooledShape(const Shape &x, const Shape &window, const Shape &strides, const Shape &dilations,
                  const Shape &low, const Shape &high) {
  Shape y(x.begin(), x.begin() + 2);
  for (size_t d = 0; d < window.size(); ++d)
    y.push_back((x[d + 2] + low[d] + high[d] - (window[d] - 1) * dilations[d] - 1) / strides[d] +
                1);
  return y;
}

std::string spatialOf(const Shape &x) {
  return ", spatial = " + array(Shape(x.begin() + 2, x.end()));
}

/// Adds a conv_weight_grad case. The gradient is a sum over the batch and all positions whose terms
/// may cancel, so errors are relative to its largest element.
void addWeightGradient(std::vector<Case> &cases, const Window &w, const std::string &t) {
  Shape window(w.w.begin() + 2, w.w.end());
  Shape dy = pooledShape(w.x, window, w.strides, w.dilations, w.low, w.high);
  dy[1] = w.w[0];
  Fill fill{Fill::Uniform, -1, 1};
  cases.push_back({"conv_weight_grad",
                   t + "/" + w.name,
                   {{w.x, t, fill}, {dy, t, fill}},
                   "window = " + array(window) + ", strides = " + array(w.strides) +
                       ", dilations = " + array(w.dilations) + ", low = " + array(w.low) +
                       ", high = " + array(w.high) + ", groups = " + std::to_string(w.groups) +
                       " : i64",
                   1,
                   {8, 16}});
}

void addPoolGradients(std::vector<Case> &cases, const Pool &p, const std::string &t) {
  std::string attributes = "window = " + array(p.window) + ", strides = " + array(p.strides) +
                           ", dilations = " + array(p.dilations) + ", low = " + array(p.low) +
                           ", high = " + array(p.high);
  Shape dy = pooledShape(p.x, p.window, p.strides, p.dilations, p.low, p.high);
  Fill fill{Fill::Uniform, -3, 3};
  cases.push_back(
      {"max_pool_positions", t + "/" + p.name, {{p.x, t, fill}}, attributes, 2, {0, 0}});
  // Positions are in the range that max_pool_positions returns. Kernels need not handle others.
  std::string types = typeText(dy, t) + ", " + typeText(dy, "ui8");
  cases.push_back(
      {"max_pool_grad",
       t + "/" + p.name,
       {{p.x, t, fill}, {dy, t, fill}},
       "",
       1,
       {4, 4},
       {typeText(p.x, t)},
       "%y, %p = dlc.max_pool_positions %a0 {" + attributes + "} : (" + typeText(p.x, t) +
           ") -> (" + types + ")\n%dx = dlc.max_pool_grad %a1, %p {" + attributes + spatialOf(p.x) +
           "} : (" + types + ") -> " + typeText(p.x, t) + "\nreturn %dx : " + typeText(p.x, t)});
  const std::pair<const char *, std::string> counts[] = {
      {"", ", counted_high = " + array(p.high)},
      {"include_pad/", ", include_pad, counted_high = " + array(p.high)},
      {"round_up/", ", include_pad, counted_high = " + array(Shape(p.high.size(), 0))}};
  for (auto &[label, more] : counts)
    cases.push_back({"avg_pool_grad",
                     t + "/" + label + p.name,
                     {{dy, t, fill}},
                     attributes + spatialOf(p.x) + more,
                     1,
                     {8, 8}});
}

} // namespace

void addWindowCases(std::vector<Case> &cases) {
  for (const std::string &t : floats) {
    for (const Window &w : convs)
      addConv(cases, "conv", w, t, {Fill::Uniform, -1, 1});
    for (const Window &w : transposed)
      addConv(cases, "conv_transpose", w, t, {Fill::Uniform, -1, 1});
    for (const Window &w : convs)
      addWeightGradient(cases, w, t);
    for (const Pool &p : pools)
      addPoolGradients(cases, p, t);
  }
  for (const char *t : {"i32", "i8", "i64"}) {
    addConv(cases, "conv", convs[1], t, {Fill::Uniform, -3, 3});
    addConv(cases, "conv_transpose", transposed[1], t, {Fill::Uniform, -3, 3});
  }
  addFusedConvs(cases);
  addPools(cases);
}

} // namespace dlc::conformance
