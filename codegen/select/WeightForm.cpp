//===- WeightForm.cpp - chooses between quantized and f32 weights of a matmul ---===//
#include "codegen/select/WeightForm.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/refine/FusionBuilder.h"
#include "passes/ScaledBlocks.h"
#include "passes/simplify/Constants.h"

#include <limits>

using namespace mlir;

namespace dlc {

namespace {

/// Returns the matmul of the fusion that reads quantized weights; null if there is none.
MatmulOp productOf(FusionOp fusion) {
  for (auto product : fusion.getBody().front().getOps<MatmulOp>())
    return keptBlocksOf(product) ? product : MatmulOp();
  return {};
}

/// Evaluates the dequantized weights as a constant before the fusion. Returns null if they are not
/// constant.
Value dequantized(FusionOp fusion, const ScaledBlocks &weights) {
  OpBuilder builder(fusion);
  IRMapping outside;
  for (auto [argument, input] : llvm::zip(fusion.getBody().getArguments(), fusion.getInputs()))
    outside.map(argument, input);
  SmallVector<Operation *> copies;
  for (Operation *op : llvm::reverse(weights.ops))
    copies.push_back(builder.clone(*op, outside));
  Value value = copies.back()->getResult(0);
  auto tensor = isOfConstants(value) ? evaluated(value) : std::nullopt;
  Value constant =
      tensor ? makeConstant(builder, fusion.getLoc(), *tensor, typeOf(value)) : Value();
  for (Operation *copy : llvm::reverse(copies))
    copy->erase();
  return constant;
}

} // namespace

FusionOp dequantizeWeights(FusionOp fusion, ArrayRef<Candidate> quantized,
                           const CompileOptions &options, const cpu::Target &target,
                           int64_t &bytesLeft) {
  MatmulOp product = isGpu(deviceOfCommand(fusion)) ? MatmulOp() : productOf(fusion);
  if (!product)
    return {};
  const int64_t bytes = storageBytes(typeOf(product.getB()));
  // Weights are read from memory, because the weights of most models exceed the caches.
  CostModel cost(profileOf(options, target), target, options.threads);
  auto fromMemory = [&](double size) { return size / cost.machine.memoryGigabytes / 1000; };
  const bool isDone = !quantized.empty() && !quantized.front().isReference;
  const auto blocks = keptBlocksOf(product);
  const double limit = isDone ? std::max(quantized.front().estimate,
                                         fromMemory(double(storageBytes(typeOf(blocks->numbers)))))
                              : std::numeric_limits<double>::infinity();
  if (bytes > bytesLeft || fromMemory(double(bytes)) >= limit)
    return {};
  Value weights = dequantized(fusion, *blocks);
  if (!weights)
    return {};
  OpBuilder builder(fusion);
  ValueRange yielded = endOf(fusion).getOperands();
  FusionBuilder fused(builder, fusion.getLoc(), yielded.getTypes());
  fused.stands(product.getB(), weights);
  FusionOp plain = fused.yield(yielded);
  plain->setDiscardableAttrs(fusion->getDiscardableAttrDictionary());
  for (auto inner : plain.getBody().front().getOps<MatmulOp>())
    inner->removeAttr(kBlocksAttr);
  std::string refusals;
  auto candidates = candidatesFor(plain, options, target, /*every=*/false, refusals);
  if (candidates.empty() || candidates.front().isReference ||
      candidates.front().estimate >= limit) {
    plain.erase();
    weights.getDefiningOp()->erase();
    return {};
  }
  bytesLeft -= bytes;
  fusion.replaceAllUsesWith(plain.getResults());
  fusion.erase();
  return plain;
}

} // namespace dlc
