//===- ReduceCases.cpp - cases of reductions, searches and cumulative sums ------===//
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
        // The mean and extremum of zero elements are not defined consistently.
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

/// Reductions that are large enough to be split into units of work: rows that are not contiguous in
/// memory, and a few long rows.
const Axes cutReductions[] = {{"cut_rows", {5000, 16}, {0}, false},
                              {"cut_tail", {1100, 37}, {0}, false},
                              {"cut_ten", {4099, 10}, {0}, false},
                              {"cut_wide", {70, 1300}, {0}, false},
                              {"cut_wide_long", {1030, 1100}, {0}, true},
                              {"cut_all", {40001}, {0}, false},
                              {"cut_long_runs", {300007, 5}, {0}, false},
                              {"cut_few", {3, 40000}, {1}, false},
                              {"cut_channels", {70, 5, 49}, {0, 2}, false},
                              {"cut_channels_long", {2, 3, 20001}, {0, 2}, true},
                              {"cut_blocks", {3, 2, 700, 16}, {0, 2}, false},
                              {"cut_small_blocks", {150, 2, 9, 16}, {0, 2}, false},
                              {"cut_middle", {5, 600, 40}, {1}, false}};

void addCutReduces(std::vector<Case> &cases) {
  for (const char *kind : {"sum", "mean", "max", "min"})
    for (const char *type : {"f32", "bf16", "f64", "i32"})
      for (const Axes &r : cutReductions)
        for (bool special : {false, true}) {
          bool extremum = std::string(kind) == "max" || std::string(kind) == "min";
          if (special && (std::string(type) != "f32" || !extremum))
            continue;
          Fill fill{Fill::Uniform, 0, std::string(type) == "i32" ? 9.0 : 1.0};
          if (special)
            fill = {Fill::Special};
          cases.push_back(
              {"reduce",
               std::string(type) + "/" + kind + "/" + r.name + (special ? "/special" : ""),
               {{r.shape, type, fill}},
               "kind = #dlc<reduce_kind " + std::string(kind) + ">, axes = " + array(r.axes) +
                   (r.keep ? ", keepdims" : ""),
               1,
               // In f64 the reference itself has rounding errors in its long sums.
               {extremum                     ? 0.0
                : std::string(type) == "f64" ? 256.0
                                             : 8.0,
                0}});
        }
  // A million equal terms, whose rounding errors do not cancel. The result must be within 1e-6.
  for (const Shape &shape : {Shape{1000000}, Shape{100000, 10}, Shape{4, 250000}, Shape{40, 25000}})
    for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
      cases.push_back({"reduce",
                       "f32/sum/long/" + std::to_string(shape[0]) + "/" + std::to_string(axis),
                       {{shape, "f32", {Fill::Uniform, 0.1, 0.1}}},
                       "kind = #dlc<reduce_kind sum>, axes = " + array({axis}),
                       1,
                       {8, 0}});
}

/// Adds several reductions of the same operands, where the reduced value is a result, too, and
/// operations follow the reductions.
void addSharedReduces(std::vector<Case> &cases) {
  struct {
    const char *name, *shape, *axes, *kept;
    Shape operand;
  } shapes[] = {{"rows", "3000x24", "0", "1x24", {3000, 24}},
                {"wide", "40x1030", "0", "1x1030", {40, 1030}},
                {"channels", "60x4x49", "0, 2", "1x4x1", {60, 4, 49}},
                {"few", "2x40000", "1", "2x1", {2, 40000}},
                {"inner", "200x300", "1", "200x1", {200, 300}}};
  for (auto &s : shapes) {
    std::string t = "tensor<" + std::string(s.shape) + "xf32>",
                r = "tensor<" + std::string(s.kept) + "xf32>";
    auto reduce = [&](const char *to, const char *kind, const char *x) {
      return "%" + std::string(to) + " = dlc.reduce " + kind + " %" + x + " axes [" + s.axes +
             "] keepdims : (" + t + ") -> " + r + "\n";
    };
    Case c{"reduce", "shared/" + std::string(s.name), {{s.operand}, {s.operand}}};
    c.body = "%g = dlc.mul %a0, %a1 : (" + t + ", " + t + ") -> " + t + "\n" +
             reduce("a", "sum", "a0") + reduce("b", "mean", "g") + reduce("c", "max", "a1") +
             "%d = dlc.add %b, %c : (" + r + ", " + r + ") -> " + r + "\nreturn %g, %a, %d : " + t +
             ", " + r + ", " + r;
    c.resultTypes = {t, r, r};
    c.results = 3;
    c.tolerance = {16, 64};
    cases.push_back(c);
  }
}

