//===- WeightForm.cpp - chooses between quantized and f32 weights of a matmul ---===//
#include "codegen/select/candidates/WeightForm.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/providers/Product.h"
#include "codegen/refine/FusionBuilder.h"
#include "ir/dlc/Attributes.h"
#include "passes/simplify/Constants.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc {

std::optional<WeightAlternatives> createWeightForms(FusionOp fusion, ArrayRef<Candidate> quantized,
                                                    const CompileOptions &options,
                                                    const cpu::Target &target, int64_t bytesLeft,
                                                    double factor) {
  MatmulOp product =
      isGpu(getEnclosingCommandDevice(fusion)) ? MatmulOp() : findQuantizedMatmul(fusion);
  if (!product)
    return std::nullopt;
  WeightAlternatives forms{fusion, FusionOp(), storageBytes(typeOf(product.getB()))};
  // The estimates assume that weights are read from memory, because the weights of most models
  // exceed the caches.
  CostModel cost(chooseProfile(options, target), target, options.threads);
  auto fromMemory = [&](Value weights) {
    return double(storageBytes(typeOf(weights))) / cost.machine.memoryGigabytes / 1000;
  };
  auto time = [&](ArrayRef<Candidate> candidates, Value weights) {
    return candidates.empty() || candidates.front().isReference
               ? std::numeric_limits<double>::infinity()
               : std::max(candidates.front().estimate, fromMemory(weights));
  };
  forms.quantizedTime = time(quantized, getQuantizedWeights(product).getX());
  if (std::isfinite(forms.quantizedTime) &&
      (forms.bytes > bytesLeft || fromMemory(product.getB()) >= factor * forms.quantizedTime))
    return std::nullopt;
  OpBuilder builder(fusion);
  Value weights = makeConstant(builder, fusion.getLoc(),
                               readQuantizedWeights(fusion)->dequantized(), typeOf(product.getB()));
  ValueRange yielded = getYield(fusion).getOperands();
  FusionBuilder fused(builder, fusion.getLoc(), yielded.getTypes());
  fused.replaceValue(product.getB(), weights);
  forms.dequantized = fused.yield(yielded);
  forms.dequantized->setDiscardableAttrs(fusion->getDiscardableAttrDictionary());
  for (auto inner : forms.dequantized.getBody().front().getOps<MatmulOp>())
    inner->removeAttr(kQuantizedWeightsAttr);
  std::string refusals;
  auto candidates = candidatesFor(forms.dequantized, options, target, /*every=*/false, refusals);
  forms.dequantizedTime = time(candidates, weights);
  if (!candidates.empty())
    return forms;
  keepAlternative(forms, /*isDequantized=*/false);
  return std::nullopt;
}

FusionOp keepAlternative(WeightAlternatives &forms, bool isDequantized) {
  FusionOp kept = isDequantized ? forms.dequantized : forms.quantized,
           other = isDequantized ? forms.quantized : forms.dequantized;
  SmallVector<Value> inputs(other.getInputs());
  other.replaceAllUsesWith(kept.getResults());
  other.erase();
  for (Value input : inputs)
    if (auto constant = input.getDefiningOp<ConstantOp>(); constant && constant->use_empty())
      constant.erase();
  return kept;
}

} // namespace dlc
