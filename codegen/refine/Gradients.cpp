//===- Gradients.cpp - the gradient of an activation within the product before it -===//
//
//   y -> 1 - y -> y (1 - y) -+            y -> y > 0 -+
//                            v                        v
//   matmul ----------------> mul          matmul -> select -> ..
//
// A kernel makes the factor, or reads the product's result: bound by memory either way. Our own
// products do it where they make their results, from y. Libraries cannot, so that what the fuse
// pass leaves to all of them is decided here, when kernels have been chosen.
//
//===----------------------------------------------------------------------------===//
#include "codegen/providers/Product.h"
#include "codegen/refine/Enlarged.h"
#include "codegen/refine/Patterns.h"
#include "codegen/refine/Weaver.h"
#include "passes/fuse/Classify.h"
#include "passes/fuse/EpilogueEltwise.h"
#include "passes/fuse/StateUpdate.h"

using namespace mlir;

namespace dlc {

namespace {

/// A product, the kernel that has a part in its gradient, and what becomes of both.
class Joined : public Change {
public:
  Joined(FusionOp product, const Refinement &refinement)
      : product(product), refinement(refinement) {}

  void propose(Offer offer) {
    for (auto [i, input] : llvm::enumerate(product.getInputs()))
      if (makesFactor(input) &&
          build(product.getBody().getArgument(i), endOf(kernel).getOperand(number), Value()) &&
          offer(*this))
        return;
    if (readsResult() && build(argument, endOf(product).getOperand(0), step.result))
      offer(*this);
  }

  double won() const override {
    if (!refinement.options.kernels.empty())
      return 1;
    return chosenTime(product) + chosenTime(kernel) - enlarged->time -
           (rest ? candidatesOfRest.front().estimate : 0);
  }

  void commit(Refinement &refinement) override {
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(endOf(kernel).getOperands()))
      if (v != moved)
        kernel.getResult(i).replaceAllUsesWith(rest.getResult(next++));
      else if (result)
        kernel.getResult(i).replaceAllUsesWith(made.getResult(0));
    if (!result)
      product.getResult(0).replaceAllUsesWith(made.getResult(0));
    // Whoever reads the other comes first.
    for (FusionOp gone : {result ? kernel : product, result ? product : kernel})
      refinement.erase(gone);
    writeCandidates(made, enlarged->candidates);
    if (rest)
      writeCandidates(rest, candidatesOfRest);
  }

  void drop() override {
    if (rest)
      rest.erase();
    made.erase();
  }

private:
  bool isKernel(Operation *op) {
    kernel = dyn_cast_or_null<FusionOp>(op);
    return kernel && kernel->getBlock() == product->getBlock() && canBeCut(kernel) &&
           kernel->hasAttr(kCandidatesAttr) && !isProduct(kernel) && !kernel->hasAttr(kUpdatesAttr);
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

  /// `inner` is what `value` is, and `given` what the product shall give: null where that does not
  /// change.
  bool build(Value inner, Value value, Value given) {
    result = given;
    OpBuilder b(result ? kernel : product);
    Value yielded = result ? result : endOf(product).getOperand(0);
    Weaver weaver(b, b.getFusedLoc({product.getLoc(), kernel.getLoc()}), yielded.getType());
    weaver.stands(inner, value);
    made = weaver.yield(yielded);
    enlarged.reset();
    rest = {};
    moved = result ? result : value;
    if (matchEpilogue(made, /*gradients=*/true))
      enlarged = enlarge(made, product, refinement);
    if (enlarged && buildRest())
      return true;
    drop();
    return false;
  }

  /// The kernel without what the product does now; there need be none.
  bool buildRest() {
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
    candidatesOfRest = refinement.candidates(rest);
    return !candidatesOfRest.empty();
  }

  FusionOp product;
  const Refinement &refinement;
  FusionOp kernel;
  unsigned number = 0;    ///< of the kernel's result that is the factor
  BlockArgument argument; ///< the product's result within the kernel
  Step step;              ///< what the kernel does with it
  Value result;           ///< what the product shall give; null: what it gave
  Value moved;            ///< what the kernel gave and the product does now
  FusionOp made, rest;
  SmallVector<Value> kept;
  std::optional<Enlarged> enlarged;
  std::vector<Candidate> candidatesOfRest;
};

class Gradients : public Pattern {
public:
  Gradients() : Pattern("gradients") {}

  bool isAnchor(FusionOp fusion, const Refinement &) const override {
    return isProduct(fusion) && fusion.getNumResults() == 1 && !fusion->hasAttr(kUpdatesAttr);
  }
  void propose(FusionOp product, Refinement &refinement, Offer offer) const override {
    Joined(product, refinement).propose(offer);
  }
};

} // namespace

const Pattern &activationGradients() {
  static const Gradients pattern;
  return pattern;
}

} // namespace dlc