/// Adds reductions over rows and other dimensions of a product with a broadcast factor, which
/// prevents merging these dimensions.
void addReducesOfRows(std::vector<Case> &cases) {
  struct {
    const char *name;
    Shape factor, operand, kept;
    const char *axes;
  } shapes[] = {{"weights", {1, 12, 1}, {5, 12, 9}, {5, 1, 1}, "1, 2"},
                {"vectors", {1, 7, 1, 67}, {3, 7, 2, 67}, {3, 1, 1, 1}, "1, 2, 3"},
                {"one", {6, 1}, {6, 33}, {1, 1}, "0, 1"},
                {"elements", {2, 5, 1}, {2, 5, 3}, {2, 1, 1}, "1, 2"}};
  for (auto &s : shapes) {
    std::string f = typeText(s.factor, "f32"), t = typeText(s.operand, "f32"),
                r = typeText(s.kept, "f32");
    Case c{"reduce", "rows/" + std::string(s.name), {{s.factor}, {s.operand}}};
    c.body = "%m = dlc.mul %a0, %a1 : (" + f + ", " + t + ") -> " + t + "\n" +
             "%q = dlc.mul %m, %m : (" + t + ", " + t + ") -> " + t + "\n" +
             "%s = dlc.reduce sum %q axes [" + s.axes + "] keepdims : (" + t + ") -> " + r + "\n" +
             "%l = dlc.reduce max %m axes [" + s.axes + "] keepdims : (" + t + ") -> " + r + "\n" +
             "%n = dlc.sub %m, %l : (" + t + ", " + r + ") -> " + t + "\n" +
             "%y = dlc.mul %n, %s : (" + t + ", " + r + ") -> " + t + "\nreturn %y : " + t;
    c.resultTypes = {t};
    c.tolerance = {16, 64};
    cases.push_back(c);
  }
}

