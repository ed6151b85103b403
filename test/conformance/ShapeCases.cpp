//===- ShapeCases.cpp - cases of operations that create, move or join elements --===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

/// Moving elements depends only on their width, but each type has its own code path.
const std::vector<std::string> types = {"f32", "f16", "bf16", "f64", "i8",
                                        "ui8", "i32", "i64",  "i1"};

Fill any(const std::string &type) {
  return isUnsignedName(type) ? Fill{Fill::Uniform, 0, 200} : Fill{Fill::Uniform, -100, 100};
}

std::string array(const Shape &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

void addViews(std::vector<Case> &cases, const std::string &t) {
  struct {
    const char *name;
    Shape from, to;
  } reshapes[] = {{"1d", {12}, {3, 4}},
                  {"odd", {3, 5, 7}, {15, 7}},
                  {"0d", {1, 1}, {}},
                  {"empty", {0, 4}, {2, 0, 3}},
                  {"big", {67, 1030}, {670, 103}},
                  {"rank5", {2, 3, 2, 3, 5}, {4, 9, 5}}};
  for (auto &r : reshapes)
    cases.push_back(
        {"reshape", t + "/" + r.name, {{r.from, t, any(t)}}, "", 1, {0, 0}, {typeText(r.to, t)}});
  struct {
    const char *name;
    Shape from, to;
  } broadcasts[] = {{"0d", {}, {3, 5}},
                    {"row", {7}, {3, 7}},
                    {"column", {5, 1}, {5, 9}},
                    {"both", {3, 1, 5}, {2, 3, 4, 5}},
                    {"empty", {1, 4}, {0, 4}},
                    {"big", {1031}, {67, 1031}},
                    {"rank5", {2, 1, 2, 1, 5}, {2, 3, 2, 3, 5}}};
  for (auto &b : broadcasts)
    cases.push_back(
        {"broadcast", t + "/" + b.name, {{b.from, t, any(t)}}, "", 1, {0, 0}, {typeText(b.to, t)}});
  struct {
    const char *name;
    Shape shape, permutation;
  } transposes[] = {{"1d", {5}, {0}},
                    {"odd", {7, 13}, {1, 0}},
                    {"odd3", {3, 5, 17}, {2, 0, 1}},
                    {"inner", {4, 5, 6}, {0, 2, 1}},
                    {"outer", {4, 5, 33}, {1, 0, 2}},
                    {"empty", {0, 4}, {1, 0}},
                    {"big", {257, 263}, {1, 0}},
                    // Transposes in register tiles: remainders of all sizes, few results in a row,
                    // transposed dimensions that are not adjacent but close, with others between
                    // them.
                    {"tiles", {35, 50}, {1, 0}},
                    {"narrow", {3, 40}, {1, 0}},
                    {"short", {40, 9}, {1, 0}},
                    {"near", {33, 3, 19, 2}, {1, 3, 2, 0}},
                    {"between", {5, 17, 2, 31}, {0, 2, 3, 1}},
                    {"aliased", {40, 2, 1024}, {1, 2, 0}},
                    {"rank5", {2, 3, 2, 3, 5}, {4, 2, 0, 1, 3}}};
  for (auto &x : transposes)
    cases.push_back({"transpose",
                     t + "/" + x.name,
                     {{x.shape, t, any(t)}},
                     "permutation = " + array(x.permutation)});
  // Two transposes in one kernel with operations before and after them, and a broadcast row.
  if (t == "f32" || t == "f64" || t == "bf16" || t == "i32") {
    std::string text = R"(
    %n = dlc.mul %a0, %a0 : (XX, XX) -> XX
    %p = dlc.transpose %n [0, 2, 1] : (XX) -> YY
    %q = dlc.transpose %a1 [0, 2, 1] : (XX) -> YY
    %s = dlc.sub %p, %q : (YY, YY) -> YY
    %b = dlc.add %s, %a2 : (YY, RR) -> YY
    %y = dlc.max %b, %a3 : (YY, YY) -> YY
    return %y : YY)";
    std::string x = typeText(Shape{3, 37, 50}, t), y = typeText(Shape{3, 50, 37}, t),
                r = typeText(Shape{37}, t);
    for (auto [from, to] : {std::pair("XX", x), std::pair("YY", y), std::pair("RR", r)})
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, 2, to);
    cases.push_back({"transpose",
                     t + "/fused",
                     {{{3, 37, 50}, t, any(t)},
                      {{3, 37, 50}, t, any(t)},
                      {{37}, t, any(t)},
                      {{3, 50, 37}, t, any(t)}},
                     "",
                     1,
                     {8, 2},
                     {y},
                     text});
  }
}

