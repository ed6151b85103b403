//===- Gradients.cpp - fuses activation gradients into matmuls ------------===//
//
//   y -> 1 - y -> y (1 - y) -+            y -> y > 0 -+
//                            v                        v
//   matmul ----------------> mul          matmul -> select -> ..
//
// A separate kernel computes the factor or reads the matmul's result, and is memory bound in both
// cases. dlc's own matmuls apply the gradient in their epilogue, from y. Libraries cannot, so the
// fuse pass leaves these ops separate, and this pattern decides after kernel selection.
//
//===----------------------------------------------------------------------------===//
#include "codegen/providers/Product.h"
#include "codegen/refine/ExtendedFusion.h"
#include "codegen/refine/FusionBuilder.h"
#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/epilogue/MatchActivation.h"
#include "passes/fuse/epilogue/StateUpdate.h"

using namespace mlir;

namespace dlc {

namespace {

/// Alternative to a matmul and an adjacent kernel that computes or applies an activation gradient:
/// an extended matmul, and the rest of the kernel.
class GradientFusionChange : public KernelAlternative {
public:
  GradientFusionChange(FusionOp product, const Refinement &refinement)
      : product(product), refinement(refinement) {}

  void propose(Offer offer) {
    for (auto [i, input] : llvm::enumerate(product.getInputs()))
      if (makesFactor(input) &&
          build(product.getBody().getArgument(i), getYield(kernel).getOperand(number), Value()) &&
          offer(*this))
        return;
    if (readsResult() && build(argument, getYield(product).getOperand(0), step.result))
      offer(*this);
  }

  double savedTime() const override {
    if (!refinement.options.kernels.empty())
      return 1;
    return chosenTime(product) + chosenTime(kernel) - enlarged->time -
           (rest ? candidatesOfRest.front().estimate : 0);
  }

  void commit(Refinement &refinement) override {
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(getYield(kernel).getOperands()))
      if (v != moved)
        kernel.getResult(i).replaceAllUsesWith(rest.getResult(next++));
      else if (result)
        kernel.getResult(i).replaceAllUsesWith(made.getResult(0));
    if (!result)
      product.getResult(0).replaceAllUsesWith(made.getResult(0));
    // The fusion that reads the other fusion's result is erased first, because a fusion whose
    // result has uses cannot be erased.
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
    return kernel && kernel->getBlock() == product->getBlock() && acceptsPartialBody(kernel) &&
           kernel->hasAttr(kCandidatesAttr) && !hasMatmul(kernel) && !kernel->hasAttr(kUpdatesAttr);
  }

  /// Returns true if `input` of the matmul is computed by a kernel, element by element, and read
  /// only by this matmul.
  bool makesFactor(Value input) {
    if (!input.hasOneUse() || !isKernel(input.getDefiningOp()))
      return false;
    number = cast<OpResult>(input).getResultNumber();
    Operation *last = getYield(kernel).getOperand(number).getDefiningOp();
    return last && isElementwise(last) && typeOf(input).getElementType().isF32();
  }

  /// Returns true if the matmul's result is read only by one kernel, which first multiplies it by
  /// an activation gradient.
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

  /// Builds the extended matmul: the original body with `inner` replaced by `value`. It yields
  /// `given`, or, if `given` is null, the same result as before.
  bool build(Value inner, Value value, Value given) {
    result = given;
    OpBuilder b(result ? kernel : product);
    Value yielded = result ? result : getYield(product).getOperand(0);
    FusionBuilder fused(b, b.getFusedLoc({product.getLoc(), kernel.getLoc()}), yielded.getType());
    fused.replaceValue(inner, value);
    made = fused.yield(yielded);
    enlarged.reset();
    rest = {};
    moved = result ? result : value;
    if (matchEpilogue(made, /*gradients=*/true))
      enlarged = estimateExtension(made, product, refinement);
    if (enlarged && buildRest())
      return true;
    drop();
    return false;
  }

  /// Builds the fusion `rest`: the kernel without the ops that were moved to the extended matmul.
  /// Builds nothing if the kernel has no other result.
  bool buildRest() {
    kept.clear();
    for (Value v : getYield(kernel).getOperands())
      if (v != moved)
        kept.push_back(v);
    if (kept.empty())
      return true;
    OpBuilder b(kernel);
    FusionBuilder fused(b, kernel.getLoc(), TypeRange(ValueRange(kept)));
    if (result)
      fused.replaceValue(result, made.getResult(0));
    rest = fused.yield(kept);
    candidatesOfRest = refinement.candidates(rest);
    return !candidatesOfRest.empty();
  }

  FusionOp product;
  const Refinement &refinement;
  FusionOp kernel;
  unsigned number = 0;    ///< index of the kernel's result that the matmul reads as a factor
  BlockArgument argument; ///< argument of the kernel that is the matmul's result
  EpilogueMatch step;     ///< activation gradient that the kernel applies to the matmul's result
  Value result;           ///< value of the kernel that the extended matmul yields; null: its own
  Value moved;            ///< value that the kernel yielded and the extended matmul computes
  FusionOp made, rest;
  SmallVector<Value> kept;
  std::optional<ExtendedFusion> enlarged;
  std::vector<Candidate> candidatesOfRest;
};

class ActivationGradientPattern : public AnchorPattern {
public:
  ActivationGradientPattern() : AnchorPattern("gradients") {}

  bool isAnchor(FusionOp fusion, const Refinement &) const override {
    return fusion->hasAttr(kCandidatesAttr) && hasMatmul(fusion) && fusion.getNumResults() == 1 &&
           !fusion->hasAttr(kUpdatesAttr);
  }
  void propose(FusionOp product, Refinement &refinement, Offer offer) const override {
    GradientFusionChange(product, refinement).propose(offer);
  }
};

} // namespace

const RefinePattern &getActivationGradientPattern() {
  static const ActivationGradientPattern pattern;
  return pattern;
}

} // namespace dlc
