//===- Product.h - library-independent description of a matmul ------------===//
//
//   src -+               +- bias, operands of epilogue ops
//        matmul -> epilogue -> dst
//   weights -+
//
// The calls of libraries and of dlc's own kernels are made from this description.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PRODUCT_H
#define DLC_CODEGEN_PROVIDERS_PRODUCT_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Prologue.h"
#include "codegen/providers/Refusal.h"
#include "ir/tensor/Tensor.h"
#include "passes/QuantizedWeights.h"
#include "passes/fuse/Epilogue.h"

namespace dlc {

/// Shape, element type and memory layout of a tensor.
struct TensorDesc {
  llvm::SmallVector<int64_t> dims;
  mlir::Type element;
  /// Strides in elements; if empty, `layout` applies.
  llvm::SmallVector<int64_t> strides = {};
  /// Layout tag of the tensor type; empty means row-major.
  std::string layout = {};

  /// Describes a value by its type and layout.
  static TensorDesc of(mlir::Value value);
  int64_t size() const;
  bool isF32() const { return element.isF32(); }
  /// Returns the strides, also for a row-major layout; std::nullopt for other layouts.
  std::optional<llvm::SmallVector<int64_t>> anyStrides() const;
};

/// Epilogue op that is applied to the sums of a contraction.
struct EpilogueStep {
  enum class Kind { Eltwise, Binary, Sum };
  Kind kind;
  std::string alg = {};
  double alpha = 0, beta = 0;
  double scale = 1;         ///< Sum: factor of the result's previous contents
  TensorDesc operand = {};  ///< Binary: size 1 in broadcast dimensions
  CallArgument source = {}; ///< Binary: buffer of the operand
};

/// Constant weights: [k, n], or [n, k] if `transposed`.
struct ConstantWeights {
  ref::Tensor plain;
  bool transposed = false;
};

/// Batched matmul of [.., m, k] by [.., k, n]. Leading dimensions have dst's size or 1. Batches
/// that share their weights are merged into one tall matmul.
struct Product {
  double flops = 0;
  TensorDesc src, weights, dst;
  CallArgument srcSource, weightsSource, dstSource;
  std::optional<ConstantWeights> constant; ///< constant weights, instead of weightsSource
  std::optional<TensorDesc> bias;
  CallArgument biasSource;
  std::optional<double> scale; ///< factor of the sums
  /// Zero points that are subtracted from 8-bit operands before they are multiplied into i32 sums:
  /// values of the fusion's body. A null value means a zero point of 0.
  mlir::Value srcZeroPoint, weightsZeroPoint;
  std::vector<EpilogueStep> steps;
  /// Old value to which a sum in place adds.
  std::optional<CallArgument> accumulates;
  /// Operand that is computed, or whose columns are summed, while it is packed.
  std::optional<Prologue> prologue;
  bool madeIsLeft = false; ///< whether the prologue's operand is src
  FusionOp fusion;         ///< fusion that this describes
  std::string math;        ///< "bf16" if the operands may be rounded to bf16
};

/// Returns true if the fusion contains a matmul.
bool isProduct(FusionOp fusion);

/// Describes a fusion around a matmul by quantized weights (passes/QuantizedWeights.h). The
/// quantized values become the product's `constant`.
std::optional<Product> describeQuantized(FusionOp fusion, const Refusal &refuse);

/// Reads the weights of such a fusion. Returns nullopt for other fusions.
std::optional<QuantizedWeights> readQuantizedWeights(FusionOp fusion);

/// Describes a fusion around a matmul. `own`: also accepts epilogue ops and computed operands that
/// only dlc's own kernels support. Reports the reason to `refuse` if the fusion does not match.
std::optional<Product> describeProduct(FusionOp fusion, bool own, const Refusal &refuse);

/// Converts the epilogue of a contraction to `steps`. The last op may add to a state in place
/// (`accumulates`). `operandOf` describes a binary op's operand; the function returns false if it
/// returns std::nullopt.
bool describeSteps(FusionOp fusion, const Epilogue &epilogue,
                   llvm::function_ref<std::optional<TensorDesc>(const PostOp &)> operandOf,
                   std::vector<EpilogueStep> &steps, std::optional<CallArgument> &accumulates);

/// Returns a value of the fusion's body as an argument that starts `offset` elements into its
/// buffer.
CallArgument sourceOf(FusionOp fusion, mlir::Value inner, int64_t offset = 0);
CallArgument resultOf(FusionOp fusion, int64_t offset = 0);

} // namespace dlc
#endif