void addSlices(std::vector<Case> &cases, const std::string &t) {
  struct {
    const char *name;
    Shape shape, start, size, stride;
  } slices[] = {{"1d", {11}, {2}, {5}, {1}},
                {"stride", {11, 23}, {1, 2}, {4, 7}, {2, 3}},
                {"reverse", {9, 17}, {8, 16}, {9, 17}, {-1, -1}},
                {"reverse_stride", {9, 17}, {0, 15}, {9, 5}, {1, -3}},
                // Strided slices up to the last element, whose vector lanes read nearby elements.
                {"pairs", {5, 70}, {0, 1}, {5, 35}, {1, 2}},
                {"thirds", {5, 100}, {0, 0}, {5, 34}, {1, 3}},
                {"fourths", {5, 130}, {0, 1}, {5, 33}, {1, 4}},
                {"pairs_back", {5, 70}, {0, 68}, {5, 35}, {1, -2}},
                {"outer", {8, 33}, {3, 0}, {4, 33}, {1, 1}},
                {"empty", {5, 4}, {2, 1}, {0, 3}, {1, 1}},
                {"big", {130, 1031}, {1, 3}, {67, 1021}, {1, 1}},
                {"rank5", {3, 3, 4, 3, 5}, {1, 0, 1, 0, 1}, {2, 3, 2, 3, 3}, {1, 1, 2, 1, 1}}};
  for (auto &s : slices)
    cases.push_back({"slice",
                     t + "/" + s.name,
                     {{s.shape, t, any(t)}},
                     "start = " + array(s.start) + ", size = " + array(s.size) +
                         ", stride = " + array(s.stride)});
}

