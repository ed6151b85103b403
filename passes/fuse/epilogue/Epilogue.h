//===- Epilogue.h - matches a contraction with its fused epilogue ---------===//
//
//   views -> contraction -> + bias -> epilogue ops -> view
//
// The fuse pass uses this matcher to decide which operations can be fused with a contraction.
// Kernel selection uses it again to match the body of the fusion.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_EPILOGUE_H
#define DLC_PASSES_FUSE_EPILOGUE_EPILOGUE_H

#include "passes/fuse/analysis/StridedView.h"
#include "runtime/epilogue/EpilogueOps.h"

namespace dlc {

/// Operation that a contraction's kernel applies to its result before storing it: an activation, or
/// a binary operation with a second operand. runtime/epilogue/EpilogueOps.def lists all of them.
struct EpilogueOp {
  enum class Kind { Activation, Binary };
  Kind kind = Kind::Activation;
  Activation activation = Activation::Linear;
  double alpha = 0, beta = 0; ///< parameters of the activation
  EpilogueBinary binary = EpilogueBinary::Add;
  /// Second operand of a binary op. It broadcasts against the contraction's result by NumPy's rule:
  /// it has the shape of the result, one element, or one element per channel (dimension 1 of a
  /// convolution, the last dimension of a matmul).
  mlir::Value operand;
  /// Factor by which a binary add multiplies its second operand.
  double scale = 1;

  bool is(Activation which) const { return kind == Kind::Activation && activation == which; }
  bool is(EpilogueBinary which) const { return kind == Kind::Binary && binary == which; }
  bool isFullSize(llvm::ArrayRef<int64_t> destination) const {
    return operand && shapeOf(operand) == destination;
  }
};

struct Epilogue {
  /// Operation to which the epilogue is fused: a matmul, conv, conv_transpose or pool. A pool has
  /// no rhs, bias or epilogue ops.
  mlir::Operation *anchor = nullptr;
  /// Operands of the contraction. For a matmul, they are [.., m, k] and [.., k, n] after the
  /// transpose flags are applied, with broadcast batch dimensions of size 1. For other
  /// contractions, they are x and w unchanged.
  StridedView lhs, rhs;
  /// Zero points of the operands of an integer contraction, with one element each. Null means 0.
  mlir::Value lhsZeroPoint, rhsZeroPoint;
  /// Bias with one element per output channel, in a shape such as [O] or [1, .., O]. Null if there
  /// is none.
  mlir::Value bias;
  llvm::SmallVector<EpilogueOp> epilogueOps;
  /// View that describes where the contraction writes its result: the base is the fusion's result.
  StridedView destination;

  bool isInteger() const;
};

/// Returns the operand of a matmul, [.., rows, columns], as a strided view, or nullopt if libraries
/// do not support its strides. `transpose` is the matmul's transpose flag for this operand.
std::optional<StridedView> matrixView(mlir::Value value, bool transpose, OpFilter inside = nullptr);

/// Matches the body of a fusion as a contraction (or pool) with epilogue ops. Returns nullopt if
/// the body has any other operations. The operands of the epilogue are values of the body: block
/// arguments or constants. With `gradients`, also matches the binary epilogue ops that only dlc's
/// own kernels support: logistic_gradient, tanh_gradient and relu_gradient.
std::optional<Epilogue> matchEpilogue(FusionOp fusion, bool gradients = false);

/// Matches operations that are not yet a fusion as a contraction with epilogue ops. All of `ops`
/// must belong to the epilogue, and `result` must be its result.
std::optional<Epilogue> matchEpilogue(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value result,
                                      bool gradients = false);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_EPILOGUE_H