/// Adds reductions of concatenations. The concatenation is a result of its own in half of the
/// cases.
void addJoinedReduces(std::vector<Case> &cases) {
  struct {
    const char *name;
    std::vector<Shape> parts;
    int64_t axis;
    std::vector<int64_t> axes;
  } shapes[] = {
      {"channels_last", {{1, 30, 40, 24}, {1, 30, 40, 5}, {1, 30, 40, 60}}, 3, {1, 2}},
      {"wide", {{2, 9, 7, 700}, {2, 9, 7, 1}, {2, 9, 7, 1100}}, 3, {1, 2}},
      {"few_channels", {{1, 90, 70, 3}, {1, 90, 70, 4}}, 3, {1, 2}},
      {"channels", {{2, 3, 40, 41}, {2, 6, 40, 41}, {2, 1, 40, 41}}, 1, {2, 3}},
      {"blocks", {{1, 2, 30, 30, 16}, {1, 1, 30, 30, 16}}, 1, {2, 3}},
      {"rows", {{1, 30, 10, 240}, {1, 30, 25, 240}}, 2, {3}},
      {"reduced", {{1, 30, 10, 24}, {1, 30, 25, 24}}, 2, {1, 2}},
      // Adjacent parts of equal size share their code.
      {"run", {{1, 30, 40, 24}, {1, 30, 40, 5}, {1, 30, 40, 5}, {1, 30, 40, 5}}, 3, {1, 2}},
      {"wide_run", {{1, 9, 7, 2100}, {1, 9, 7, 2100}, {1, 9, 7, 2100}, {1, 9, 7, 1}}, 3, {1, 2}},
      {"run_of_channels", {{2, 3, 40, 41}, {2, 3, 40, 41}, {2, 3, 40, 41}}, 1, {2, 3}},
      {"run_of_rows", {{1, 30, 10, 240}, {1, 30, 10, 240}, {1, 30, 25, 240}}, 2, {3}},
  };
  for (auto &s : shapes)
    for (bool side : {false, true}) {
      Shape whole = s.parts[0];
      whole[s.axis] = 0;
      Case c{"reduce", "joined/" + std::string(s.name) + (side ? "/side" : "")};
      std::string values, types;
      for (size_t i = 0; i < s.parts.size(); ++i) {
        whole[s.axis] += s.parts[i][s.axis];
        c.operands.push_back({s.parts[i]});
        values += (i ? ", %a" : "%a") + std::to_string(i);
        types += (i ? ", " : "") + typeText(s.parts[i], "f32");
      }
      Shape kept = whole;
      for (int64_t axis : s.axes)
        kept[axis] = 1;
      std::string t = typeText(whole, "f32"), r = typeText(kept, "f32");
      auto reduce = [&](const char *to, const char *kind) {
        std::string axes;
        for (int64_t axis : s.axes)
          axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
        return std::string(to) + " = dlc.reduce " + kind + " %g axes [" + axes + "] keepdims : (" +
               t + ") -> " + r + "\n";
      };
      c.body = "%x = dlc.concat " + std::to_string(s.axis) + " (" + values + ") : (" + types +
               ") -> " + t + "\n%g = dlc.sigmoid %x : (" + t + ") -> " + t + "\n" +
               reduce("%m", "mean") + reduce("%l", "max") + "return " + (side ? "%g, " : "") +
               "%m, %l : " + (side ? t + ", " : "") + r + ", " + r;
      c.resultTypes = {r, r};
      if (side)
        c.resultTypes.insert(c.resultTypes.begin(), t);
      c.results = unsigned(c.resultTypes.size());
      c.tolerance = {16, 64};
      cases.push_back(c);
    }
}

void addSearches(std::vector<Case> &cases) {
  struct {
    const char *name;
    Shape shape;
    int axis;
  } shapes[] = {{"1d", {17}, 0},
                {"inner", {5, 37}, 1},
                {"outer", {7, 19}, 0},
                {"big", {67, 1031}, 1},
                {"rank5", {2, 3, 4, 3, 5}, 2},
                {"nothing", {0, 4}, 1},
                {"columns", {2, 31, 303}, 1}};
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
    // Lines that are sorted completely, and lines that are sorted in parts.
    for (auto [size, k] : {std::pair{700, 700}, {600, 20}, {9000, 5}, {40000, 900}})
      for (const char *flags : {"", ", largest = false"})
        if (size < 10000 || t == "f32" || t == "i32")
          cases.push_back({"topk",
                           t + "/" + std::to_string(size) + "/" + std::to_string(k) + flags,
                           {{{2, size}, t, ties}},
                           "k = " + std::to_string(k) + " : i64, axis = 1 : i64" + flags,
                           2});
  }
}

void addSuppressions(std::vector<Case> &cases) {
  for (const std::string t : {"f32", "f16", "bf16", "f64"})
    for (auto [boxes, k] : {std::pair{9, 9}, {9, 2}, {300, 300}, {700, 40}, {5, 0}})
      for (double overlap : {0.15, 0.7})
        cases.push_back({"nms",
                         t + "/" + std::to_string(boxes) + "/" + std::to_string(k) + "/" +
                             std::to_string(overlap),
                         {{{2, boxes, 4}, t},
                          {{2, 3, boxes}, t},
                          {{2, 3, boxes}, "i1"},
                          {{}, "f32", {Fill::Uniform, overlap, overlap}}},
                         "k = " + std::to_string(k) + " : i64",
                         2});
}

} // namespace

void addReduceCases(std::vector<Case> &cases) {
  addReduces(cases);
  addCutReduces(cases);
  addSharedReduces(cases);
  addReducesOfRows(cases);
  addJoinedReduces(cases);
  addSearches(cases);
  addSuppressions(cases);
}

} // namespace dlc::conformance
