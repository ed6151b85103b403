//===- Epilogue.h - matches a contraction with its fused epilogue ---------===//
//
//   views -> contraction -> + bias -> post-ops -> view
//
// The fuse pass uses this matcher to decide which operations can be fused with a contraction.
// Kernel selection uses it again to match the body of the fusion.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_H
#define DLC_PASSES_FUSE_EPILOGUE_H

#include "passes/fuse/StridedView.h"

#include <string>

namespace dlc {

/// One epilogue op of a contraction, in the terms of oneDNN: `alg`, `alpha` and `beta` have its
/// meaning.
struct PostOp {
  enum class Kind { Eltwise, Binary };
  Kind kind = Kind::Eltwise;
  std::string alg;
  double alpha = 0, beta = 0;
  /// Binary: the second operand. It broadcasts against the contraction's result by NumPy's rule: it
  /// has the shape of the result, one element, or one element per channel (dimension 1 of a
  /// convolution, the last dimension of a matmul).
  mlir::Value operand;
  /// Binary add: factor of the operand.
  double scale = 1;

  bool isFullSize(llvm::ArrayRef<int64_t> destination) const {
    return operand && shapeOf(operand) == destination;
  }
};

struct Epilogue {
  /// matmul, conv, conv_transpose, or a pool. A pool has no rhs, bias or post-ops.
  mlir::Operation *anchor = nullptr;
  /// Operands of the contraction. For a matmul, these are [.., m, k] and [.., k, n] after the
  /// transpose flags are applied, with broadcast batch dimensions of size 1. Otherwise, these are x
  /// and w unchanged.
  StridedView lhs, rhs;
  /// Zero points of the operands of a contraction of integers, with one element. Null means 0.
  mlir::Value lhsZeroPoint, rhsZeroPoint;
  /// Bias with one element per output channel, in a shape such as [O] or [1, .., O]. Null if there
  /// is none.
  mlir::Value bias;
  llvm::SmallVector<PostOp> postOps;
  /// Strides of the contraction's result in the buffer of the fusion's result, which is the base.
  StridedView destination;

  bool isInteger() const;
};

/// Operand of a matmul, [.., rows, columns], as a strided view that libraries support. `transpose`
/// is the flag of the matmul. Returns nullopt if libraries do not support the strides.
std::optional<StridedView> matrixView(mlir::Value value, bool transpose, OpFilter inside = nullptr);

/// Matches the body of a fusion. Returns nullopt if it does not have the form above. The operands
/// of the epilogue are values of the body: block arguments or constants. With `gradients`, also
/// matches epilogue ops that only kernels of dlc support and no library: the binary ops
/// logistic_gradient, tanh_gradient and relu_gradient.
std::optional<Epilogue> matchEpilogue(FusionOp fusion, bool gradients = false);

/// Matches operations that are not yet a fusion. All of `ops` must belong to the epilogue, and
/// `result` must be its result.
std::optional<Epilogue> matchEpilogue(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value result,
                                      bool gradients = false);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_H
