//===- Prologue.cpp - matches the computation of a matmul's operand -------===//
#include "codegen/providers/Prologue.h"

#include "passes/fuse/analysis/StridedView.h"

using namespace mlir;

namespace dlc {

namespace {

bool isElementwise(Operation *op) { return op && op->hasTrait<Elementwise>(); }

/// Returns the value to which a chain of reshapes and transposes that ends in `v` is applied.
Value skipViews(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp>(op))
      break;
    v = op->getOperand(0);
  }
  return v;
}

struct PrologueMatcher {
  Prologue prologue;

  ArrayRef<int64_t> shape() const { return shapeOf(prologue.made); }

  /// Returns true if `v` is a fusion argument with one element per row of the computed operand or,
  /// if `single`, one element for all rows.
  bool isRow(Value v, bool single) const {
    if (!isa<BlockArgument>(v) || !layoutOf(v.getType()).empty())
      return false;
    SmallVector<int64_t> rows(shape());
    rows.back() = 1;
    return shapeOf(v) == ArrayRef(rows) || (single && typeOf(v).getNumElements() == 1);
  }
  bool isFull(Value v) const { return shapeOf(v) == shape(); }

  /// If one operand of `op` has one element per row (see isRow), stores it in `row` and returns the
  /// other operand; otherwise returns null.
  Value takeRow(Operation *op, Value &row, bool anyOrder) {
    for (int i : {1, 0}) {
      if (i == 0 && !anyOrder)
        break;
      Value v = op->getOperand(i);
      if (!isRow(v, true) || !typeOf(v).getElementType().isF32() || !isFull(op->getOperand(1 - i)))
        continue;
      row = v;
      prologue.ops.push_back(op);
      return op->getOperand(1 - i);
    }
    return {};
  }

  /// Matches the one-hot term select(column index == hot, value, 0).
  bool takeHot(Value v) {
    auto select = v.getDefiningOp<SelectOp>();
    auto compare = select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
    if (!compare || compare.getPredicate() != Predicate::eq || !isFull(v) ||
        !isFull(compare.getY()) || !isSplatWithValue(select.getB(), 0))
      return false;
    std::optional<double> value = splatValue(select.getA());
    for (int i : {0, 1}) {
      auto iota = compare->getOperand(i).getDefiningOp<IotaOp>();
      Value row = compare->getOperand(1 - i);
      if (!value || !iota || int64_t(iota.getAxis()) != typeOf(iota.getY()).getRank() - 1 ||
          shapeOf(iota.getY()).back() != shape().back() || !isRow(row, false) ||
          !typeOf(row).getElementType().isSignlessInteger(64))
        continue;
      prologue.hot = row;
      prologue.value = *value;
      prologue.ops.append({select, compare, iota});
      return true;
    }
    return false;
  }

  bool read() {
    Value v = prologue.made;
    if (auto add = v.getDefiningOp<AddOp>())
      for (int i : {0, 1})
        if (takeHot(add->getOperand(i))) {
          prologue.ops.push_back(add);
          v = add->getOperand(1 - i);
          break;
        }
    if (auto mul = v.getDefiningOp<MulOp>())
      if (!(v = takeRow(mul, prologue.factor, true)))
        return false;
    if (auto exp = v.getDefiningOp<ExpOp>()) {
      prologue.exponential = true;
      prologue.ops.push_back(exp);
      v = exp.getX();
    }
    if (auto sub = v.getDefiningOp<SubOp>())
      if (!(v = takeRow(sub, prologue.shift, false)))
        return false;
    prologue.x = v;
    return isa<BlockArgument>(v) && isFull(v) && typeOf(v).getElementType().isF32() &&
           layoutOf(v.getType()).empty();
  }

  /// Matches the column sums of the operand, which are the fusion's second result if it has one.
  bool readSums(FusionOp fusion) {
    if (fusion.getNumResults() == 1)
      return true;
    auto reduce = fusion.getBody().front().getTerminator()->getOperand(1).getDefiningOp<ReduceOp>();
    if (fusion.getNumResults() > 2 || !reduce || reduce.getKind() != ReduceKind::sum)
      return false;
    int64_t rank = typeOf(reduce.getX()).getRank();
    if (int64_t(reduce.getAxes().size()) != rank - 1 ||
        llvm::is_contained(reduce.getAxes(), rank - 1) ||
        shapeOf(reduce.getX()).back() != shape().back())
      return false;
    auto reshape = reduce.getX().getDefiningOp<ReshapeOp>();
    if (reduce.getX() != prologue.made &&
        (!reshape || reshape.getX() != prologue.made || !reshape.getY().hasOneUse()))
      return false;
    if (reshape && reduce.getX() != prologue.made)
      prologue.ops.push_back(reshape);
    prologue.ops.push_back(reduce);
    prologue.sums = reduce;
    return true;
  }
};

} // namespace

std::optional<Prologue> matchPrologue(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  auto products = body.getOps<MatmulOp>();
  if (products.empty() || std::next(products.begin()) != products.end())
    return std::nullopt;
  MatmulOp product = *products.begin();
  for (Value operand : {product.getA(), product.getB()}) {
    Value made = skipViews(operand);
    // Whether the operand is an argument of the fusion. It then needs no computation, and only its
    // column sums (a second result) can form a prologue.
    bool isGiven = isa<BlockArgument>(made) && fusion.getNumResults() > 1;
    if ((!isGiven && !isElementwise(made.getDefiningOp())) || typeOf(made).getRank() < 2 ||
        !typeOf(made).getElementType().isF32())
      continue;
    PrologueMatcher reader{{made}};
    if (reader.read() && reader.readSums(fusion))
      return std::move(reader.prologue);
  }
  return std::nullopt;
}

} // namespace dlc
