//===- CalibrationCases.cpp - operations that calibrate a machine profile ---===//
#include "codegen/select/CalibrationCases.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Dialect.h"
#include "ir/tensor/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

std::string tensor(ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

std::string function(const std::string &arguments, const std::string &result,
                     const std::string &body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + body +
         "  return %y : " + result + "\n}\n";
}

/// Returns the text of a ReLU, which also follows most matmuls and convolutions of models.
std::string relu(const std::string &type) {
  return "  %y = dlc.relu %s : (" + type + ") -> " + type + "\n";
}

/// Case: matmul of activations [m, k] by constant weights [k, n].
CalibrationCase product(int64_t m, int64_t k, int64_t n) {
  std::string x = tensor({m, k}), w = tensor({k, n}), y = tensor({m, n});
  return {function("%x: " + x + ", %w: " + w + " {dlc.weights}", y,
                   "  %s = dlc.matmul %x, %w : (" + x + ", " + w + ") -> " + y + "\n" + relu(y)),
          m >= 64 ? FigureScale::Products : FigureScale::None};
}

/// Case: batched matmul of two activations, [batch, m, k] by [batch, k, n] or, if `transposed`,
/// [batch, n, k].
CalibrationCase batched(int64_t batch, int64_t m, int64_t k, int64_t n, bool transposed) {
  std::string a = tensor({batch, m, k}),
              b = transposed ? tensor({batch, n, k}) : tensor({batch, k, n}),
              y = tensor({batch, m, n});
  return {function("%a: " + a + ", %b: " + b, y,
                   "  %y = dlc.matmul %a, %b" + std::string(transposed ? " transpose_b" : "") +
                       " : (" + a + ", " + b + ") -> " + y + "\n")};
}

/// Case: convolution of a square image with a square window, padded so that only strides reduce its
/// size.
CalibrationCase convolution(int64_t in, int64_t out, int64_t size, int64_t window, int64_t stride,
                            int64_t groups) {
  int64_t left = (size + stride - 1) / stride;
  int64_t padding = std::max<int64_t>(0, (left - 1) * stride + window - size);
  std::string x = tensor({1, in, size, size}), w = tensor({out, in / groups, window, window}),
              b = tensor({out}), y = tensor({1, out, left, left});
  std::string body =
      llvm::formatv("  %s = dlc.conv %x, %w, %b {{strides = array<i64: {0}, {0}>, dilations = "
                    "array<i64: 1, 1>, low = array<i64: {1}, {1}>, high = array<i64: {2}, {2}>, "
                    "groups = {3} : i64} : ({4}, {5}, {6}) -> {7}\n",
                    stride, padding / 2, padding - padding / 2, groups, x, w, b, y);
  return {function("%x: " + x + ", %w: " + w + " {dlc.weights}, %b: " + b + " {dlc.weights}", y,
                   body + relu(y)),
          groups == 1 && in >= 64 ? FigureScale::Products : FigureScale::None};
}

/// Case: addition whose operands and result have `bytes` bytes in total.
CalibrationCase sum(int64_t bytes, FigureScale tells) {
  std::string x = tensor({bytes / 12});
  return {function("%a: " + x + ", %b: " + x, x,
                   "  %y = dlc.add %a, %b : (" + x + ", " + x + ") -> " + x + "\n"),
          tells};
}

CalibrationCase rows(const char *op, const char *attributes, int64_t count, int64_t size) {
  std::string x = tensor({count, size});
  return {function("%x: " + x, x,
                   llvm::formatv("  %y = dlc.{0} %x {1} : ({2}) -> {2}\n", op, attributes, x))};
}

CalibrationCase pool(const char *op, int64_t channels, int64_t size) {
  std::string x = tensor({1, channels, size, size}), y = tensor({1, channels, size / 2, size / 2});
  return {function("%x: " + x, y,
                   llvm::formatv("  %y = dlc.{0} %x {{window = array<i64: 2, 2>, strides = "
                                 "array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: "
                                 "0, 0>, high = array<i64: 0, 0>} : ({1}) -> {2}\n",
                                 op, x, y))};
}

/// Case: transpose of positions and heads, as attention requires.
CalibrationCase transposition(int64_t positions, int64_t heads, int64_t size) {
  std::string x = tensor({1, positions, heads, size}), y = tensor({1, heads, size, positions});
  return {
      function("%x: " + x, y, "  %y = dlc.transpose %x [0, 2, 3, 1] : (" + x + ") -> " + y + "\n")};
}

CalibrationCase attention(int64_t heads, int64_t positions, int64_t size) {
  std::string x = tensor({1, heads, positions, size});
  return {function("%q: " + x + ", %k: " + x + ", %v: " + x, x,
                   llvm::formatv("  %y = dlc.attention %q, %k, %v {{scale = 0.125 : f64} : ({0}, "
                                 "{0}, {0}) -> {0}\n",
                                 x))};
}

} // namespace

