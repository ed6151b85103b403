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

std::string formatTensorType(ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

std::string formatFunction(const std::string &arguments, const std::string &result,
                           const std::string &body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + body +
         "  return %y : " + result + "\n}\n";
}

/// Returns MLIR text of a ReLU. The measured cases contain one because most matmuls and
/// convolutions of models are followed by an activation.
std::string formatRelu(const std::string &type) {
  return "  %y = dlc.relu %s : (" + type + ") -> " + type + "\n";
}

/// Case: matmul of activations [m, k] by constant weights [k, n].
CalibrationCase makeMatmulCase(int64_t m, int64_t k, int64_t n) {
  std::string x = formatTensorType({m, k}), w = formatTensorType({k, n}),
              y = formatTensorType({m, n});
  return {formatFunction("%x: " + x + ", %w: " + w + " {dlc.weights}", y,
                         "  %s = dlc.matmul %x, %w : (" + x + ", " + w + ") -> " + y + "\n" +
                             formatRelu(y)),
          m >= 64 ? ParameterScaling::Products : ParameterScaling::None};
}

/// Case: batched matmul of two activations, [batch, m, k] by [batch, k, n] or, if `transposed`,
/// [batch, n, k].
CalibrationCase makeBatchedMatmulCase(int64_t batch, int64_t m, int64_t k, int64_t n,
                                      bool transposed) {
  std::string a = formatTensorType({batch, m, k}),
              b = transposed ? formatTensorType({batch, n, k}) : formatTensorType({batch, k, n}),
              y = formatTensorType({batch, m, n});
  return {formatFunction("%a: " + a + ", %b: " + b, y,
                         "  %y = dlc.matmul %a, %b" +
                             std::string(transposed ? " transpose_b" : "") + " : (" + a + ", " + b +
                             ") -> " + y + "\n")};
}

/// Case: convolution of a square image with a square window, padded so that only strides reduce its
/// size.
CalibrationCase makeConvolutionCase(int64_t in, int64_t out, int64_t size, int64_t window,
                                    int64_t stride, int64_t groups) {
  int64_t left = (size + stride - 1) / stride;
  int64_t padding = std::max<int64_t>(0, (left - 1) * stride + window - size);
  std::string x = formatTensorType({1, in, size, size}),
              w = formatTensorType({out, in / groups, window, window}), b = formatTensorType({out}),
              y = formatTensorType({1, out, left, left});
  std::string body =
      llvm::formatv("  %s = dlc.conv %x, %w, %b {{strides = array<i64: {0}, {0}>, dilations = "
                    "array<i64: 1, 1>, low = array<i64: {1}, {1}>, high = array<i64: {2}, {2}>, "
                    "groups = {3} : i64} : ({4}, {5}, {6}) -> {7}\n",
                    stride, padding / 2, padding - padding / 2, groups, x, w, b, y);
  return {formatFunction("%x: " + x + ", %w: " + w + " {dlc.weights}, %b: " + b + " {dlc.weights}",
                         y, body + formatRelu(y)),
          groups == 1 && in >= 64 ? ParameterScaling::Products : ParameterScaling::None};
}

/// Case: addition whose operands and result have `bytes` bytes in total.
CalibrationCase makeSumCase(int64_t bytes, ParameterScaling tells) {
  std::string x = formatTensorType({bytes / 12});
  return {formatFunction("%a: " + x + ", %b: " + x, x,
                         "  %y = dlc.add %a, %b : (" + x + ", " + x + ") -> " + x + "\n"),
          tells};
}

CalibrationCase makeRowwiseCase(const char *op, const char *attributes, int64_t count,
                                int64_t size) {
  std::string x = formatTensorType({count, size});
  return {formatFunction(
      "%x: " + x, x, llvm::formatv("  %y = dlc.{0} %x {1} : ({2}) -> {2}\n", op, attributes, x))};
}

CalibrationCase makePoolCase(const char *op, int64_t channels, int64_t size) {
  std::string x = formatTensorType({1, channels, size, size}),
              y = formatTensorType({1, channels, size / 2, size / 2});
  return {formatFunction(
      "%x: " + x, y,
      llvm::formatv("  %y = dlc.{0} %x {{window = array<i64: 2, 2>, strides = "
                    "array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: "
                    "0, 0>, high = array<i64: 0, 0>} : ({1}) -> {2}\n",
                    op, x, y))};
}

/// Case: transpose of positions and heads, as attention requires.
CalibrationCase makeTransposeCase(int64_t positions, int64_t heads, int64_t size) {
  std::string x = formatTensorType({1, positions, heads, size}),
              y = formatTensorType({1, heads, size, positions});
  return {formatFunction("%x: " + x, y,
                         "  %y = dlc.transpose %x [0, 2, 3, 1] : (" + x + ") -> " + y + "\n")};
}

CalibrationCase makeAttentionCase(int64_t heads, int64_t positions, int64_t size) {
  std::string x = formatTensorType({1, heads, positions, size});
  return {
      formatFunction("%q: " + x + ", %k: " + x + ", %v: " + x, x,
                     llvm::formatv("  %y = dlc.attention %q, %k, %v {{scale = 0.125 : f64} : ({0}, "
                                   "{0}, {0}) -> {0}\n",
                                   x))};
}

} // namespace