void addPads(std::vector<Case> &cases, const std::string &t) {
  struct {
    const char *name, *mode;
    Shape shape, low, high;
  } pads[] = {{"1d", "constant", {7}, {2}, {3}},
              {"edge_rows", "edge", {3, 5, 150}, {0, 1, 7}, {1, 0, 4}},
              {"reflect_rows", "reflect", {3, 5, 150}, {0, 1, 40}, {1, 0, 0}},
              {"wrap_rows", "wrap", {3, 150}, {1, 0}, {0, 37}},
              {"cut_rows", "reflect", {3, 150}, {0, -3}, {0, 9}},
              {"odd", "constant", {3, 5, 7}, {1, 0, 2}, {0, 2, 1}},
              {"crop", "constant", {9, 9}, {-1, 2}, {-2, -3}},
              {"empty", "constant", {0, 3}, {2, 0}, {1, 1}},
              {"big", "constant", {65, 1030}, {1, 1}, {1, 0}},
              {"rank5", "constant", {2, 3, 2, 3, 5}, {0, 1, 0, 1, 1}, {1, 0, 1, 0, 1}},
              {"odd", "reflect", {5, 7}, {2, 3}, {4, 6}},
              {"odd", "edge", {5, 7}, {2, 3}, {4, 9}},
              {"odd", "wrap", {5, 7}, {2, 3}, {4, 6}}};
  for (auto &p : pads)
    cases.push_back({"pad",
                     t + "/" + p.name + "/" + p.mode,
                     {{p.shape, t, any(t)}, {{}, t, any(t)}},
                     std::string("mode = #dlc<pad_mode ") + p.mode + ">, low = " + array(p.low) +
                         ", high = " + array(p.high)});
  // Below a reduction over rows, the elements of a vector wrap around at different positions.
  if (t == "f32")
    cases.push_back({"pad",
                     t + "/wrap/under-reduce",
                     {{{2, 17, 33}, t, any(t)}},
                     "",
                     1,
                     {8, 1},
                     {"tensor<1x1x35xf32>"},
                     R"(
    %zero = dlc.constant dense<0.0> : tensor<f32>
    %y = dlc.pad wrap %a0, %zero low [1, 2, 2] high [1, 0, 0] : (tensor<2x17x33xf32>, tensor<f32>) -> tensor<4x19x35xf32>
    %m = dlc.reduce mean %y axes [0, 1] keepdims : (tensor<4x19x35xf32>) -> tensor<1x1x35xf32>
    return %m : tensor<1x1x35xf32>)"});
}

/// Adds operations on a concatenation that kernels compute part by part, with the concatenated axis
/// along the vector lanes and across them.
void addJoined(std::vector<Case> &cases, const std::string &t) {
  const struct {
    const char *name;
    std::vector<int64_t> sizes; ///< sizes of the parts along the axis; 0 means the size that the
                                ///< dimension has in `sum`
  } lists[] = {
      {"", {0, 1, 64}},
      // Adjacent parts of equal size share their code.
      {"/runs", {3, 16, 16, 16, 16, 3, 3, 40}},
      {"/ones", {1, 1, 1, 1, 1, 1, 1}},
      {"/all", {24, 24, 24}},
      {"/wide", {64, 64, 100, 100, 100}},
  };
  for (int axis : {0, 1, 2})
    for (auto &list : lists) {
      Shape sum = {5, 9, 35};
      const int64_t own = sum[axis];
      sum[axis] = 0;
      std::vector<Operand> operands;
      std::string parts, types;
      for (int64_t size : list.sizes) {
        Shape part = sum;
        part[axis] = size ? size : own;
        sum[axis] += part[axis];
        parts += (parts.empty() ? "%a" : ", %a") + std::to_string(operands.size());
        types += (types.empty() ? "" : ", ") + typeText(part, t);
        operands.push_back({part, t, any(t)});
      }
      const std::string row = typeText({sum[2]}, t), all = typeText(sum, t),
                        factor = "%a" + std::to_string(operands.size()),
                        least = "%a" + std::to_string(operands.size() + 1);
      operands.push_back({{sum[2]}, t, any(t)});
      operands.push_back({sum, t, any(t)});
      cases.push_back({"concat",
                       t + "/joined/" + std::to_string(axis) + list.name,
                       operands,
                       "",
                       2,
                       {4, 0},
                       {all, all},
                       "%j = dlc.concat " + std::to_string(axis) + " (" + parts + ") : (" + types +
                           ") -> " + all + "\n%m = dlc.mul %j, " + factor + " : (" + all + ", " +
                           row + ") -> " + all + "\n%w = dlc.max %m, " + least + " : (" + all +
                           ", " + all + ") -> " + all + "\nreturn %w, %j : " + all + ", " + all});
    }
  // Parts that are computed in the kernel, from separate operands and from a shared one. One part
  // occurs twice, and the producer of another part has a second use.
  const std::string x = typeText({40, 24}, t), row = typeText({24}, t), y = typeText({40, 144}, t);
  std::string text, list, types;
  for (int i : {0, 1, 2, 3})
    text += "%p" + std::to_string(i) + " = dlc.mul %a" + std::to_string(i) + ", %a" +
            std::to_string(i + 4) + " : (" + x + ", " + x + ") -> " + x + "\n%q" +
            std::to_string(i) + " = dlc.max %p" + std::to_string(i) + ", %a8 : (" + x + ", " + row +
            ") -> " + x + "\n";
  text += "%r = dlc.max %p3, %p0 : (" + x + ", " + x + ") -> " + x + "\n";
  for (const char *part : {"%q0", "%q1", "%q2", "%q2", "%q3", "%r"}) {
    list += (list.empty() ? "" : ", ") + std::string(part);
    types += (types.empty() ? "" : ", ") + x;
  }
  text += "%j = dlc.concat 1 (" + list + ") : (" + types + ") -> " + y + "\n";
  std::vector<Operand> operands(8, Operand{{40, 24}, t, any(t)});
  operands.push_back({{24}, t, any(t)});
  for (bool isLast : {true, false}) {
    Case c{"concat", t + "/joined/made", operands, "", 1, {4, 0}, {y}, text};
    c.body += "return %j : " + y;
    if (!isLast) {
      c.label += "/further";
      c.body = text + "%n = dlc.neg %j : (" + y + ") -> " + y + "\nreturn %n : " + y;
    }
    cases.push_back(c);
  }
  // One of the parts is also a factor of the whole concatenation.
  Case c{"concat", t + "/joined/factor"};
  list.clear(), types.clear();
  for (int i = 0; i < 6; ++i) {
    list += (i ? ", %a" : "%a") + std::to_string(i);
    types += (i ? ", " : "") + typeText({5, 1, 35}, t);
    c.operands.push_back({{5, 1, 35}, t, any(t)});
  }
  const std::string z = typeText({5, 6, 35}, t);
  c.body = "%j = dlc.concat 1 (" + list + ") : (" + types + ") -> " + z +
           "\n%n = dlc.mul %j, %a0 : (" + z + ", " + typeText({5, 1, 35}, t) + ") -> " + z +
           "\nreturn %n : " + z;
  c.resultTypes = {z};
  cases.push_back(c);
}

/// Adds concatenations that interleave single elements of several rows. The result is returned or
/// used by further operations, with factors shared by each run of interleaved elements, factors
/// shared by all runs, and an interleaved operand.
void addTurns(std::vector<Case> &cases, const std::string &t) {
  for (int64_t count : {2, 3, 4})
    for (int64_t length : {3, 8, 20, 64, 67}) {
      const Shape row = {9, length, 1}, stack = {9, length, count}, line = {9, length * count};
      const std::string one = typeText(row, t), all = typeText(stack, t), flat = typeText(line, t);
      Case c{"concat", t + "/turns/" + std::to_string(count) + "x" + std::to_string(length)};
      std::string parts, types, body;
      for (int64_t i = 0; i < count; ++i) {
        const std::string name = "%p" + std::to_string(i);
        body += name + " = dlc.mul %a" + std::to_string(i) + ", %a" + std::to_string((i + 1) % 2) +
                " : (" + one + ", " + one + ") -> " + one + "\n";
        parts += (i ? ", " : "") + name;
        types += (i ? ", " : "") + one;
        c.operands.push_back({row, t, any(t)});
      }
      body += "%s = dlc.concat 2 (" + parts + ") : (" + types + ") -> " + all +
              "\n%j = dlc.reshape %s : (" + all + ") -> " + flat + "\n";
      c.resultTypes = {flat};
      c.body = body + "return %j : " + flat;
      cases.push_back(c);
      const std::string few = typeText({count}, t), runs = typeText({length, 1}, t);
      const std::string n = std::to_string(count);
      c.label += "/further";
      c.operands.push_back({line, t, any(t)});
      c.operands.push_back({{count}, t, any(t)});
      c.operands.push_back({{length, 1}, t, any(t)});
      const std::string k = std::to_string(count + 1), l = std::to_string(count + 2);
      c.body = body + "%n = dlc.mul %j, %a" + n + " : (" + flat + ", " + flat + ") -> " + flat +
               "\n%t = dlc.broadcast %a" + k + " : (" + few + ") -> " + all +
               "\n%u = dlc.reshape %t : (" + all + ") -> " + flat + "\n%v = dlc.broadcast %a" + l +
               " : (" + runs + ") -> " + all + "\n%w = dlc.reshape %v : (" + all + ") -> " + flat +
               "\n%x = dlc.mul %u, %w : (" + flat + ", " + flat + ") -> " + flat +
               "\n%y = dlc.max %n, %x : (" + flat + ", " + flat + ") -> " + flat +
               "\nreturn %y : " + flat;
      cases.push_back(c);
    }
}

void addConcats(std::vector<Case> &cases, const std::string &t) {
  struct {
    const char *name;
    std::vector<Shape> shapes;
    int axis;
  } concats[] = {{"1d", {{3}, {4}}, 0},
                 {"one", {{3, 5}}, 1},
                 {"outer", {{2, 7}, {3, 7}, {1, 7}}, 0},
                 {"inner", {{5, 2}, {5, 9}, {5, 1}}, 1},
                 {"empty", {{0, 4}, {3, 4}}, 0},
                 {"big", {{67, 515}, {67, 516}}, 1},
                 {"rank5", {{2, 3, 2, 3, 5}, {2, 3, 4, 3, 5}}, 2},
                 // Vectors that contain elements of both parts.
                 {"halves", {{1024, 4}, {1024, 4}}, 1},
                 {"twelve", {{256, 12}, {256, 12}}, 1},
                 // Rows of several vectors that are copied together.
                 {"vectors", {{90, 128}, {90, 70}, {90, 250}}, 1}};
  for (auto &c : concats) {
    Case x{"concat", t + "/" + c.name, {}, "axis = " + std::to_string(c.axis) + " : i64"};
    for (const Shape &shape : c.shapes)
      x.operands.push_back({shape, t, any(t)});
    cases.push_back(x);
  }
  // A part that is the product with a broadcast row of another length than the other part.
  if (t == "f32")
    cases.push_back({"concat",
                     t + "/made",
                     {{{40, 9}, t, any(t)}, {{40, 64}, t, any(t)}, {{64}, t, any(t)}},
                     "",
                     1,
                     {4, 0},
                     {typeText({40, 73}, t)},
                     R"(
    %p = dlc.mul %a1, %a2 : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
    %j = dlc.concat 1 (%a0, %p) : (tensor<40x9xf32>, tensor<40x64xf32>) -> tensor<40x73xf32>
    return %j : tensor<40x73xf32>)"});
  // Parts that are shorter than a vector, where one vector contains elements of several parts.
  if (t == "f32")
    cases.push_back({"concat",
                     t + "/short",
                     {{{256, 40}, t, any(t)},
                      {{256, 10}, t, any(t)},
                      {{256, 10}, t, any(t)},
                      {{256, 10}, t, any(t)},
                      {{1, 40}, t, any(t)}},
                     "",
                     1,
                     {4, 0},
                     {typeText({256, 40}, t)},
                     R"(
    %s = dlc.slice %a0 start [0, 0] size [256, 10] stride [1, 1] : (tensor<256x40xf32>) -> tensor<256x10xf32>
    %j = dlc.concat 1 (%s, %a1, %a2, %a3) : (tensor<256x10xf32>, tensor<256x10xf32>, tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x40xf32>
    %m = dlc.mul %j, %a4 : (tensor<256x40xf32>, tensor<1x40xf32>) -> tensor<256x40xf32>
    return %m : tensor<256x40xf32>)"});
  if (t == "f32" || t == "i32" || t == "bf16")
    addJoined(cases, t);
  addTurns(cases, t);
}

void addMakers(std::vector<Case> &cases) {
  for (const char *t : {"f32", "f16", "f64", "i32", "i64", "ui8"}) {
    cases.push_back(
        {"iota", std::string(t) + "/1d", {}, "axis = 0 : i64", 1, {0, 0}, {typeText({17}, t)}});
    cases.push_back({"iota",
                     std::string(t) + "/inner",
                     {},
                     "axis = 1 : i64",
                     1,
                     {0, 0},
                     {typeText({3, 29}, t)}});
    cases.push_back({"iota",
                     std::string(t) + "/outer",
                     {},
                     "axis = 0 : i64",
                     1,
                     {0, 0},
                     {typeText({5, 3, 7}, t)}});
    cases.push_back({"iota",
                     std::string(t) + "/empty",
                     {},
                     "axis = 1 : i64",
                     1,
                     {0, 0},
                     {typeText({0, 3}, t)}});
  }
  for (const std::string &t : types) {
    std::string zero = isFloatName(t) ? "1.5" : t == "i1" ? "true" : "7";
    cases.push_back({"constant",
                     t + "/splat",
                     {},
                     "value = dense<" + zero + "> : " + typeText({3, 5}, t),
                     1,
                     {0, 0}});
    cases.push_back({"constant",
                     t + "/elements",
                     {},
                     "value = dense<[" + zero + ", " +
                         (t == "i1"        ? "false"
                          : isFloatName(t) ? "2.0"
                                           : "3") +
                         "]> : " + typeText({2}, t),
                     1,
                     {0, 0}});
    cases.push_back(
        {"constant", t + "/empty", {}, "value = dense<> : " + typeText({0, 2}, t), 1, {0, 0}});
  }
  for (const char *t : {"f32", "f16", "bf16", "f64"})
    for (const char *kind : {"uniform", "normal"})
      for (const Shape &shape : {Shape{}, Shape{7}, Shape{3, 5, 17}, Shape{0, 4}, Shape{67, 1031}})
        cases.push_back({"random",
                         std::string(t) + "/" + kind + "/" + typeText(shape, t),
                         {{{}, "i64", {Fill::Uniform, 3, 3}}},
                         std::string("kind = #dlc<random_kind ") + kind + ">, seed = 42 : i64",
                         1,
                         {std::string(kind) == "normal" ? 16.0 : 0.0, 0},
                         {typeText(shape, t)}});
}

} // namespace

void addShapeCases(std::vector<Case> &cases) {
  for (const std::string &t : types) {
    addViews(cases, t);
    addSlices(cases, t);
    addPads(cases, t);
    addConcats(cases, t);
  }
  addMakers(cases);
}

} // namespace dlc::conformance
