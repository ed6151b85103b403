//===- GatherCases.cpp - cases of gather and scatter operations -----------------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

const std::vector<std::string> types = {"f32", "f16", "bf16", "f64", "i8",
                                        "ui8", "i32", "i64",  "i1"};

Fill any(const std::string &type) {
  return isUnsignedName(type) ? Fill{Fill::Uniform, 0, 200} : Fill{Fill::Uniform, -100, 100};
}
/// Random indices of a dimension of size n, including negative ones.
Fill below(int64_t n) { return {Fill::Uniform, double(-n), double(n - 1)}; }
std::string axis(int n) { return "axis = " + std::to_string(n) + " : i64"; }

void addGathers(std::vector<Case> &cases, const std::string &t, const std::string &index) {
  std::string label = t + "/" + index;
  struct {
    const char *name;
    Shape x, indices;
    int axis;
  } gathers[] = {{"1d", {9}, {5}, 0},
                 {"0d", {9, 5}, {}, 0},
                 {"rows", {11, 17}, {3, 2}, 0},
                 {"inner", {5, 13}, {7}, 1},
                 {"empty", {4, 5}, {0}, 0},
                 {"big", {129, 517}, {64}, 0},
                 {"rank5", {3, 2, 4, 5, 2}, {2, 3}, 2}};
  for (auto &g : gathers)
    cases.push_back({"gather",
                     label + "/" + g.name,
                     {{g.x, t, any(t)}, {g.indices, index, below(g.x[g.axis])}},
                     axis(g.axis)});
  struct {
    const char *name;
    Shape x, indices;
    int axis;
  } elements[] = {{"1d", {9}, {5}, 0},
                  {"inner", {5, 13}, {5, 7}, 1},
                  {"outer", {5, 13}, {8, 13}, 0},
                  {"smaller", {5, 13}, {3, 6}, 1},
                  {"empty", {4, 5}, {0, 5}, 0},
                  {"big", {67, 1031}, {67, 500}, 1},
                  {"rank5", {2, 3, 2, 3, 5}, {2, 3, 4, 3, 5}, 2}};
  for (auto &g : elements)
    cases.push_back({"gather_elements",
                     label + "/" + g.name,
                     {{g.x, t, any(t)}, {g.indices, index, below(g.x[g.axis])}},
                     axis(g.axis)});
  struct {
    const char *name;
    Shape x, indices;
    int batch;
    int64_t bound;
  } nds[] = {{"elements", {5, 7}, {4, 2}, 0, 5},
             {"slices", {5, 7}, {3, 1}, 0, 5},
             {"batch", {3, 5, 7}, {3, 2, 1}, 1, 5},
             {"empty", {5, 7}, {0, 2}, 0, 5},
             {"rank5", {3, 2, 4, 5, 2}, {3, 2, 3, 2}, 2, 4}};
  for (auto &g : nds)
    cases.push_back({"gather_nd",
                     label + "/" + g.name,
                     {{g.x, t, any(t)}, {g.indices, index, below(g.bound)}},
                     "batch_dims = " + std::to_string(g.batch) + " : i64"});
}

