//===- WeightCases.cpp - cases of matmuls and convolutions with constant weights ---===//
#include "test/conformance/Case.h"

#include <functional>

namespace dlc::conformance {
namespace {

/// Returns a constant of shape [rows, columns] as textual IR. `valueOf` returns an element by row
/// and column, to which `suffix` is appended.
std::string matrixText(const Shape &shape, const std::string &type, const char *suffix,
                       const std::function<int64_t(int64_t, int64_t)> &valueOf) {
  std::string text = "dense<[";
  for (int64_t i = 0; i < shape[0]; ++i) {
    text += i ? "], [" : "[";
    for (int64_t j = 0; j < shape[1]; ++j)
      text += (j ? ", " : "") + std::to_string(valueOf(i, j)) + suffix;
  }
  return text + "]]> : " + typeText(shape, type);
}

/// Returns such a constant of integers from -127 to 127.
std::string constantMatrix(int64_t rows, int64_t columns, const std::string &type) {
  return matrixText({rows, columns}, type, isFloatName(type) ? ".0" : "",
                    [](int64_t i, int64_t j) { return (i * 131 + j * 29) % 255 - 127; });
}

/// Returns such a constant of `range` different integers, starting at `low`, or of fractions of
/// them if the type is a float.
std::string constantOf(const Shape &shape, const std::string &type, int64_t low, int64_t range) {
  return matrixText(shape, type, isFloatName(type) ? ".0e-2" : "", [&](int64_t i, int64_t j) {
    const int64_t at = i * shape[1] + j;
    return low + (at * 131 + at / 7 * 29) % range;
  });
}

/// Constant quantized weights [n, k], or [k, n] if `isTransposed` is false, in blocks along k.
struct BlockWeights {
  const char *name;
  int64_t n, k, depth;
  const char *type;
  const char *zeroType; ///< null: no zero points
  bool isTransposed = true;
};
const BlockWeights blockWeights[] = {{"four", 70, 96, 32, "i4", nullptr},
                                     {"four_zeros", 70, 96, 32, "i4", "i4"},
                                     {"four_part", 83, 100, 16, "i4", "i32"},
                                     {"four_tall", 40, 256, 128, "i4", nullptr},
                                     {"four_unsigned", 71, 99, 32, "ui4", "ui4"},
                                     {"four_unsigned_whole", 70, 96, 32, "ui4", nullptr},
                                     {"four_columns", 69, 96, 16, "i4", "f32", false},
                                     {"four_unsigned_columns", 70, 96, 32, "ui4", "ui4", false},
                                     {"eight", 70, 96, 32, "i8", nullptr},
                                     {"eight_part", 61, 140, 64, "i8", "i32"},
                                     {"eight_unsigned", 61, 140, 32, "ui8", "ui8"},
                                     {"eight_columns", 70, 96, 32, "ui8", "ui8", false}};

/// Adds cases of relu(x·w + a bias of the columns + a residual operand) with block-quantized
/// weights.
void addBlocks(std::vector<Case> &cases) {
  Fill fill{Fill::Uniform, -1, 1};
  for (const BlockWeights &w : blockWeights)
    for (Shape x : {Shape{1, w.k}, Shape{2, 3, w.k}, Shape{17, w.k}}) {
      int64_t blocks = (w.k + w.depth - 1) / w.depth;
      Shape numbers = {w.n, w.k}, perBlock = {w.n, blocks}, y = x;
      if (!w.isTransposed) {
        std::swap(numbers[0], numbers[1]);
        std::swap(perBlock[0], perBlock[1]);
      }
      y.back() = w.n;
      const std::string type = w.type;
      const bool isFour = type.back() == '4';
      const int64_t range = isFour ? 16 : 256, low = type[0] == 'u' ? 0 : -range / 2;
      std::string zero = w.zeroType ? w.zeroType : "", matrix = typeText(numbers, "f32"),
                  result = typeText(y, "f32"), text = "%q = dlc.constant ";
      text += constantOf(numbers, type, low, range) + "\n%s = dlc.constant " +
              constantOf(perBlock, "f32", 1, 20);
      if (zero == "f32")
        text += "\n%z = dlc.constant dense<2.0> : " + typeText(perBlock, zero);
      else if (!zero.empty())
        text += "\n%z = dlc.constant " + constantOf(perBlock, zero, low, range);
      text += "\n%w = dlc.dequantize %q, %s" + std::string(zero.empty() ? "" : ", %z") + " axis " +
              (w.isTransposed ? "1" : "0") + " block_size " + std::to_string(w.depth) + " : (" +
              typeText(numbers, type) + ", " + typeText(perBlock, "f32") +
              (zero.empty() ? "" : ", " + typeText(perBlock, zero)) + ") -> " + matrix +
              "\n%p = dlc.matmul %a0, %w" + (w.isTransposed ? " transpose_b" : "") + " : (" +
              typeText(x, "f32") + ", " + matrix + ") -> " + result + "\n%b = dlc.add %p, %a1 : (" +
              result + ", " + typeText({w.n}, "f32") + ") -> " + result +
              "\n%d = dlc.add %b, %a2 : (" + result + ", " + result + ") -> " + result +
              "\n%y = dlc.relu %d : (" + result + ") -> " + result + "\nreturn %y : " + result;
      cases.push_back({"matmul",
                       std::string("blocks/") + w.name + "/" + std::to_string(x[0]),
                       {{x, "f32", fill}, {{w.n}, "f32", fill}, {y, "f32", fill}},
                       "",
                       1,
                       {8, 64},
                       {result},
                       text});
    }
}

/// A convolution with a square window and symmetric padding.
struct Layer {
  const char *name;
  int64_t batch, channels, results, size, window, stride, pad;

