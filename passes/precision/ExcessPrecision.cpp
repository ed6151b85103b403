//===- ExcessPrecision.cpp - 16-bit values that kernels keep in f32 -------===//
//
// Marks results in f16 and bf16 with `dlc.excess_precision` if no reader can observe whether they
// are rounded:
//
// - Every reader computes floating-point numbers from the value. Comparisons, searches, remainders,
//   roundings, conversions, matmuls, convolutions and results of functions observe the rounding.
//   Casts of a matmul's result to f32 are an exception: they read its f32 sums.
// - Readers do not see two precisions of one value. If several operations read the value and one of
//   them returns the value's own elements (max(q) in q - max(q)), they may differ by the rounding.
//
// Without the mark (strict accuracy, or a reader that observes the rounding) kernels round each
// result.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/Rounding.h"
#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

using namespace mlir;

namespace dlc {
namespace {

bool isRoundingUnobservable(Value value);

bool isProduct(Operation *op) { return op && precision::classOf(op) == NumericClass::Product; }

/// Returns whether the reader computes floating-point numbers that vary smoothly with the operand,
/// so that rounding of the operand is not observable. For a reader that only moves elements, its
/// own readers are checked instead, because kernels read through it.
bool isSmoothReader(Operation *user, Value operand) {
  if (isa<ReduceOp>(user))
    return true;
  if (user->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(user->getResult(0).getType())))
    return false;
  if (user->hasTrait<ElementMove>() || user->hasTrait<View>())
    return isRoundingUnobservable(user->getResult(0));
  if (isa<CastOp>(user))
    return isProduct(operand.getDefiningOp());
  return user->hasTrait<Elementwise>() && !user->hasTrait<NoGradient>() && !isa<RemOp>(user);
}

/// Returns whether the reader returns elements of the operand, perhaps in a wider type.
bool returnsElements(Operation *user) { return commutesWithRounding(user) || isa<CastOp>(user); }

/// Returns whether no reader of the value can observe if it was rounded to 16 bits, and all readers
/// get the same precision.
bool isRoundingUnobservable(Value value) {
  llvm::SmallSetVector<Operation *, 4> users;
  for (Operation *user : value.getUsers()) {
    if (!isSmoothReader(user, value))
      return false;
    users.insert(user);
  }
  if (users.size() == 1)
    return true;
  // A reader that returns elements of the value does not make its rounding observable if only this
  // reader uses the results of all other readers, as in max(x, slope * x).
  return !users.empty() && llvm::all_of(users, [&](Operation *exact) {
    return !returnsElements(exact) || llvm::all_of(users, [&](Operation *other) {
      return other == exact ||
             llvm::all_of(other->getUsers(), [&](Operation *next) { return next == exact; });
    });
  });
}

/// Returns whether kernels compute the operation's result in f32 and pass it on to other
/// operations.
bool isComputedInF32(Operation *op) {
  if (isa<CastOp>(op))
    return false; // a cast requests rounding
  if (isa<ReduceOp, AvgPoolOp>(op) || op->hasTrait<Elementwise>())
    return true;
  return isProduct(op) && !precision::isStrictAccuracy(op);
}

struct ExcessPrecisionPass : OptionPass<ExcessPrecisionPass> {
  explicit ExcessPrecisionPass(const ModelOptions &options)
      : OptionPass("dlc-excess-precision", "marks 16-bit values that kernels may keep in f32",
                   {"accuracy"}, options) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    module.walk([&](Operation *op) {
      bool isMarked = options.accuracy != "strict" && op->getNumResults() == 1 &&
                      isSixteenBitFloat(op->getResult(0).getType()) && isComputedInF32(op) &&
                      isRoundingUnobservable(op->getResult(0));
      if (isMarked)
        op->setAttr(kExcessPrecisionAttr, UnitAttr::get(op->getContext()));
      else
        op->removeAttr(kExcessPrecisionAttr);
    });
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createExcessPrecisionPass(const ModelOptions &options) {
  return std::make_unique<ExcessPrecisionPass>(options);
}

} // namespace dlc
