//===- QuantizeCases.cpp - cases of quantize, dequantize and dynamic_quantize ---===//
//
// Covers every kind of scale (tensor, axis, block), zero points of every type, contractions of 4-
// and 8-bit operands with zero points, and packed tensors of 4-bit integers as arguments, constants
// and results.
//
//===----------------------------------------------------------------------------===//
#include "test/conformance/Case.h"

#include <algorithm>
#include <tuple>

namespace dlc::conformance {
namespace {

/// Shape and attributes of the scales of a tensor [6, 70].
struct Scales {
  const char *label;
  Shape shape;
  const char *attributes;
};
const Shape image = {6, 70};
const Scales scales[] = {{"tensor", {}, ""},
                         {"rows", {6, 1}, ""},
                         {"columns", {1, 70}, ""},
                         {"blocks", {6, 3}, " axis 1 block_size 32"},
                         {"even_blocks", {6, 5}, " axis 1 block_size 14"},
                         {"blocks_of_rows", {2, 70}, " axis 0 block_size 4"}};

/// Function body with one operation whose operands are arguments or constants.
struct Body {
  std::string lines, names, types;
  std::vector<Operand> operands;

  void argument(const Operand &operand, const std::string &keyword = ", ") {
    add("%a" + std::to_string(operands.size()), typeText(operand), keyword);
    operands.push_back(operand);
  }
  void constant(const std::string &name, const Shape &shape, const std::string &type, int64_t low,
                int64_t range, const std::string &keyword = ", ") {
    lines += name + " = dlc.constant " + constantIntegers(shape, type, low, range) + "\n";
    add(name, typeText(shape, type), keyword);
  }
  Case end(const std::string &op, const std::string &label, const std::string &attributes,
           const std::vector<std::string> &results) {
    std::string all, values;
    for (size_t i = 0; i < results.size(); ++i) {
      all += (i ? ", " : "") + results[i];
      values += (i ? ", %y#" : "%y#") + std::to_string(i);
    }
    std::string count = results.size() > 1 ? ":" + std::to_string(results.size()) : "";
    lines += "%y" + count + " = dlc." + op + " " + names + attributes + " : (" + types + ") -> (" +
             all + ")\nreturn " + (results.size() > 1 ? values : "%y") + " : " + all;
    return {op, label, operands, "", unsigned(results.size()), {}, results, lines};
  }

private:
  void add(const std::string &name, const std::string &type, const std::string &keyword) {
    names += (names.empty() ? "" : keyword) + name;
    types += (types.empty() ? "" : ", ") + type;
  }
};

Operand scaleOf(const Scales &s, const std::string &type) {
  return {s.shape, type, {Fill::Uniform, 0.02, 0.1}};
}

void addQuantize(std::vector<Case> &cases) {
  for (const Scales &s : scales)
    for (const char *type : {"f32", "f16", "bf16", "f64"})
      for (const char *to : {"i8", "ui8", "i16"})
        for (const char *zero : {"none", "same", "f32"}) {
          bool isPlain = std::string(type) == "f32";
          if (!isPlain && std::string(zero) != "same")
            continue;
          Body body;
          body.argument({image, type, {Fill::Uniform, -8, 8}});
          body.argument(scaleOf(s, type));
          if (std::string(zero) != "none")
            body.argument(
                {s.shape, std::string(zero) == "same" ? to : zero, {Fill::Uniform, 2, 90}});
          std::string label = std::string(type) + "_to_" + to + "/" + s.label + "/" + zero;
          cases.push_back(body.end("quantize", label, std::string(" to ") + to + s.attributes,
                                   {typeText(image, to)}));
        }
  for (const char *flags : {" reciprocal", " zero_point_first", " low -100 high 101",
                            " low -127 high 127 reciprocal zero_point_first"}) {
    Body body;
    body.argument({image, "f32", {Fill::Uniform, -9, 9}});
    body.argument({{}, "f32", {Fill::Uniform, 0.05, 0.1}});
    body.argument({{}, "i8", {Fill::Uniform, -9, 9}});
    std::string label = flags;
    std::replace(label.begin(), label.end(), ' ', '_');
    // In the textual IR `low` and `high` follow the result's element type.
    cases.push_back(body.end("quantize", "flags" + label, std::string(" to i8") + flags,
                             {typeText(image, "i8")}));
  }
  Body special;
  special.argument({{300}, "f32", {Fill::Special}});
  special.argument({{}, "f32", {Fill::Uniform, 0.05, 0.1}});
  cases.push_back(special.end("quantize", "special", " to i8", {typeText({300}, "i8")}));
}

void addDequantize(std::vector<Case> &cases) {
  for (const Scales &s : scales) {
    for (const char *type : {"i8", "ui8", "i16", "i32"})
      for (const char *to : {"f32", "f16"})
        for (const char *zero : {"none", "same", "i32", "float"}) {
          Body body;
          body.argument({image, type, {Fill::Uniform, 0, 120}});
          body.argument(scaleOf(s, to));
          std::string kind = zero;
          if (kind != "none")
            body.argument({s.shape,
                           kind == "same"    ? type
                           : kind == "float" ? to
                                             : zero,
                           {Fill::Uniform, 2, 90}});
          std::string label = std::string(type) + "_to_" + to + "/" + s.label + "/" + zero;
          cases.push_back(body.end("dequantize", label, s.attributes, {typeText(image, to)}));
        }
    // 4- and 8-bit constants, as used for weights.
    for (const char *type : {"i4", "ui4", "i8", "ui8"})
      for (bool hasZero : {false, true}) {
        bool isUnsigned = type[0] == 'u';
        int64_t range = std::string(type).back() == '4' ? 16 : 256;
        int64_t low = isUnsigned ? 0 : -range / 2;
        Body body;
        body.constant("%w", image, type, low, range);
        body.argument(scaleOf(s, "f32"));
        if (hasZero)
          body.constant("%z", s.shape, type, low, range);
        std::string label = std::string("constant_") + type + "/" + s.label;
        cases.push_back(body.end("dequantize", label + (hasZero ? "/zero" : ""), s.attributes,
                                 {typeText(image, "f32")}));
      }
  }
}

void addDynamic(std::vector<Case> &cases) {
  for (auto [label, attributes, each] :
       {std::tuple<const char *, const char *, Shape>{"tensor", "", {}},
        {"rows", " axes [1]", {6, 1}},
        {"all", " axes [0, 1]", {1, 1}}})
    for (double low : {-3.0, 1.0}) {
      Body body;
      body.argument({image, "f32", {Fill::Uniform, low, 4}});
      cases.push_back(body.end(
          "dynamic_quantize", std::string(label) + (low > 0 ? "/positive" : "/signed"), attributes,
          {typeText(image, "ui8"), typeText(each, "f32"), typeText(each, "ui8")}));
    }
}

/// Adds contractions with zero points that are summed in i32.
void addContractions(std::vector<Case> &cases) {
  for (const char *a : {"ui8", "i8"})
    for (const char *b : {"i8", "ui8", "i4", "ui4"})
      for (const char *zeros : {"none", "each", "both", "rows"})
        for (auto [m, k, n] :
             {std::tuple<int64_t, int64_t, int64_t>{1, 300, 50}, {7, 37, 33}, {40, 128, 64}}) {
          bool isFour = std::string(b).back() == '4', isTransposed = m == 7;
          int64_t range = isFour ? 16 : 256, low = b[0] == 'u' ? 0 : -range / 2;
          std::string kind = zeros;
          Body body;
          body.argument({{m, k}, a, {Fill::Uniform, 0, 127}});
          body.constant("%w", isTransposed ? Shape{n, k} : Shape{k, n}, b, low, range);
          if (kind == "both")
            body.argument({{}, a, {Fill::Uniform, 3, 100}}, " a_zero_point ");
          if (kind == "rows")
            body.argument({{m, 1}, a, {Fill::Uniform, 3, 100}}, " a_zero_point ");
          if (kind == "both")
            body.constant("%z", {}, b, 3, 1, " b_zero_point ");
          if (kind == "each")
            body.constant("%z", isTransposed ? Shape{n, 1} : Shape{1, n}, b, low, range,
                          " b_zero_point ");
          std::string label = std::string("integers/") + a + "_" + b + "/" + zeros + "/" +
                              std::to_string(m) + "x" + std::to_string(k);
          cases.push_back(body.end("matmul", label, isTransposed ? " transpose_b" : "",
                                   {typeText({m, n}, "i32")}));
        }
  for (const char *x : {"ui8", "i8"})
    for (const char *w : {"i8", "ui8", "i4"})
      for (const char *zeros : {"none", "x", "both", "each"}) {
        bool isFour = std::string(w).back() == '4';
        int64_t range = isFour ? 16 : 256, low = w[0] == 'u' ? 0 : -range / 2;
        std::string kind = zeros;
        Body body;
        body.argument({{1, 12, 9, 8}, x, {Fill::Uniform, 0, 127}});
        body.constant("%w", {18, 12, 3, 3}, w, low, range);
        body.argument({{18}, "i32", {Fill::Uniform, -99, 99}});
        if (kind == "x" || kind == "both")
          body.argument({{}, x, {Fill::Uniform, 3, 100}}, " x_zero_point ");
        if (kind == "both")
          body.constant("%z", {}, w, 3, 1, " w_zero_point ");
        if (kind == "each")
          body.constant("%z", {18}, w, low, range, " w_zero_point ");
        std::string label = std::string("integers/") + x + "_" + w + "/" + zeros;
        cases.push_back(
            body.end("conv", label,
                     " {dilations = array<i64: 1, 1>, groups = 1 : i64, high = "
                     "array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}",
                     {typeText({1, 18, 9, 8}, "i32")}));
      }
}

/// An operand whose elements cover all 4-bit values.
Operand packedOperand(const Shape &shape, const std::string &type) {
  const double low = type[0] == 'u' ? 0 : -8;
  return {shape, type, {Fill::Uniform, low, low + 15}};
}

/// Makes a case from the text of a function body with the given operands.
Case packedText(const std::string &op, const std::string &label,
                const std::vector<Operand> &operands, const std::string &lines,
                const std::string &result) {
  return {op, "packed/" + label, operands, "", 1, {}, {result}, lines + "\nreturn %y : " + result};
}

/// Adds cases with 4-bit integers as arguments, results, constants and intermediate values.
void addPacked(std::vector<Case> &cases) {
  for (const Shape &shape : std::vector<Shape>{
           {}, {1}, {7}, {8}, {5, 1}, {3, 5}, {4, 6}, {2, 3, 9}, {0, 5}, {4, 0}, {33, 257}})
    for (const char *type : {"i4", "ui4"}) {
      std::string label = type;
      for (int64_t d : shape)
        label += "_" + std::to_string(d);
      const std::string four = typeText(shape, type);
      for (const char *other : {"f32", "f16", "i8", "ui8", "i32", "i64", "i1"}) {
        const bool isWide = shape == Shape{3, 5} || std::string(other) == "f32";
        if (!isWide)
          continue;
        const std::string plain = typeText(shape, other);
        auto castOf = [](const std::string &name, const std::string &x, const std::string &to,
                         const std::string &types) {
          return name + " = dlc.cast " + x + " to " + to + " : " + types + "\n";
        };
        const std::string up = "(" + four + ") -> " + plain, down = "(" + plain + ") -> " + four;
        cases.push_back(packedText("cast", label + "_to_" + other, {packedOperand(shape, type)},
                                   castOf("%y", "%a0", other, up), plain));
        Operand given{shape, other, {Fill::Uniform, -20, 20}};
        cases.push_back(packedText("cast", std::string(other) + "_to_" + label, {given},
                                   castOf("%y", "%a0", type, down), four));
        cases.push_back(packedText("cast", std::string(other) + "_through_" + label, {given},
                                   castOf("%q", "%a0", type, down) + castOf("%y", "%q", other, up),
                                   plain));
      }
      const std::string other = type[0] == 'u' ? "i4" : "ui4";
      cases.push_back(packedText("cast", label + "_to_" + other, {packedOperand(shape, type)},
                                 "%y = dlc.cast %a0 to " + other + " : (" + four + ") -> " +
                                     typeText(shape, other) + "\n",
                                 typeText(shape, other)));
      const std::string constant =
          "%w = dlc.constant " + constantIntegers(shape, type, type[0] == 'u' ? 0 : -8, 16) + "\n";
      cases.push_back(packedText("constant", label, {},
                                 constant + "%y = dlc.cast %w to f32 : (" + four + ") -> " +
                                     typeText(shape, "f32") + "\n",
                                 typeText(shape, "f32")));
      cases.push_back({"constant",
                       "packed/returned_" + label,
                       {},
                       "",
                       1,
                       {},
                       {four},
                       constant + "return %w : " + four});
    }
  for (const char *type : {"i4", "ui4"}) {
    const std::string label = type;
    for (const Scales &s : scales) {
      Body down;
      down.argument({image, "f32", {Fill::Uniform, -1, 1}});
      down.argument(scaleOf(s, "f32"));
      down.argument(packedOperand(s.shape, type));
      cases.push_back(down.end("quantize", "packed/" + label + "/" + s.label,
                               " to " + label + s.attributes, {typeText(image, type)}));
      Body up;
      up.argument(packedOperand(image, type));
      up.argument(scaleOf(s, "f32"));
      up.argument(packedOperand(s.shape, type));
      cases.push_back(up.end("dequantize", "packed/" + label + "/" + s.label, s.attributes,
                             {typeText(image, "f32")}));
    }
    for (int64_t columns : {9, 64}) {
      const std::string table = typeText({11, 3, columns}, type),
                        rows = typeText({2, 4, 3, columns}, type);
      cases.push_back(packedText(
          "gather", label + "_" + std::to_string(columns),
          {packedOperand({11, 3, columns}, type), {{2, 4}, "i64", {Fill::Index, 0, 10}}},
          "%y = dlc.gather 0 %a0, %a1 : (" + table + ", tensor<2x4xi64>) -> " + rows, rows));
    }
    Body product;
    product.argument({{7, 33}, "ui8", {Fill::Uniform, 0, 127}});
    product.argument(packedOperand({33, 21}, type));
    product.argument(packedOperand({1, 21}, type), " b_zero_point ");
    cases.push_back(product.end("matmul", "packed/" + label, "", {typeText({7, 21}, "i32")}));
    const std::string four = typeText({3, 5}, type);
    cases.push_back(packedText("if", label,
                               {{{}, "i1", {Fill::Uniform, 0, 2}},
                                packedOperand({3, 5}, type),
                                packedOperand({3, 5}, type)},
                               "%y = dlc.if %a0 : (tensor<i1>) -> " + four +
                                   " {\ndlc.yield %a1 : " + four +
                                   "\n} else {\ndlc.yield %a2 : " + four + "\n}",
                               four));
    const std::string stacked = typeText({3, 3, 5}, type), wide = typeText({3, 3, 5}, "f32"),
                      part = typeText({3, 5}, "f32");
    cases.push_back(packedText(
        "loop", label, {packedOperand({3, 5}, type)},
        "%n = dlc.constant dense<3> : tensor<i64>\n%two = dlc.constant dense<2.0> : tensor<f32>\n"
        "%r:2 = dlc.loop trip(%n : tensor<i64>) inits(%a0 : " +
            four + ") -> (" + four + ", " + stacked + ") {\n^bb0(%i: tensor<i64>, %p: " + four +
            "):\n%f = dlc.cast %p to f32 : (" + four + ") -> " + part +
            "\n%d = dlc.div %f, %two : (" + part + ", tensor<f32>) -> " + part +
            "\n%q = dlc.cast %d to " + type + " : (" + part + ") -> " + four +
            "\ndlc.yield %q, %p : " + four + ", " + four + "\n}\n%y = dlc.cast %r#1 to f32 : (" +
            stacked + ") -> " + wide,
        wide));
  }
}

} // namespace

void addQuantizeCases(std::vector<Case> &cases) {
  addQuantize(cases);
  addDequantize(cases);
  addDynamic(cases);
  addContractions(cases);
  addPacked(cases);
}

} // namespace dlc::conformance
