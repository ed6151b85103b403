//===- NormCases.cpp - cases of softmax and normalization operations ------------===//
#include "test/conformance/Case.h"

#include <set>

namespace dlc::conformance {
namespace {

struct Row {
  const char *name;
  Shape shape;
  int axis;
};
const Row rows[] = {
    {"1d", {17}, 0},           {"inner", {5, 37}, 1},  {"outer", {7, 19}, 0},
    {"middle", {3, 5, 17}, 1}, {"big", {67, 1031}, 1}, {"rank5", {2, 3, 2, 3, 5}, 3},
    {"one", {4, 1}, 1},        {"empty", {0, 4}, 1},   {"long", {2, 40003}, 1}};

std::string axis(int n) { return "axis = " + std::to_string(n) + " : i64"; }

} // namespace

void addNormCases(std::vector<Case> &cases) {
  // Elements far from zero: the variance must not be computed as the difference of the mean of
  // squares and the squared mean.
  cases.push_back({"batch_norm_train",
                   "f32/far",
                   {{{4, 3, 16, 16}, "f32", {Fill::Uniform, 1000, 1001}},
                    {{3}, "f32", {Fill::Uniform, 0.5, 2}},
                    {{3}, "f32"}},
                   "eps = 1.0e-5 : f64",
                   3,
                   // The mean is rounded to 1e-4 of a standard deviation.
                   {8, 600}});
  for (const char *type : {"f32", "f16", "bf16", "f64"}) {
    std::string t = type;
    Fill wide{Fill::Uniform, -8, 8}, unit{Fill::Uniform, -1, 1}, positive{Fill::Uniform, 0.5, 2};
    for (const Row &r : rows) {
      std::string label = t + "/" + r.name;
      // The reference adds the terms of a row sequentially, so its own error grows with the row's
      // length.
      double ulps = t == "f64" && r.shape.back() > 10000 ? 64 : 16;
      cases.push_back({"softmax", label, {{r.shape, t, wide}}, axis(r.axis), 1, {ulps, 1}});
      cases.push_back({"log_softmax", label, {{r.shape, t, wide}}, axis(r.axis), 1, {8, 4}});
      Shape tail(r.shape.begin() + r.axis, r.shape.end());
      std::string eps = ", eps = 1.0e-5 : f64";
      Operand x{r.shape, t, wide}, scale{tail, t, positive}, bias{tail, t, unit};
      cases.push_back({"layer_norm",
                       label + "/plain",
                       {x},
                       axis(r.axis) + eps + ", operandSegmentSizes = array<i32: 1, 0, 0>",
                       1,
                       {8, 8}});
      cases.push_back({"layer_norm",
                       label + "/scale",
                       {x, scale},
                       axis(r.axis) + eps + ", operandSegmentSizes = array<i32: 1, 1, 0>",
                       1,
                       {8, 8}});
      cases.push_back({"layer_norm",
                       label + "/both",
                       {x, scale, bias},
                       axis(r.axis) + eps + ", operandSegmentSizes = array<i32: 1, 1, 1>",
                       1,
                       {8, 8}});
      cases.push_back({"rms_norm", label + "/plain", {x}, axis(r.axis) + eps, 1, {8, 4}});
      cases.push_back({"rms_norm", label + "/scale", {x, scale}, axis(r.axis) + eps, 1, {8, 4}});
    }
    const std::pair<const char *, Shape> images[] = {
        {"2d", {5, 7}},           {"1d", {2, 3, 11}},         {"odd", {2, 5, 9, 7}},
        {"big", {2, 64, 28, 28}}, {"rank5", {2, 3, 2, 3, 5}}, {"empty", {0, 3, 4, 4}}};
    for (auto &[name, shape] : images) {
      Operand c{{shape[1]}, t, positive};
      cases.push_back({"batch_norm",
                       t + "/" + name,
                       {{shape, t, wide}, c, {{shape[1]}, t, unit}, {{shape[1]}, t, unit}, c},
                       "eps = 1.0e-5 : f64",
                       1,
                       {8, 8}});
      for (int64_t groups : std::set<int64_t>{1, shape[1] % 2 ? shape[1] : 2, shape[1]}) {
        Operand x{shape, t, {Fill::Uniform, -4, 12}}, bias{{shape[1]}, t, unit};
        std::string label = t + "/" + name + "/" + std::to_string(groups),
                    attributes =
                        "groups = " + std::to_string(groups) + " : i64, eps = 1.0e-5 : f64";
        cases.push_back({"group_norm",
                         label + "/plain",
                         {x},
                         attributes + ", operandSegmentSizes = array<i32: 1, 0, 0>",
                         1,
                         {16, 16}});
        cases.push_back({"group_norm",
                         label + "/both",
                         {x, c, bias},
                         attributes + ", operandSegmentSizes = array<i32: 1, 1, 1>",
                         1,
                         {16, 16}});
      }
      // The statistics may have a wider type than x.
      for (const std::string &s : t == "f32" || t == "f64" ? std::vector<std::string>{t}
                                                           : std::vector<std::string>{t, "f32"}) {
        Operand scale{{shape[1]}, s, positive}, bias{{shape[1]}, s, unit};
        std::string label = t + "/" + (s == t ? "" : s + "/") + name;
        // The operation requires at least one element in each channel.
        if (shape[0] > 0)
          cases.push_back({"batch_norm_train",
                           label,
                           // The range avoids means near zero, whose relative error would be
                           // limited by the precision of x.
                           {{shape, t, {Fill::Uniform, -4, 12}}, scale, bias},
                           "eps = 1.0e-5 : f64",
                           3,
                           {8, 8}});
        cases.push_back({"batch_norm_grad",
                         label,
                         {{shape, t, unit}, {shape, t, unit}, scale, bias, scale},
                         "eps = 1.0e-5 : f64",
                         3,
                         {16, 16}});
      }
      for (int size : {1, 3, 4})
        cases.push_back({"lrn",
                         t + "/" + name + "/" + std::to_string(size),
                         {{shape, t, unit}},
                         "size = " + std::to_string(size) +
                             " : i64, alpha = 0.1 : f64, beta = 0.75 : f64, k = 1.5 : f64",
                         1,
                         {16, 4}});
    }
  }
}

} // namespace dlc::conformance
