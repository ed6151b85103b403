//===- Product.h - library-independent description of a matmul ------------===//
//
//   src -+               +- bias, operands of epilogue ops
//        matmul -> epilogue -> dst
//   weights -+
//
// Calls of library kernels and of dlc's own kernels are created from this description.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PRODUCT_H
#define DLC_CODEGEN_PROVIDERS_PRODUCT_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Prologue.h"
#include "codegen/providers/Refusal.h"
#include "ir/tensor/Tensor.h"
#include "passes/QuantizedWeights.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "runtime/epilogue/ConvertOps.h"
#include "runtime/library/schema/Schema.h"

namespace dlc {

/// Shape, element type and memory layout of a tensor.
struct TensorDesc {
  llvm::SmallVector<int64_t> dims;
  mlir::Type element;
  /// Strides in elements; if empty, `layout` determines the order.
  llvm::SmallVector<int64_t> strides = {};
  /// Layout tag of the tensor type; empty means row-major.
  std::string layout = {};

  /// Describes a value by its type and its layout.
  static TensorDesc of(mlir::Value value);
  int64_t size() const;
  bool isF32() const { return element.isF32(); }
  /// Returns the strides, which are computed for a row-major layout; std::nullopt for other
  /// layouts.
  std::optional<llvm::SmallVector<int64_t>> anyStrides() const;
};

/// Epilogue op that is applied to the result of a matmul or convolution.
struct EpilogueStep {
  enum class Kind { Activation, Binary, Sum };
  Kind kind;
  Activation activation = Activation::Linear;
  double alpha = 0, beta = 0; ///< parameters of the activation function
  EpilogueBinary binary = EpilogueBinary::Add;
  double scale = 1; ///< for Kind::Sum: factor of the result's previous contents, which are added
  /// For Kind::Binary: second operand, with size 1 in broadcast dimensions.
  TensorDesc operand = {};
  CallArgument source = {}; ///< for Kind::Binary: buffer of the operand

  bool is(Activation which) const { return kind == Kind::Activation && activation == which; }
  bool is(EpilogueBinary which) const { return kind == Kind::Binary && binary == which; }
  /// Returns the name of the op in the descriptions of dlc's own kernels.
  llvm::StringRef name() const;
};

/// Constant weights: [k, n], or [n, k] if `transposed`.
struct ConstantWeights {
  ref::Tensor plain;
  bool transposed = false;
};

/// Batched matmul of [.., m, k] by [.., k, n]. Leading dimensions have dst's size or 1. Batches
/// that share their weights are merged into one matmul with more rows.
struct MatmulDescription {
  double flops = 0;
  TensorDesc src, weights, dst;
  CallArgument srcSource, weightsSource, dstSource;
  /// Constant right operand, if there is one; it replaces weightsSource.
  std::optional<ConstantWeights> constant;
  std::optional<TensorDesc> bias;
  CallArgument biasSource;
  std::optional<double> scale; ///< factor by which the matmul's result is multiplied
  /// Zero points that are subtracted from 8-bit operands before they are multiplied and summed in
  /// i32. They are values of the fusion's body; null means a zero point of 0.
  mlir::Value srcZeroPoint, weightsZeroPoint;
  std::vector<EpilogueStep> steps;
  /// Old value to which an in-place sum adds the result.
  std::optional<CallArgument> accumulates;
  /// Operand that is computed, or whose column sums are computed, while it is packed.
  std::optional<Prologue> prologue;
  bool madeIsLeft = false; ///< whether the prologue computes the left operand (src)
  FusionOp fusion;         ///< fusion that contains the matmul
  std::string math;        ///< "bf16" if the operands may be rounded to bf16
};

/// Returns true if the fusion contains a matmul.
bool hasMatmul(FusionOp fusion);

/// Describes a fusion of a matmul with quantized weights (passes/QuantizedWeights.h). The quantized
/// values become the product's `constant`.
std::optional<MatmulDescription> describeQuantizedMatmul(FusionOp fusion, const Refusal &refuse);

/// Reads the quantized weights of a fusion's matmul. Returns nullopt for fusions without quantized
/// weights.
std::optional<QuantizedWeights> readQuantizedWeights(FusionOp fusion);

/// Describes a fusion of a matmul. `own`: also accepts epilogue ops and computed operands that only
/// dlc's own kernels support. Reports the reason to `refuse` if the fusion does not match.
std::optional<MatmulDescription> describeMatmul(FusionOp fusion, bool own, const Refusal &refuse);

/// Converts the epilogue of a contraction to `steps`. The last op may add to a state in place
/// (`accumulates`). `operandOf` describes a binary op's operand. Returns false if an op is
/// unsupported or `operandOf` returns std::nullopt.
bool describeSteps(FusionOp fusion, const Epilogue &epilogue,
                   llvm::function_ref<std::optional<TensorDesc>(const EpilogueOp &)> operandOf,
                   std::vector<EpilogueStep> &steps, std::optional<CallArgument> &accumulates);

/// Describes an epilogue op as a record of a library's schema (schema::PostOp or
/// schema::OnednnPostOp). The operand of a binary op is not set.
template <typename PostOp> PostOp describeStep(const EpilogueStep &step) {
  using Algorithm = typename decltype(PostOp::alg)::value_type;
  PostOp op;
  switch (step.kind) {
  case EpilogueStep::Kind::Activation:
    op.kind = schema::PostOpKind::Eltwise;
    op.alg = convertOp<Algorithm>(step.activation);
    op.alpha = step.alpha;
    op.beta = step.beta;
    break;
  case EpilogueStep::Kind::Binary:
    op.kind = schema::PostOpKind::Binary;
    op.alg = convertOp<Algorithm>(step.binary);
    break;
  case EpilogueStep::Kind::Sum:
    op.kind = schema::PostOpKind::Sum;
    op.scale = step.scale;
    break;
  }
  return op;
}

/// Returns a call argument for a value of the fusion's body. The argument starts `offset` elements
/// into the value's buffer.
CallArgument makeSourceArgument(FusionOp fusion, mlir::Value inner, int64_t offset = 0);
CallArgument makeResultArgument(FusionOp fusion, int64_t offset = 0);

} // namespace dlc
#endif
