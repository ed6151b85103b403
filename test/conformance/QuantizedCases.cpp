//===- QuantizedCases.cpp - cases of contractions of 8-bit integers -------------===//
//
// Patterns of quantized models: i32 sums of operands that are converted to i32 minus a zero point.
// The sums are returned, dequantized to floats, or requantized (scaled, rounded and saturated) to 8
// bits.
//
//===----------------------------------------------------------------------------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

enum class Point { None, Constant, Operand, Byte };
enum class After { Nothing, Floats, Bytes };

/// 8-bit weights: signed, or unsigned with a zero point for the tensor or (`isEach`) for each
/// channel.
struct Weights {
  const char *name, *type;
  int64_t low, range;
  Point point;
  bool isEach = false;
};
const Weights weights[] = {{"i8", "i8", -128, 256, Point::None},
                           {"ui8", "ui8", 0, 256, Point::Constant},
                           {"ui8_each", "ui8", 0, 256, Point::Constant, true}};

/// Builder of the text of a case with one contraction.
struct Text {
  std::string lines;
  std::vector<Operand> operands;

  std::string argument(const Operand &operand) {
    operands.push_back(operand);
    return "%a" + std::to_string(operands.size() - 1);
  }
  void line(const std::string &name, const std::string &text, const std::string &types,
            const Shape &shape, const std::string &type) {
    lines += name + " = dlc." + text + " : (" + types + ") -> " + typeText(shape, type) + "\n";
  }

  /// Emits `name` = x converted to i32, minus a zero point.
  void centre(const std::string &name, const std::string &x, const Shape &shape,
              const std::string &type, Point point) {
    std::string wide = typeText(shape, "i32");
    bool isBare = point == Point::None;
    line(isBare ? name : name + "_w", "cast " + x + " to i32", typeText(shape, type), shape, "i32");
    if (isBare)
      return;
    std::string zero = name + "_z";
    if (point == Point::Constant)
      lines +=
          zero + " = dlc.constant dense<" + (type == "ui8" ? "121" : "-7") + "> : tensor<i32>\n";
    else if (point == Point::Operand)
      zero = argument({{}, "i32", {Fill::Uniform, -3, 100}});
    else
      line(zero, "cast " + argument({{}, type, {Fill::Uniform, 3, 100}}) + " to i32",
           typeText({}, type), {}, "i32");
    line(name, "sub " + name + "_w, " + zero, wide + ", tensor<i32>", shape, "i32");
  }

  /// Emits constant weights as i32 minus their zero points. If each channel has its own zero point,
  /// the zero points have the shape `channels`.
  void weigh(const std::string &name, const Weights &w, const Shape &shape, const Shape &channels) {
    lines += "%c = dlc.constant " + constantIntegers(shape, w.type, w.low, w.range) + "\n";
    if (!w.isEach)
      return centre(name, "%c", shape, w.type, w.point);
    line(name + "_w", "cast %c to i32", typeText(shape, w.type), shape, "i32");
    lines += name + "_z = dlc.constant " + constantIntegers(channels, "i32", 20, 190) + "\n";
    line(name, "sub " + name + "_w, " + name + "_z",
         typeText(shape, "i32") + ", " + typeText(channels, "i32"), shape, "i32");
  }

  /// Emits the operations that follow the sums %s and the return. Returns the result's type.
  std::string follow(After after, const Shape &shape, const Shape &channels, double scale) {
    std::string sums = typeText(shape, "i32"), floats = typeText(shape, "f32"),
                each = typeText(channels, "f32"), one = "tensor<f32>";
    if (after == After::Nothing) {
      lines += "return %s : " + sums;
      return sums;
    }
    std::string factor = argument({channels, "f32", {Fill::Uniform, scale / 2, scale}}),
                bias = argument({channels, "f32", {Fill::Uniform, -3, 3}});
    line("%f", "cast %s to f32", sums, shape, "f32");
    line("%m", "mul %f, " + factor, floats + ", " + each, shape, "f32");
    line("%b", "add %m, " + bias, floats + ", " + each, shape, "f32");
    line("%r", "relu %b", floats, shape, "f32");
    if (after == After::Floats) {
      lines += "return %r : " + floats;
      return floats;
    }
    lines += "%q = dlc.constant dense<3.7> : tensor<f32>\n%p = dlc.constant dense<3.0> : "
             "tensor<f32>\n%low = dlc.constant dense<0.0> : tensor<f32>\n%high = dlc.constant "
             "dense<255.0> : tensor<f32>\n";
    line("%d", "div %r, %q", floats + ", " + one, shape, "f32");
    line("%n", "round %d", floats, shape, "f32");
    line("%e", "add %n, %p", floats + ", " + one, shape, "f32");
    line("%g", "max %e, %low", floats + ", " + one, shape, "f32");
    line("%h", "min %g, %high", floats + ", " + one, shape, "f32");
    line("%y", "cast %h to ui8", floats, shape, "ui8");
    lines += "return %y : " + typeText(shape, "ui8");
    return typeText(shape, "ui8");
  }

