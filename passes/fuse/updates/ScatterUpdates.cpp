//===- ScatterUpdates.cpp - sinks scatter-adds into the tensors they are added to ----===//
//
//   zeros -> scatter add (rows of a table's gradient) -> times scalars -> added to X
//
// becomes a scatter-add of the scaled rows into X itself, if that is possible in place. The table
// of zeros is not created, and only those rows of X are accessed that have a gradient.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/ConstantRewrites.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/fuse/grouping/FuseSteps.h"

using namespace mlir;

namespace dlc {
namespace {

bool isZero(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return isZero(broadcast.getX());
  std::optional<double> splat = splatValue(value);
  return splat && *splat == 0;
}

/// Scalar factors by which the result of a scatter is multiplied before it is added to another
/// tensor, in program order.
struct ScalarFactors {
  SmallVector<std::pair<Value, bool>> scalars; // the scalar, and whether it is a divisor
  bool negative = false;

  /// If `op` multiplies or divides `value` by a scalar, or negates it, records the factor and
  /// returns the result of `op`. Otherwise returns null.
  Value take(Operation *op, Value value) {
    if (isa<NegOp>(op)) {
      negative = !negative;
      return op->getResult(0);
    }
    bool divides = isa<DivOp>(op);
    if (!divides && !isa<MulOp>(op))
      return {};
    unsigned number = op->getOperand(0) == value ? 1 : 0;
    Value other = op->getOperand(number);
    if (other == value || (divides && number == 0) || op->getResult(0).getType() != value.getType())
      return {};
    std::optional<double> constant = splatValue(other);
    if ((typeOf(other).getRank() != 0 && !constant) || !mayMove(op, constant))
      return {};
    scalars.push_back({other, divides});
    return op->getResult(0);
  }

  /// Returns whether a factor may be applied to the scattered updates instead of to their sums.
  /// `constant` is its value, or nullopt if the factor is not a constant.
  static bool mayMove(Operation *op, std::optional<double> constant) {
    using Kind = ConstantRewrite::Kind;
    Type element = typeOf(op->getResult(0)).getElementType();
    return constant ? isRewriteAllowed({Kind::FoldFactor, element, {*constant, 1}}, op)
                    : isRewriteAllowed({Kind::ChangeRounding, element, {}}, op);
  }

  Value apply(TensorBuilder &b, Value x) const {
    for (auto [scalar, divides] : scalars) {
      Value factor = scalar;
      if (typeOf(factor).getRank() != 0)
        factor = b.scalar(*splatValue(factor), x);
      x = divides ? b.make<DivOp>(x, factor) : b.make<MulOp>(x, factor);
    }
    return negative ? b.make<NegOp>(x) : x;
  }
};

/// Returns whether a scatter-add can accumulate in the memory of `into`: `into` is a state whose
/// new value is `sum`, or a matmul or another scatter without other users.
bool canAccumulateInPlace(Value into, Value sum) {
  if (isStateUpdate(into, sum))
    return true;
  Operation *maker = into.getDefiningOp();
  return maker && into.hasOneUse() && isa<MatmulOp, ScatterNdOp, ScatterElementsOp>(maker);
}

Value createScatter(ScatterNdOp op, TensorBuilder &b, Value into, Value updates) {
  return b.make<ScatterNdOp>(into, op.getIndices(), updates, op.getReduction());
}
Value createScatter(ScatterElementsOp op, TensorBuilder &b, Value into, Value updates) {
  return b.make<ScatterElementsOp>(into, op.getIndices(), updates, op.getAxis(), op.getReduction());
}

/// Follows one use of a scatter into zeros to the addition of its result to another tensor, and
/// replaces that addition by a scatter into this tensor.
template <typename Op> void sinkIntoAddition(Op scatter, OpOperand &use) {
  ScalarFactors factors;
  Value value = scatter.getY();
  Operation *user = use.getOwner();
  while (user->getBlock() == scatter->getBlock()) {
    if (Value next = factors.take(user, value)) {
      if (!next.hasOneUse())
        return;
      value = next;
      user = *value.getUsers().begin();
      continue;
    }
    bool isSub = isa<SubOp>(user);
    if (!isSub && !isa<AddOp>(user))
      return;
    unsigned number = user->getOperand(0) == value ? 1 : 0;
    Value into = user->getOperand(number), sum = user->getResult(0);
    if (into == value || (isSub && number == 1) || into.getType() != value.getType() ||
        sum.getType() != value.getType() || !canAccumulateInPlace(into, sum))
      return;
    factors.negative ^= isSub;
    OpBuilder builder(user);
    TensorBuilder b(builder, scatter.getLoc());
    Value updates = factors.apply(b, scatter.getUpdates());
    sum.replaceAllUsesWith(createScatter(scatter, b, into, updates));
    user->erase();
    return;
  }
}

template <typename Op> void sinkScatter(Op scatter) {
  Type element = typeOf(scatter.getY()).getElementType();
  // Only f32 and f64 are supported, because sums in narrower types would be rounded after each
  // added update.
  if (scatter.getReduction() != ScatterReduction::add || !isZero(scatter.getX()) ||
      !(element.isF32() || element.isF64()))
    return;
  // If the result of the scatter has other users, it must be computed in any case. Adding it to the
  // other tensor then costs less than scattering the updates a second time, unless the updates have
  // far fewer elements than the result.
  constexpr int64_t muchLess = 8;
  if (!scatter.getY().hasOneUse() && staticElements(typeOf(scatter.getUpdates())) * muchLess >
                                         staticElements(typeOf(scatter.getY())))
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : scatter.getY().getUses())
    uses.push_back(&use);
  for (OpOperand *use : uses)
    sinkIntoAddition(scatter, *use);
}

} // namespace

void sinkScatters(Block &block) {
  SmallVector<Operation *> scatters;
  for (Operation &op : block)
    if (isa<ScatterNdOp, ScatterElementsOp>(op))
      scatters.push_back(&op);
  for (Operation *op : scatters) {
    if (auto scatter = dyn_cast<ScatterNdOp>(op))
      sinkScatter(scatter);
    else
      sinkScatter(cast<ScatterElementsOp>(op));
  }
}

} // namespace dlc
