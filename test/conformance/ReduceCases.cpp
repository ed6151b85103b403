//===- ReduceCases.cpp - reductions, searches and running sums ------------------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

const std::vector<std::string> types = {"f32", "f16", "bf16", "f64", "i8", "ui8", "i32", "i64"};

Fill smallFill(const std::string &type, const std::string &kind) {
  if (kind == "prod")
    return isFloatName(type) ? Fill{Fill::Uniform, 0.8, 1.2} : Fill{Fill::Uniform, 1, 2};
  return isUnsignedName(type) ? Fill{Fill::Uniform, 0, 9} : Fill{Fill::Uniform, -5, 5};
}

std::string array(const Shape &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

struct Axes {
  const char *name;
  Shape shape, axes;
  bool keep;
};
const Axes reductions[] = {{"1d", {17}, {0}, false},
                           {"inner", {5, 37}, {1}, false},
                           {"inner_keep", {5, 37}, {1}, true},
                           {"outer", {7, 19}, {0}, false},
                           {"middle", {3, 5, 17}, {1}, true},
                           {"two", {3, 5, 17}, {0, 2}, false},
                           {"all", {3, 5, 17}, {0, 1, 2}, false},
                           {"none", {3, 5}, {}, false},
                           {"big", {67, 1031}, {1}, false},
                           {"rank5", {2, 3, 2, 3, 5}, {1, 3, 4}, true},
                           {"empty", {3, 0}, {1}, false},
                           {"nothing", {0, 4}, {1}, false}};

void addReduces(std::vector<Case> &cases) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"}) {
    for (const std::string &t : types) {
      for (const Axes &r : reductions) {
        std::string name = r.name, k = kind;
        // Neither a mean nor an extremum of nothing has a value that all agree on.
        if (name == "empty" && k != "sum" && k != "prod")
          continue;
        if (k == "prod" && !isFloatName(t) && name == "big")
          continue;
        double terms = 1;
        for (int64_t a : r.axes)
          terms *= double(r.shape[a]);
        Tolerance tolerance{4, k == "max" || k == "min" ? 0
                               : k == "prod"            ? terms / 4 + 2
                                                        : terms / 16 + 4};
        cases.push_back({"reduce",
                         t + "/" + k + "/" + name,
                         {{r.shape, t, smallFill(t, k)}},
                         "kind = #dlc<reduce_kind " + k + ">, axes = " + array(r.axes) +
                             (r.keep ? ", keepdims" : ""),
                         1,
                         tolerance});
      }
    }
  }
}

void addSearches(std::vector<Case> &cases) {
  struct {
    const char *name;
    Shape shape;
    int axis;
  } shapes[] = {{"1d", {17}, 0},        {"inner", {5, 37}, 1},         {"outer", {7, 19}, 0},
                {"big", {67, 1031}, 1}, {"rank5", {2, 3, 4, 3, 5}, 2}, {"nothing", {0, 4}, 1}};
  for (const std::string &t : types) {
    // Few distinct values, so that there are ties.
    Fill ties = isFloatName(t) ? Fill{Fill::Uniform, -3, 3} : smallFill(t, "max");
    for (auto &s : shapes) {
      std::string axis = "axis = " + std::to_string(s.axis) + " : i64";
      for (const char *kind : {"max", "min"})
        for (const char *flags : {"", ", keepdims", ", last"})
          cases.push_back({"arg_reduce",
                           t + "/" + kind + "/" + s.name + flags,
                           {{s.shape, t, ties}},
                           "kind = #dlc<reduce_kind " + std::string(kind) + ">, " + axis + flags});
      for (const char *flags : {"", ", exclusive", ", reverse", ", exclusive, reverse"})
        cases.push_back({"cumulative",
                         t + "/sum/" + s.name + flags,
                         {{s.shape, t, smallFill(t, "sum")}},
                         "kind = #dlc<reduce_kind sum>, " + axis + flags,
                         1,
                         {4, double(s.shape[s.axis]) / 8 + 4}});
      if (isFloatName(t))
        cases.push_back({"cumulative",
                         t + "/prod/" + s.name,
                         {{s.shape, t, {Fill::Uniform, 0.9, 1.1}}},
                         "kind = #dlc<reduce_kind prod>, " + axis,
                         1,
                         {4, double(s.shape[s.axis]) + 4}});
      if (s.shape[0] == 0)
        continue;
      for (const char *flags : {"", ", largest = false"})
        for (int k : {0, 1, 3})
          cases.push_back({"topk",
                           t + "/" + s.name + "/" + std::to_string(k) + flags,
                           {{s.shape, t, ties}},
                           "k = " + std::to_string(k) + " : i64, " + axis + flags,
                           2});
    }
  }
}

} // namespace

void addReduceCases(std::vector<Case> &cases) {
  addReduces(cases);
  addSearches(cases);
}

} // namespace dlc::conformance
