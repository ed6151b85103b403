//===- Sums.cpp - the sum of an operand's columns within the product that packs it --===//
#include "codegen/select/Sums.h"

#include "codegen/select/Enlarged.h"
#include "codegen/select/Prologue.h"
#include "codegen/select/Weaver.h"
#include "passes/fuse/StateUpdate.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace dlc {

namespace {

/// Whether what `to` computes depends on `value`, in the block of both.
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

/// A sum of columns, and the products that could make it.
class Absorption {
public:
  Absorption(FusionOp sum, const CompileOptions &options, const cpu::Target &target,
             Choices &choices)
      : sum(sum), summed(sum.getInputs()[0]), root(behindReshapes(summed)), options(options),
        target(target), choices(choices) {}

  bool run() {
    findProducts(root);
    for (auto [product, operand] : products)
      consider(product, operand);
    if (!best)
      return false;
    commit();
    return true;
  }

private:
  void findProducts(Value v) {
    for (Operation *user : v.getUsers()) {
      auto fusion = dyn_cast<FusionOp>(user);
      if (isa<ReshapeOp>(user))
        findProducts(user->getResult(0));
      else if (fusion && fusion->getBlock() == sum->getBlock() && choices.contains(fusion) &&
               isProduct(fusion) && fusion.getNumResults() == 1 &&
               llvm::count(fusion.getInputs(), v) == 1 && !dependsOn(fusion, sum.getResult(0)))
        products.emplace_back(fusion, v);
    }
  }

  /// Keeps what is made of both where it wins most.
  void consider(FusionOp product, Value operand) {
    OpBuilder b(product);
    Value result = endOf(product).getOperand(0), sums = endOf(sum).getOperand(0);
    Weaver weaver(b, product.getLoc(), {result.getType(), sums.getType()});
    if (operand != summed)
      weaver.opens(root);
    FusionOp made = weaver.yield({result, sums});
    if (Attribute updates = updatesOf(product, made))
      made->setAttr(kUpdatesAttr, updates);
    auto enlarged = matchPrologue(made) ? enlarge(made, choices[product], options, target)
                                        : std::optional<Enlarged>();
    if (enlarged) {
      CostModel cost(target, options.threads);
      double before = choices[product].front().time() + choices[sum].front().time();
      double after = enlarged->time + cost.sums(double(typeOf(summed).getNumElements()));
      double won = options.kernels.empty() ? before - after : 1 / after;
      if (won > (best ? best->won : 0)) {
        if (best)
          best->made.erase();
        best = {product, made, std::move(*enlarged), won};
        return;
      }
    }
    made.erase();
  }

  /// Which of the new one's inputs its result takes the place of.
  static Attribute updatesOf(FusionOp product, FusionOp made) {
    auto updates = product->getAttrOfType<IntegerAttr>(kUpdatesAttr);
    if (!updates)
      return {};
    Value state = product.getInputs()[updates.getInt()];
    return IntegerAttr::get(updates.getType(),
                            llvm::find(made.getInputs(), state) - made.getInputs().begin());
  }

  void commit() {
    best->product.getResult(0).replaceAllUsesWith(best->made.getResult(0));
    sum.getResult(0).replaceAllUsesWith(best->made.getResult(1));
    for (FusionOp gone : {best->product, sum}) {
      choices.erase(gone);
      gone.erase();
    }
    writeChoice(best->made, best->enlarged.candidates);
    choices[best->made] = std::move(best->enlarged.candidates);
    // Who reads the sum may have come before the product.
    sortTopologically(best->made->getBlock());
  }

  struct Best {
    FusionOp product, made;
    Enlarged enlarged;
    double won = 0; ///< microseconds
  };

  FusionOp sum;
  Value summed, root;
  const CompileOptions &options;
  const cpu::Target &target;
  Choices &choices;
  SmallVector<std::pair<FusionOp, Value>> products; ///< and their operand
  std::optional<Best> best;
};

} // namespace

ReduceOp columnSum(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getKind() != ReduceKind::sum)
    return {};
  int64_t rank = typeOf(reduce.getX()).getRank();
  return int64_t(reduce.getAxes().size()) == rank - 1 &&
                 !llvm::is_contained(reduce.getAxes(), rank - 1)
             ? reduce
             : ReduceOp();
}

ReduceOp soleColumnSum(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  if (fusion.getNumResults() != 1 || body.getOperations().size() != 2)
    return {};
  ReduceOp reduce = columnSum(&body.front());
  return reduce && isa<BlockArgument>(reduce.getX()) ? reduce : ReduceOp();
}

void absorbSums(ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                Choices &choices) {
  SmallVector<FusionOp> sums;
  module.walk([&](FusionOp fusion) {
    if (choices.contains(fusion) && soleColumnSum(fusion))
      sums.push_back(fusion);
  });
  for (FusionOp sum : sums)
    Absorption(sum, options, target, choices).run();
}

} // namespace dlc