  int64_t out() const { return (size + 2 * pad - window) / stride + 1; }
  std::string text(const std::string &name, const std::string &operand) const {
    Shape x = {batch, channels, size, size}, y = {batch, results, out(), out()},
          w = {results, channels, window, window};
    auto pair = [](int64_t n) {
      return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">";
    };
    return name + "_w = dlc.constant " + constantText(w) + "\n" + name + " = dlc.conv " + operand +
           ", " + name + "_w {strides = " + pair(stride) +
           ", dilations = array<i64: 1, 1>, low = " + pair(pad) + ", high = " + pair(pad) +
           ", groups = 1 : i64} : (" + typeText(x, "f32") + ", " + typeText(w, "f32") + ") -> " +
           typeText(y, "f32") + "\n";
  }
};
const Layer layers[] = {
    {"one_pixel", 1, 64, 48, 14, 1, 1, 0},   {"one_pixel_batch", 3, 32, 16, 14, 1, 1, 0},
    {"long_sums", 1, 144, 32, 14, 1, 1, 0},  {"strided", 2, 32, 32, 15, 1, 2, 0},
    {"window", 1, 32, 32, 28, 3, 1, 1},      {"window_strided", 2, 32, 48, 15, 3, 2, 1},
    {"even_window", 1, 32, 32, 14, 2, 2, 0}, {"wide_pads", 1, 32, 16, 14, 5, 1, 4},
};

/// Adds cases of relu(convolution + channel bias + residual image), as in residual blocks. Another
/// convolution precedes, so that both use the layout that convolutions prefer.
void addConvolutions(std::vector<Case> &cases) {
  Fill fill{Fill::Uniform, -1, 1};
  for (const Layer &l : layers) {
    Layer first{"", l.batch, 32, l.channels, l.size, 3, 1, 1};
    Shape x = {l.batch, 32, l.size, l.size}, b = {1, l.results, 1, 1},
          y = {l.batch, l.results, l.out(), l.out()};
    std::string result = typeText(y, "f32");
    cases.push_back({"conv",
                     std::string("weights/") + l.name,
                     {{x, "f32", fill}, {b, "f32", fill}, {y, "f32", fill}},
                     "",
                     1,
                     {8, 64},
                     {result},
                     first.text("%x", "%a0") + l.text("%c", "%x") + "%s = dlc.add %c, %a1 : (" +
                         result + ", " + typeText(b, "f32") + ") -> " + result +
                         "\n%t = dlc.add %s, %a2 : (" + result + ", " + result + ") -> " + result +
                         "\n%y = dlc.relu %t : (" + result + ") -> " + result +
                         "\nreturn %y : " + result});
  }
}

} // namespace

void addWeightCases(std::vector<Case> &cases) {
  addConvolutions(cases);
  addBlocks(cases);
  for (const char *kept : {"bf16", "f16", "i8"})
    for (bool transposed : {false, true})
      for (int64_t m : {1, 3, 33}) {
        constexpr int64_t k = 37, n = 50;
        Shape x = {m, k}, w = transposed ? Shape{n, k} : Shape{k, n}, y = {m, n};
        std::string wide = typeText(w, "f32"), result = typeText(y, "f32"),
                    scale = typeText({n}, "f32");
        cases.push_back(
            {"matmul",
             std::string("weights/") + kept + (transposed ? "/transposed/" : "/") +
                 std::to_string(m),
             {{x, "f32", {Fill::Uniform, -1, 1}}, {{n}, "f32", {Fill::Uniform, 0, 0.1}}},
             "",
             1,
             {8, 16},
             {result},
             "%q = dlc.constant " + constantMatrix(w[0], w[1], kept) +
                 "\n%w = dlc.cast %q to f32 : (" + typeText(w, kept) + ") -> " + wide +
                 "\n%s = dlc.matmul %a0, %w" + (transposed ? " transpose_b" : "") + " : (" +
                 typeText(x, "f32") + ", " + wide + ") -> " + result +
                 "\n%y = dlc.mul %s, %a1 : (" + result + ", " + scale + ") -> " + result +
                 "\nreturn %y : " + result});
      }
}

} // namespace dlc::conformance
