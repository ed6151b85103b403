//===- Epilogue.h - a contraction with what a library does around it ------===//
//
//   views -> contraction -> + bias -> post-ops -> view
//
// The fuse pass asks it what may join a contraction, and kernel selection asks it again to read the
// fusion's body.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_H
#define DLC_PASSES_FUSE_EPILOGUE_H

#include "passes/fuse/StridedView.h"

#include <string>

namespace dlc {

/// One step after the contraction, in oneDNN's words (algorithm, alpha and beta are its own).
struct PostOp {
  enum class Kind { Eltwise, Binary };
  Kind kind = Kind::Eltwise;
  std::string alg;
  double alpha = 0, beta = 0;
  /// Binary: the second operand, by NumPy's rule against the contraction's result: of its shape,
  /// one element, or one element per channel (dimension 1 of a convolution, the last of a matmul).
  mlir::Value operand;
  /// Binary add: the operand's factor.
  double scale = 1;

  bool isFullSize(llvm::ArrayRef<int64_t> destination) const {
    return operand && shapeOf(operand) == destination;
  }
};

struct Epilogue {
  /// matmul, conv, conv_transpose, or a pool (then there is no rhs, bias or post-op).
  mlir::Operation *anchor = nullptr;
  /// matmul: [.., m, k] and [.., k, n], flags applied, stretched batch dimensions as size 1. Else x
  /// and w as they are.
  /// Of a contraction in i32: the values of 8 bits that it is made of (passes/Widened.h), or a
  /// constant.
  StridedView lhs, rhs;
  /// What is subtracted from the operands of a contraction in i32 first; null: nothing.
  mlir::Value lhsZeroPoint, rhsZeroPoint;
  /// One element per output channel, as [O], [1, .., O] or such; null when there is none.
  mlir::Value bias;
  llvm::SmallVector<PostOp> postOps;
  /// The contraction's result in the buffer of the fusion's result (its base).
  StridedView destination;

  bool isInteger() const;
};

/// An operand of a product, [.., rows, columns], as libraries read it by strides; `transpose`: of
/// the product's flag. Nothing where they do not.
std::optional<StridedView> matrixView(mlir::Value value, bool transpose, OpFilter inside = nullptr);

/// Reads a fusion's body; nothing when it is not of this form. Operands are the body's values:
/// block arguments, or constants. `gradients`: steps of our own products, too, which no library
/// has: binary ones called logistic_gradient, tanh_gradient and relu_gradient.
std::optional<Epilogue> matchEpilogue(FusionOp fusion, bool gradients = false);

/// The same for operations that are not yet a fusion: all of `ops` must be used up, and give
/// `result`.
std::optional<Epilogue> matchEpilogue(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value result,
                                      bool gradients = false);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_H
