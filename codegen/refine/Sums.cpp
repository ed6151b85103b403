//===- Sums.cpp - computes column sums in the matmul that packs the operand ---===//
//
//   x -+-> views -> matmul -> ..
//      +-> sum of columns
//
// The gradient of a bias sums the same tensor that the gradient of the weights multiplies. A
// separate kernel would read that tensor from memory once more.
//
//===------------------------------------------------------------------------------===//
#include "codegen/providers/Product.h"
#include "codegen/refine/ExtendedFusion.h"
#include "codegen/refine/FusionBuilder.h"
#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns true if `to` depends on `value`. Both are in the same block.
bool dependsOn(Operation *to, Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *op = to->getBlock()->findAncestorOpInBlock(*user);
      if (op == to)
        return true;
      if (op && seen.insert(op).second)
        open.append(op->result_begin(), op->result_end());
    }
  }
  return false;
}

/// Alternative to a column sum: the matmul that computes it with the largest saving, among the
/// matmuls that read the same tensor.
class ColumnSumChange : public KernelAlternative {
public:
  ColumnSumChange(FusionOp sum, const Refinement &refinement)
      : sum(sum), summed(sum.getInputs()[0]), root(skipReshapes(summed)), refinement(refinement) {}

  bool build() {
    findProducts(root);
    for (auto [product, operand] : products)
      consider(product, operand);
    return best.has_value();
  }

  double savedTime() const override { return best->savedTime; }

  void commit(Refinement &refinement) override {
    best->product.getResult(0).replaceAllUsesWith(best->made.getResult(0));
    sum.getResult(0).replaceAllUsesWith(best->made.getResult(1));
    for (FusionOp gone : {best->product, sum})
      refinement.erase(gone);
    writeCandidates(best->made, best->enlarged.candidates);
    // Users of the sum may precede the matmul that now computes it.
    sortTopologically(best->made->getBlock());
  }

  void drop() override { best->made.erase(); }

private:
  void findProducts(Value v) {
    for (Operation *user : v.getUsers()) {
      auto fusion = dyn_cast<FusionOp>(user);
      if (isa<ReshapeOp>(user))
        findProducts(user->getResult(0));
      else if (fusion && fusion->getBlock() == sum->getBlock() &&
               fusion->hasAttr(kCandidatesAttr) && hasMatmul(fusion) && !matchPrologue(fusion) &&
               fusion.getNumResults() == 1 && llvm::count(fusion.getInputs(), v) == 1 &&
               !dependsOn(fusion, sum.getResult(0)))
        products.emplace_back(fusion, v);
    }
  }

  /// Builds an extension of `product` that also sums its operand. Keeps the extension if it saves
  /// the most time so far, and erases it otherwise.
  void consider(FusionOp product, Value operand) {
    OpBuilder b(product);
    Value result = getYield(product).getOperand(0), sums = getYield(sum).getOperand(0);
    FusionBuilder fused(b, product.getLoc(), {result.getType(), sums.getType()});
    if (operand != summed)
      fused.inlineReshapesOf(root);
    FusionOp made = fused.yield({result, sums});
    if (Attribute updates = updatesOf(product, made))
      made->setAttr(kUpdatesAttr, updates);
    auto enlarged = matchPrologue(made) ? estimateExtension(made, product, refinement)
                                        : std::optional<ExtendedFusion>();
    if (enlarged) {
      double before = chosenTime(product) + chosenTime(sum);
      double after = enlarged->time + refinement.cost.sums(double(typeOf(summed).getNumElements()));
      double savedTime = refinement.options.kernels.empty() ? before - after : 1 / after;
      if (savedTime > (best ? best->savedTime : 0)) {
        if (best)
          drop();
        best = {product, made, std::move(*enlarged), savedTime};
        return;
      }
    }
    made.erase();
  }

  /// Returns the index of the input of `made` that is overwritten in place by its result, as an
  /// attribute; null if `product` updates no input.
  static Attribute updatesOf(FusionOp product, FusionOp made) {
    auto updates = product->getAttrOfType<IntegerAttr>(kUpdatesAttr);
    if (!updates)
      return {};
    Value state = product.getInputs()[updates.getInt()];
    return IntegerAttr::get(updates.getType(),
                            llvm::find(made.getInputs(), state) - made.getInputs().begin());
  }

  struct Best {
    FusionOp product, made;
    ExtendedFusion enlarged;
    double savedTime = 0; ///< estimated time saved, in microseconds
  };

  FusionOp sum;
  Value summed, root;
  const Refinement &refinement;
  /// Matmuls, each with the operand that it can sum.
  SmallVector<std::pair<FusionOp, Value>> products;
  std::optional<Best> best;
};

class ColumnSumPattern : public AnchorPattern {
public:
  ColumnSumPattern() : AnchorPattern("sums") {}

  bool isAnchor(FusionOp fusion, const Refinement &) const override {
    return fusion->hasAttr(kCandidatesAttr) && matchSingleColumnSum(fusion);
  }
  void propose(FusionOp sum, Refinement &refinement, Offer offer) const override {
    ColumnSumChange joined(sum, refinement);
    if (joined.build())
      offer(joined);
  }
};

} // namespace

ReduceOp matchColumnSum(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getKind() != ReduceKind::sum)
    return {};
  int64_t rank = typeOf(reduce.getX()).getRank();
  return int64_t(reduce.getAxes().size()) == rank - 1 &&
                 !llvm::is_contained(reduce.getAxes(), rank - 1)
             ? reduce
             : ReduceOp();
}

ReduceOp matchSingleColumnSum(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  if (fusion.getNumResults() != 1 || body.getOperations().size() != 2)
    return {};
  ReduceOp reduce = matchColumnSum(&body.front());
  return reduce && isa<BlockArgument>(reduce.getX()) ? reduce : ReduceOp();
}

const RefinePattern &getColumnSumPattern() {
  static const ColumnSumPattern pattern;
  return pattern;
}

} // namespace dlc