  Case end(const std::string &op, const std::string &label, const std::string &result) {
    return {op, "quantized/" + label, operands, "", 1, {8, 16}, {result}, lines};
  }
};

std::string nameOf(Point point) {
  return point == Point::None       ? ""
         : point == Point::Constant ? "/centred"
         : point == Point::Operand  ? "/centred_later"
                                    : "/centred_by_byte";
}
std::string nameOf(After after) {
  return after == After::Nothing ? "" : after == After::Floats ? "/floats" : "/bytes";
}

void addProducts(std::vector<Case> &cases) {
  for (const Weights &w : weights)
    for (const char *type : {"ui8", "i8"})
      for (Point point : {Point::None, Point::Constant, Point::Operand})
        for (After after : {After::Nothing, After::Floats, After::Bytes})
          for (auto [m, k] : {std::pair<int64_t, int64_t>{1, 600}, {7, 37}, {33, 64}}) {
            constexpr int64_t n = 50;
            bool isTransposed = m == 7;
            Shape x = {m, k}, right = isTransposed ? Shape{n, k} : Shape{k, n}, y = {m, n};
            Text t;
            std::string left = t.argument({x, type, {Fill::Uniform, -300, 300}});
            t.lines +=
                "%c = dlc.constant " + constantIntegers(right, w.type, w.low, w.range) + "\n";
            t.centre("%x", left, x, type, point);
            t.centre("%w", "%c", right, w.type, w.point);
            t.line("%s", std::string("matmul %x, %w") + (isTransposed ? " transpose_b" : ""),
                   typeText(x, "i32") + ", " + typeText(right, "i32"), y, "i32");
            std::string result = t.follow(after, y, {n}, 2e-3);
            cases.push_back(t.end("matmul",
                                  std::string(w.name) + "/" + type + nameOf(point) + nameOf(after) +
                                      "/" + std::to_string(m),
                                  result));
          }
}

/// A convolution with a square window.
struct Layer {
  const char *name;
  int64_t channels, results, size, window, stride, pad, groups;
};
const Layer layers[] = {
    {"window", 16, 24, 9, 3, 1, 1, 1},        {"strided", 3, 16, 15, 5, 2, 2, 1},
    {"one_pixel", 64, 48, 7, 1, 1, 0, 1},     {"each_channel", 32, 32, 9, 3, 1, 1, 32},
    {"several_each", 32, 64, 9, 3, 1, 1, 32}, {"grouped", 32, 16, 9, 3, 1, 1, 4}};

void addConvolutions(std::vector<Case> &cases, const Weights &v) {
  for (const Layer &l : layers)
    for (const char *type : {"ui8", "i8"})
      for (Point point : {Point::None, Point::Constant, Point::Operand, Point::Byte})
        for (After after : {After::Nothing, After::Floats, After::Bytes}) {
          int64_t out = (l.size + 2 * l.pad - l.window) / l.stride + 1;
          Shape x = {2, l.channels, l.size, l.size},
                w = {l.results, l.channels / l.groups, l.window, l.window},
                y = {2, l.results, out, out};
          auto pair = [](int64_t n) {
            return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">";
          };
          Text t;
          std::string image = t.argument({x, type, {Fill::Uniform, -300, 300}});
          t.centre("%x", image, x, type, point);
          t.weigh("%w", v, w, {l.results, 1, 1, 1});
          // The sums start from an integer bias.
          std::string bias;
          if (after != After::Floats) {
            bias = ", %i";
            t.lines +=
                "%i = dlc.constant " + constantIntegers({l.results}, "i32", -900, 1800) + "\n";
          }
          std::string types = typeText(x, "i32") + ", " + typeText(w, "i32");
          if (!bias.empty())
            types += ", " + typeText({l.results}, "i32");
          t.line("%s",
                 "conv %x, %w" + bias + " {strides = " + pair(l.stride) +
                     ", dilations = array<i64: 1, 1>, low = " + pair(l.pad) + ", high = " +
                     pair(l.pad) + ", groups = " + std::to_string(l.groups) + " : i64}",
                 types, y, "i32");
          std::string result = t.follow(after, y, {l.results, 1, 1}, 2e-3);
          cases.push_back(
              t.end("conv",
                    std::string(v.name) + "/" + l.name + "/" + type + nameOf(point) + nameOf(after),
                    result));
        }
}