std::vector<CalibrationCase> calibrationCases(int threads) {
  return {
      makeSumCase(int64_t(1) << 20, ParameterScaling::Near),
      makeSumCase(int64_t(12) << 20, ParameterScaling::Cache),
      makeSumCase(int64_t(96) << 20, ParameterScaling::Memory),
      makeMatmulCase(196, 768, 768),
      makeConvolutionCase(128, 128, 28, 3, 1, 1),
      makeConvolutionCase(256, 64, 28, 1, 1, 1),
      makeConvolutionCase(192, 192, 28, 3, 1, 192),
      makeMatmulCase(1, 1024, 1024),
      makeMatmulCase(16, 512, 512),
      makeBatchedMatmulCase(12, 196, 64, 196, true),
      makeBatchedMatmulCase(12, 196, 196, 64, false),
      makeConvolutionCase(64, 64, 56, 3, 1, 1),
      makeConvolutionCase(64, 256, 56, 1, 1, 1),
      makeConvolutionCase(3, 64, 112, 7, 2, 1),
      makeConvolutionCase(128, 128, 28, 3, 1, 32),
      makeConvolutionCase(512, 512, 7, 3, 1, 1),
      makeConvolutionCase(96, 96, 56, 7, 1, 96),
      makeConvolutionCase(128, 256, 28, 3, 2, 1),
      makeRowwiseCase("softmax", "{axis = 1 : i64}", 2352, 196),
      makeMatmulCase(512, 256, 1024),
      makeAttentionCase(12, 256, 64),
      makeBatchedMatmulCase(64, 49, 32, 49, true),
      makeConvolutionCase(24, 144, 56, 1, 1, 1),
      makePoolCase("max_pool", 64, 112),
      makeTransposeCase(196, 12, 64),
      makeConvolutionCase(240, 240, 14, 5, 1, 240),
      makeMatmulCase(128, 3072, 768),
      makeConvolutionCase(1024, 256, 14, 1, 1, 1),
      makeMatmulCase(4, 2048, 1000),
      makeConvolutionCase(256, 256, 14, 3, 1, 1),
      makeBatchedMatmulCase(8 * threads, 64, 64, 64, false),
      makeConvolutionCase(64, 128, 56, 1, 2, 1),
      makeMatmulCase(1024, 64, 256),
      makeMatmulCase(49, 1024, 1024),
  };
}

OwningOpRef<ModuleOp> parseCaseModule(const CalibrationCase &each, MLIRContext &context) {
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
