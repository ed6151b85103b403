//===- Gradients.cpp - the gradient of an activation within the product before it -===//
#include "codegen/select/Gradients.h"

#include "codegen/select/Enlarged.h"
#include "codegen/select/Weaver.h"
#include "passes/fuse/Classify.h"
#include "passes/fuse/EpilogueEltwise.h"
#include "passes/fuse/StateUpdate.h"

using namespace mlir;

namespace dlc {

namespace {

/// A product, the kernel that has a part in its gradient, and what becomes of both.
class Absorption {
public:
  Absorption(FusionOp product, const CompileOptions &options, const cpu::Target &target,
             Choices &choices)
      : product(product), options(options), target(target), choices(choices) {}

  bool run() {
    for (auto [i, input] : llvm::enumerate(product.getInputs()))
      if (makesFactor(input) &&
          absorbs(product.getBody().getArgument(i), endOf(kernel).getOperand(number), Value()))
        return true;
    return readsResult() && absorbs(argument, endOf(product).getOperand(0), step.result);
  }

private:
  bool isKernel(Operation *op) {
    kernel = dyn_cast_or_null<FusionOp>(op);
    return kernel && kernel->getBlock() == product->getBlock() && runsOn(kernel, "generated") &&
           choices.contains(kernel) && !isProduct(kernel) && !kernel->hasAttr(kUpdatesAttr);
  }

  /// Whether a kernel makes it for the product alone, element by element.
  bool makesFactor(Value input) {
    if (!input.hasOneUse() || !isKernel(input.getDefiningOp()))
      return false;
    number = cast<OpResult>(input).getResultNumber();
    Operation *last = endOf(kernel).getOperand(number).getDefiningOp();
    return last && isElementwise(last) && typeOf(input).getElementType().isF32();
  }

  /// Whether a kernel alone reads the product's result, and first turns it into a gradient.
  bool readsResult() {
    Value result = product.getResult(0);
    if (!result.hasOneUse() || !isKernel(*result.getUsers().begin()))
      return false;
    argument = kernel.getBody().getArgument(result.use_begin()->getOperandNumber());
    auto found = matchGradient(argument, [](Operation *) { return true; });
    if (found)
      step = *found;
    return found.has_value();
  }

  /// `inner` is what `value` is, and `result` what the product shall give: null where that does not
  /// change.
  bool absorbs(Value inner, Value value, Value result) {
    OpBuilder b(result ? kernel : product);
    Value given = result ? result : endOf(product).getOperand(0);
    Weaver weaver(b, b.getFusedLoc({product.getLoc(), kernel.getLoc()}), given.getType());
    weaver.stands(inner, value);
    made = weaver.yield(given);
    enlarged.reset();
    rest = {};
    moved = result ? result : value;
    if (matchEpilogue(made, /*gradients=*/true))
      enlarged = enlarge(made, choices[product], options, target);
    if (enlarged && buildRest(result)) {
      double before = choices[product].front().time() + choices[kernel].front().time();
      if (!options.kernels.empty() ||
          before > enlarged->time + (rest ? candidatesOfRest.front().estimate : 0)) {
        commit(result);
        return true;
      }
    }
    if (rest)
      rest.erase();
    made.erase();
    return false;
  }

  /// The kernel without what the product does now; there need be none.
  bool buildRest(Value result) {
    kept.clear();
    for (Value v : endOf(kernel).getOperands())
      if (v != moved)
        kept.push_back(v);
    if (kept.empty())
      return true;
    OpBuilder b(kernel);
    Weaver weaver(b, kernel.getLoc(), TypeRange(ValueRange(kept)));
    if (result)
      weaver.stands(result, made.getResult(0));
    rest = weaver.yield(kept);
    candidatesOfRest = preferred(rest, options, target);
    return !candidatesOfRest.empty();
  }

  void commit(Value result) {
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(endOf(kernel).getOperands()))
      if (v != moved)
        kernel.getResult(i).replaceAllUsesWith(rest.getResult(next++));
      else if (result)
        kernel.getResult(i).replaceAllUsesWith(made.getResult(0));
    if (!result)
      product.getResult(0).replaceAllUsesWith(made.getResult(0));
    // Whoever reads the other comes first.
    for (FusionOp gone : {result ? kernel : product, result ? product : kernel}) {
      choices.erase(gone);
      gone.erase();
    }
    writeChoice(made, enlarged->candidates);
    choices[made] = std::move(enlarged->candidates);
    if (rest) {
      writeChoice(rest, candidatesOfRest);
      choices[rest] = std::move(candidatesOfRest);
    }
  }

  FusionOp product;
  const CompileOptions &options;
  const cpu::Target &target;
  Choices &choices;
  FusionOp kernel;
  unsigned number = 0;    ///< of the kernel's result that is the factor
  BlockArgument argument; ///< the product's result within the kernel
  Step step;              ///< what the kernel does with it
  Value moved;            ///< what the kernel gave and the product does now
  FusionOp made, rest;
  SmallVector<Value> kept;
  std::optional<Enlarged> enlarged;
  std::vector<Candidate> candidatesOfRest;
};

} // namespace

void absorbGradients(ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                     Choices &choices) {
  SmallVector<FusionOp> products;
  module.walk([&](FusionOp fusion) {
    if (choices.contains(fusion) && isProduct(fusion) && fusion.getNumResults() == 1 &&
        !fusion->hasAttr(kUpdatesAttr))
      products.push_back(fusion);
  });
  for (FusionOp product : products)
    Absorption(product, options, target, choices).run();
}

} // namespace dlc