/// Adds f32 matmuls of integers that are dequantized with a scale and optionally a zero point for
/// each row.
void addRows(std::vector<Case> &cases) {
  constexpr int64_t m = 33, k = 70, n = 50;
  for (const char *type : {"ui8", "i8", "f32"})
    for (bool isCentred : {false, true})
      for (bool isTransposed : {false, true}) {
        Shape x = isTransposed ? Shape{k, m} : Shape{m, k},
              rows = isTransposed ? Shape{1, m} : Shape{m, 1};
        std::string each = typeText(rows, "f32"), floats = typeText(x, "f32"),
                    wide = typeText({k, n}, "f32"), result = typeText({m, n}, "f32");
        Text t;
        std::string left = t.argument({x, type, {Fill::Uniform, -300, 300}}),
                    scale = t.argument({rows, "f32", {Fill::Uniform, 0.01, 0.02}});
        if (type == std::string("f32")) {
          t.lines += "%low = dlc.constant dense<-128.0> : tensor<f32>\n"
                     "%high = dlc.constant dense<127.0> : tensor<f32>\n";
          t.line("%r", "round " + left, floats, x, "f32");
          t.line("%g", "max %r, %low", floats + ", tensor<f32>", x, "f32");
          t.line("%f", "min %g, %high", floats + ", tensor<f32>", x, "f32");
        } else {
          t.line("%f", "cast " + left + " to f32", typeText(x, type), x, "f32");
        }
        std::string from = "%f";
        if (isCentred) {
          std::string zero = t.argument({rows, "f32", {Fill::Uniform, -9, 90}});
          t.line("%z", "sub %f, " + zero, floats + ", " + each, x, "f32");
          from = "%z";
        }
        t.line("%x", "mul " + from + ", " + scale, floats + ", " + each, x, "f32");
        t.lines += "%c = dlc.constant " + constantIntegers({k, n}, "i8", -128, 256) + "\n";
        std::string channels = t.argument({{1, n}, "f32", {Fill::Uniform, 0.01, 0.02}});
        t.line("%d", "cast %c to f32", typeText({k, n}, "i8"), {k, n}, "f32");
        t.line("%w", "mul %d, " + channels, wide + ", " + typeText({1, n}, "f32"), {k, n}, "f32");
        t.line("%y", std::string("matmul %x, %w") + (isTransposed ? " transpose_a" : ""),
               floats + ", " + wide, {m, n}, "f32");
        t.lines += "return %y : " + result;
        cases.push_back(t.end("matmul",
                              std::string("rows/") + type + (isCentred ? "/centred" : "") +
                                  (isTransposed ? "/turned" : ""),
                              result));
      }
}

/// Adds matmuls of two run-time operands that are transposed, as in the heads of attention.
void addHeads(std::vector<Case> &cases) {
  constexpr int64_t heads = 3, m = 9, k = 16, n = 11;
  for (const char *left : {"ui8", "i8"})
    for (const char *right : {"ui8", "i8"}) {
      Shape a = {m, heads, k}, b = {n, heads, k}, x = {heads, m, k}, w = {heads, k, n};
      Text t;
      std::string one = t.argument({a, left, {Fill::Uniform, -300, 300}}),
                  other = t.argument({b, right, {Fill::Uniform, -300, 300}});
      t.centre("%p", one, a, left, Point::Constant);
      t.centre("%q", other, b, right, Point::None);
      t.line("%x", "transpose %p [1, 0, 2]", typeText(a, "i32"), x, "i32");
      t.line("%w", "transpose %q [1, 2, 0]", typeText(b, "i32"), w, "i32");
      t.line("%s", "matmul %x, %w", typeText(x, "i32") + ", " + typeText(w, "i32"), {heads, m, n},
             "i32");
      std::string result = t.follow(After::Nothing, {heads, m, n}, {n}, 1);
      cases.push_back(t.end("matmul", std::string("heads/") + left + "/" + right, result));
    }
}

/// Adds matmuls of two run-time operands without transposes of views, optionally with zero points
/// of both. Sizes include whole vectors along the depth of one operand and along the columns of the
/// other.
void addPlain(std::vector<Case> &cases) {
  for (auto [m, k, n] : {std::array<int64_t, 3>{40, 256, 48}, {70, 132, 36}, {3, 40, 200}})
    for (bool isTransposed : {false, true})
      for (Point point : {Point::None, Point::Operand}) {
        Shape x = {m, k}, w = isTransposed ? Shape{n, k} : Shape{k, n};
        Text t;
        t.centre("%x", t.argument({x, "i8", {Fill::Uniform, -300, 300}}), x, "i8", point);
        t.centre("%w", t.argument({w, "i8", {Fill::Uniform, -300, 300}}), w, "i8", point);
        t.line("%s", std::string("matmul %x, %w") + (isTransposed ? " transpose_b" : ""),
               typeText(x, "i32") + ", " + typeText(w, "i32"), {m, n}, "i32");
        std::string result = t.follow(After::Nothing, {m, n}, {n}, 1);
        cases.push_back(t.end("matmul",
                              std::string("plain") + (isTransposed ? "/turned" : "") +
                                  nameOf(point) + "/" + std::to_string(m),
                              result));
      }
}

} // namespace

void addQuantizedCases(std::vector<Case> &cases) {
  addProducts(cases);
  addRows(cases);
  addHeads(cases);
  addPlain(cases);
  for (const Weights &each : weights)
    addConvolutions(cases, each);
}

} // namespace dlc::conformance