std::vector<CalibrationCase> calibrationCases(int threads) {
  return {
      sum(int64_t(1) << 20, FigureScale::Near),
      sum(int64_t(12) << 20, FigureScale::Cache),
      sum(int64_t(96) << 20, FigureScale::Memory),
      product(196, 768, 768),
      convolution(128, 128, 28, 3, 1, 1),
      convolution(256, 64, 28, 1, 1, 1),
      convolution(192, 192, 28, 3, 1, 192),
      product(1, 1024, 1024),
      product(16, 512, 512),
      batched(12, 196, 64, 196, true),
      batched(12, 196, 196, 64, false),
      convolution(64, 64, 56, 3, 1, 1),
      convolution(64, 256, 56, 1, 1, 1),
      convolution(3, 64, 112, 7, 2, 1),
      convolution(128, 128, 28, 3, 1, 32),
      convolution(512, 512, 7, 3, 1, 1),
      convolution(96, 96, 56, 7, 1, 96),
      convolution(128, 256, 28, 3, 2, 1),
      rows("softmax", "{axis = 1 : i64}", 2352, 196),
      product(512, 256, 1024),
      attention(12, 256, 64),
      batched(64, 49, 32, 49, true),
      convolution(24, 144, 56, 1, 1, 1),
      pool("max_pool", 64, 112),
      transposition(196, 12, 64),
      convolution(240, 240, 14, 5, 1, 240),
      product(128, 3072, 768),
      convolution(1024, 256, 14, 1, 1, 1),
      product(4, 2048, 1000),
      convolution(256, 256, 14, 3, 1, 1),
      batched(8 * threads, 64, 64, 64, false),
      convolution(64, 128, 56, 1, 2, 1),
      product(1024, 64, 256),
      product(49, 1024, 1024),
  };
}

OwningOpRef<ModuleOp> moduleOf(const CalibrationCase &each, MLIRContext &context) {
  auto module = parseSourceString<ModuleOp>(each.text, ParserConfig(&context));
  if (!module)
    return nullptr;
  auto function = *module->getOps<func::FuncOp>().begin();
  OpBuilder b(&function.getBody().front(), function.getBody().front().begin());
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (unsigned i = function.getNumArguments(); i-- > 0;) {
    if (!function.getArgAttr(i, kWeightsAttr))
      continue;
    BlockArgument argument = function.getArgument(i);
    ref::Tensor values = ref::Tensor::empty(cast<RankedTensorType>(argument.getType()));
    for (int64_t at = 0; at < values.size(); ++at) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      values.setDouble(at, double(state >> 11) * 0x1p-52 - 1);
    }
    auto constant = ConstantOp::create(b, argument.getLoc(), argument.getType(), values.toAttr());
    argument.replaceAllUsesWith(constant);
    if (failed(function.eraseArgument(i)))
      return nullptr;
  }
  return module;
}

} // namespace dlc
