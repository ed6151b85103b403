//===- Product.h - what a matrix product is, in no library's words ---------===//
//
//   src -+            +- bias, operands of steps
//        matmul -> steps -> dst
//   weights -+
//
// Libraries' words and our own kernels' are made of this.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PRODUCT_H
#define DLC_CODEGEN_PROVIDERS_PRODUCT_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Prologue.h"
#include "codegen/providers/Refusal.h"
#include "ir/tensor/Tensor.h"
#include "passes/ScaledBlocks.h"
#include "passes/fuse/Epilogue.h"

namespace dlc {

/// Sizes, and where elements lie.
struct TensorForm {
  llvm::SmallVector<int64_t> dims;
  mlir::Type element;
  /// Elements from one to the next; empty: as `layout` says.
  llvm::SmallVector<int64_t> strides = {};
  /// As the type's; empty: row by row.
  std::string layout = {};

  /// Of the type, its layout included.
  static TensorForm of(mlir::Value value);
  int64_t size() const;
  bool isF32() const { return element.isF32(); }
  /// Also of a layout that is row-major; nothing for others.
  std::optional<llvm::SmallVector<int64_t>> anyStrides() const;
};

/// A step after the sums.
struct EpilogueStep {
  enum class Kind { Eltwise, Binary, Sum };
  Kind kind;
  std::string alg = {};
  double alpha = 0, beta = 0;
  double scale = 1;         ///< Sum: of what the result holds before
  TensorForm operand = {};  ///< Binary: size 1 where it repeats itself
  CallArgument source = {}; ///< Binary: where that is
};

/// Constant weights: [k, n], or [n, k] where they lie turned.
struct ConstantWeights {
  ref::Tensor plain;
  bool turned = false;
  /// Of i32 ones that become i8: what is taken from each first.
  std::optional<int64_t> shift = {};
};

/// What must be taken from constants of i32 so that i8 holds them; nothing where they differ by
/// more than 8 bits hold.
std::optional<int64_t> shiftToInt8(const ref::Tensor &wide);

/// [.., m, k] by [.., k, n]; leading dimensions have the size of dst's, or 1. Batches that share
/// their weights are one tall product.
struct Product {
  double flops = 0;
  TensorForm src, weights, dst;
  CallArgument srcSource, weightsSource, dstSource;
  std::optional<ConstantWeights> constant; ///< instead of weightsSource
  std::optional<TensorForm> bias;
  CallArgument biasSource;
  std::optional<double> scale; ///< of the sums
  /// Of 8-bit operands whose products are summed up in i32: what is subtracted first, values of
  /// the fusion's body; null: nothing.
  mlir::Value srcZeroPoint, weightsZeroPoint;
  std::vector<EpilogueStep> steps;
  /// What a sum in place starts as.
  std::optional<CallArgument> accumulates;
  /// An operand that is made, or summed up, while it is packed.
  std::optional<Prologue> prologue;
  bool madeIsLeft = false; ///< src
  FusionOp fusion;         ///< what is described
  std::string math;        ///< bf16: operands may be rounded to it
};

/// Whether the fusion is made around a matrix product.
bool isProduct(FusionOp fusion);

/// Reads a fusion around a product by constant weights of few bits in blocks
/// (passes/ScaledBlocks.h), whose numbers are its `constant`.
std::optional<Product> describeBlocks(FusionOp fusion, const ScaledBlocks &blocks,
                                      const Refusal &no);

/// Reads a fusion around a matrix product. `own`: also with steps and operands that only our own
/// kernels make. `why` where it is none.
std::optional<Product> describeProduct(FusionOp fusion, bool own, const Refusal &no);

/// Steps of a contraction, the last of which may add to a state in place (`accumulates`).
/// `operandOf`: a binary step's operand; nothing where it cannot be one. False then.
bool describeSteps(FusionOp fusion, const Epilogue &epilogue,
                   llvm::function_ref<std::optional<TensorForm>(const PostOp &)> operandOf,
                   std::vector<EpilogueStep> &steps, std::optional<CallArgument> &accumulates);

/// A fusion's value as an argument, from so many elements on.
CallArgument sourceOf(FusionOp fusion, mlir::Value inner, int64_t offset = 0);
CallArgument resultOf(FusionOp fusion, int64_t offset = 0);

} // namespace dlc
#endif