void addScatters(std::vector<Case> &cases, const std::string &t, const std::string &index) {
  for (const char *reduction : {"none", "add", "mul", "max", "min"}) {
    if (t == "i1" && std::string(reduction) != "none")
      continue;
    std::string label = t + "/" + index + "/" + reduction;
    std::string attribute = std::string("reduction = #dlc<scatter_reduction ") + reduction + ">";
    // Without a reduction each position is written once, because the result would depend on the
    // order of the writes otherwise.
    bool once = std::string(reduction) == "none";
    Fill places = once ? Fill{Fill::Permutation, 0, 0} : below(11);
    Fill values = isFloatName(t)      ? Fill{Fill::Uniform, -2, 2}
                  : isUnsignedName(t) ? Fill{Fill::Uniform, 0, 3}
                                      : Fill{Fill::Uniform, -3, 3};
    Tolerance tolerance{16, 4};
    cases.push_back({"scatter_elements",
                     label + "/1d",
                     {{{11}, t, values}, {{7}, index, places}, {{7}, t, values}},
                     axis(0) + ", " + attribute,
                     1,
                     tolerance});
    cases.push_back({"scatter_elements",
                     label + "/inner",
                     {{{1, 24}, t, values}, {{1, 11}, index, places}, {{1, 11}, t, values}},
                     axis(1) + ", " + attribute,
                     1,
                     tolerance});
    cases.push_back({"scatter_elements",
                     label + "/empty",
                     {{{3, 5}, t, values}, {{0, 5}, index, places}, {{0, 5}, t, values}},
                     axis(0) + ", " + attribute,
                     1,
                     tolerance});
    cases.push_back({"scatter_nd",
                     label + "/slices",
                     {{{11, 9}, t, values}, {{7, 1}, index, places}, {{7, 9}, t, values}},
                     attribute,
                     1,
                     tolerance});
    cases.push_back({"scatter_nd",
                     label + "/1d",
                     {{{13}, t, values}, {{5, 1}, index, places}, {{5}, t, values}},
                     attribute,
                     1,
                     tolerance});
    // Many updates of few positions.
    if (std::string(reduction) != "mul" && t != "f16" && t != "bf16") {
      int64_t rows = once ? 800 : 11;
      cases.push_back({"scatter_nd",
                       label + "/many",
                       {{{rows, 12}, t, values}, {{700, 1}, index, places}, {{700, 12}, t, values}},
                       attribute,
                       1,
                       {64, 64}});
      if ((t == "f32" || t == "i32") && index == "i64") {
        int64_t updates = 9001, places = once ? 9500 : 300;
        cases.push_back({"scatter_nd",
                         label + "/very_many",
                         {{{places, 4}, t, values},
                          {{updates, 1}, index, once ? Fill{Fill::Permutation, 0, 0} : below(300)},
                          {{updates, 4}, t, values}},
                         attribute,
                         1,
                         {64, 64}});
        for (int64_t lines : {1, 2})
          cases.push_back({"scatter_elements",
                           label + "/very_many/" + std::to_string(lines),
                           {{{places, lines}, t, values},
                            {{updates, lines},
                             index,
                             once ? Fill{Fill::Ascending, 0, double(updates)} : below(300)},
                            {{updates, lines}, t, values}},
                           axis(0) + ", " + attribute,
                           1,
                           {64, 64}});
      }
      cases.push_back({"scatter_elements",
                       label + "/many",
                       {{{1, rows}, t, values}, {{1, 300}, index, places}, {{1, 300}, t, values}},
                       axis(1) + ", " + attribute,
                       1,
                       {64, 64}});
    }
    cases.push_back({"scatter_nd",
                     label + "/empty",
                     {{{4, 3}, t, values}, {{0, 1}, index, places}, {{0, 3}, t, values}},
                     attribute,
                     1,
                     tolerance});
  }
}

/// Adds cases that resize images by gathers with constant indices: first the rows, then the
/// elements of each row, as a sum of two neighbors.
void addEnlarged(std::vector<Case> &cases, const std::string &t) {
  struct {
    const char *name;
    int64_t rows, row, newRows, newRow;
  } sizes[] = {{"twice", 5, 24, 10, 48},
               {"unlike", 3, 37, 7, 129},
               {"short", 4, 5, 4, 11},
               {"same", 2, 70, 3, 70}};
  for (auto &s : sizes) {
    auto places = [](int64_t size, int64_t to, int64_t more) {
      std::string text = "dlc.constant dense<[";
      for (int64_t i = 0; i < to; ++i)
        text += (i ? ", " : "") + std::to_string(std::min(i * size / to + more, size - 1));
      return text + "]> : tensor<" + std::to_string(to) + "xi64>\n";
    };
    std::string x = typeText({2, s.rows, s.row}, t), tall = typeText({2, s.newRows, s.row}, t),
                y = typeText({2, s.newRows, s.newRow}, t);
    auto along = [&](const std::string &to, const std::string &which) {
      return to + " = dlc.gather 2 %tall, " + which + " : (" + tall + ", tensor<" +
             std::to_string(s.newRow) + "xi64>) -> " + y + "\n";
    };
    Case c{"gather", t + "/enlarged/" + s.name, {{{2, s.rows, s.row}, t, any(t)}}};
    c.body = "%r = " + places(s.rows, s.newRows, 0) + "%i = " + places(s.row, s.newRow, 0) +
             "%j = " + places(s.row, s.newRow, 1) + "%tall = dlc.gather 1 %a0, %r : (" + x +
             ", tensor<" + std::to_string(s.newRows) + "xi64>) -> " + tall + "\n" +
             along("%left", "%i") + along("%right", "%j") + "%y = dlc.add %left, %right : (" + y +
             ", " + y + ") -> " + y + "\nreturn %y : " + y;
    c.resultTypes = {y};
    cases.push_back(c);
  }
}

} // namespace

void addGatherCases(std::vector<Case> &cases) {
  for (const std::string &t : types) {
    if (t != "i1")
      addEnlarged(cases, t);
    for (const char *index : {"i64", "i32"}) {
      if (t != "f32" && std::string(index) == "i32")
        continue;
      addGathers(cases, t, index);
      addScatters(cases, t, index);
    }
  }
}

} // namespace dlc::conformance
