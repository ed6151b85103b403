//===- ConstantRewrites.h - numeric legality of rewrites that move constants ----===//
//
// Rewrites that merge constants, move them across an operation or change the rounding of an
// operation are described here as a ConstantRewrite. One function, isRewriteAllowed(), accepts or
// rejects them. docs/accuracy.md documents the guarantees of its limits.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_CONSTANTREWRITES_H
#define DLC_PASSES_CONSTANTREWRITES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

namespace dlc {

/// Returns whether rewrites of the operation must keep every bit of its result (accuracy "strict").
/// The accuracy attribute of the operation itself takes precedence over that of the operations that
/// contain it.
bool requiresStrictAccuracy(mlir::Operation *op);

/// Sets the accuracy level of `--accuracy` on a module or a kernel. Only the level "strict" forbids
/// rewrites.
void setAccuracy(mlir::Operation *to, llvm::StringRef level);
/// Copies the accuracy level of the module that contains `from` to another module or a kernel.
void copyAccuracy(mlir::Operation *from, mlir::Operation *to);

/// A rewrite that moves, merges or folds constants of one element type.
struct ConstantRewrite {
  enum class Kind {
    MergeFactors,     ///< (x * c1) * c2 .. = x * (c1 * c2 ..)
    MergeScales,      ///< (x c1) . (y c2) = (x . y) * (c1 * c2) for integers x and y
    MergeTerms,       ///< (x + c1) + c2 = x + (c1 + c2)
    MoveFactors,      ///< f(c1 x, c2 y ..) = (c1 * c2 ..) f(x, y ..) for sums of products f
    FoldFactor,       ///< c1 (w . x) = (c1 w) . x for weights w whose magnitudes are c2 ..
    DistributeFactor, ///< (y + c1) * c2 = y * c2 + c1 * c2 for results y of magnitude c3
    ReplaceDivision,  ///< x / c1 = x * (1 / c1)
    ChangeRounding    ///< another formula for the same real function, with the same range
  };
  Kind kind;
  mlir::Type element;
  llvm::SmallVector<double, 4> constants;
};

/// Returns whether the rewrite may replace `op`. Rewrites of integers are always allowed. If
/// requiresStrictAccuracy(op) holds, the result must have the same bits for every operand.
/// Otherwise only rounding may change: no finite result becomes infinite, NaN or zero, and no other
/// result becomes finite.
bool isRewriteAllowed(const ConstantRewrite &rewrite, mlir::Operation *op);

/// Returns whether x / c and x * (1 / c) are the same number for every x of the type.
bool hasExactReciprocal(double c, mlir::Type element);

} // namespace dlc

#endif // DLC_PASSES_CONSTANTREWRITES_H
