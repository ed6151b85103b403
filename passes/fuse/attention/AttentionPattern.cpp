//===- AttentionPattern.cpp - matches attention composed of matmuls and a softmax ----===//
#include "passes/fuse/attention/AttentionPattern.h"

#include "ir/dlc/Shape.h"
#include "passes/ConstantRewrites.h"

using namespace mlir;

namespace dlc {

/// Matches a multiplication by a scalar: if `value` is x * c or x / c with a constant c and has a
/// single user, returns x and the factor. Otherwise returns `value` and 1.
static std::pair<Value, double> matchScalarFactor(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<MulOp, DivOp>(op) || !value.hasOneUse())
    return {value, 1};
  for (int side : {0, 1}) {
    Value from = op->getOperand(side);
    std::optional<double> number = splatValue(op->getOperand(1 - side));
    if (!number || from.getType() != value.getType() || (isa<DivOp>(op) && side == 1))
      continue;
    if (isa<DivOp>(op) &&
        !isRewriteAllowed(
            {ConstantRewrite::Kind::ReplaceDivision, typeOf(value).getElementType(), {*number}},
            op))
      break;
    return {from, isa<DivOp>(op) ? 1 / *number : *number};
  }
  return {value, 1};
}

std::optional<AttentionPattern> AttentionPattern::match(SoftmaxOp softmax) {
  Value weights = softmax.getY(), value = softmax.getX();
  RankedTensorType type = typeOf(weights);
  int64_t rank = type.getRank();
  if (rank < 3 || int64_t(softmax.getAxis()) != rank - 1 || !type.hasStaticShape() ||
      !weights.hasOneUse() || !value.hasOneUse())
    return std::nullopt;
  AttentionPattern found;
  found.result = dyn_cast<MatmulOp>(*weights.user_begin());
  if (!found.result || found.result.getA() != weights || found.result.getTransposeA())
    return std::nullopt;
  found.ops = {found.result, softmax};
  auto stepTo = [&](Value from) {
    if (from != value)
      found.ops.push_back(value.getDefiningOp());
    value = from;
  };
  if (auto add = value.getDefiningOp<AddOp>())
    for (auto [from, mask] : {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())})
      if (!found.mask && from.getType() == type && from.hasOneUse() &&
          matchScalarFactor(from).first.getDefiningOp<MatmulOp>()) {
        stepTo(from);
        found.mask = mask;
      }
  auto [product, scale] = matchScalarFactor(value);
  stepTo(product);
  found.scale = scale;
  auto scores = product.getDefiningOp<MatmulOp>();
  if (!scores || !product.hasOneUse() || scores.getTransposeA() ||
      scores->getDiscardableAttrDictionary() != found.result->getDiscardableAttrDictionary())
    return std::nullopt;
  found.ops.push_back(scores);
  found.q = scores.getA();
  found.k = scores.getB();
  found.v = found.result.getB();
  found.keysTransposed = !scores.getTransposeB();
  found.valuesTransposed = found.result.getTransposeB();
  // AttentionOp requires equal batch dimensions of its operands, whereas matmul broadcasts batch
  // dimensions.
  for (Value operand : {found.q, found.k, found.v})
    if (!typeOf(operand).hasStaticShape() || typeOf(operand).getRank() != rank ||
        shapeOf(operand).drop_back(2) != staticShape(type).drop_back(2))
      return std::nullopt;
  return found;
}

AttentionOp AttentionPattern::make(OpBuilder &builder) const {
  builder.setInsertionPoint(result);
  auto transposed = [&](Value matrix, bool isTransposed) -> Value {
    if (!isTransposed)
      return matrix;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(matrix).getRank()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return TransposeOp::create(builder, result->getLoc(), matrix, order);
  };
  auto whole = AttentionOp::create(builder, result->getLoc(), q, transposed(k, keysTransposed),
                                   transposed(v, valuesTransposed), mask, APFloat(scale), false);
  whole->setDiscardableAttrs(result->getDiscardableAttrDictionary());
  return whole;
}

void AttentionPattern::replaceBy(AttentionOp whole) {
  result.getY().replaceAllUsesWith(whole.getY());
  for (Operation *op : ops)
    op->erase();
}

} // namespace dlc
