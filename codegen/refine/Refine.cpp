//===- Refine.cpp - driver of the refinement patterns ---------------------===//
#include "codegen/refine/Refine.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/providers/KernelOperations.h"
#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {

std::vector<Candidate> Refinement::candidates(Operation *op) const {
  std::string refusals;
  return candidates(op, refusals);
}

std::vector<Candidate> Refinement::candidates(Operation *op, std::string &refusals) const {
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  SelectionContext selection = options.selection;
  if (std::string device = getEnclosingCommandDevice(op); isGpu(device))
    selection.device = device;
  auto candidates = candidatesFor(op, selection, refusals);
  preferKernels(candidates, options.kernels);
  return candidates;
}

void Refinement::erase(Operation *op) {
  erased.insert(op);
  op->erase();
}

ArrayRef<const RefinePattern *> refinePatterns() {
  static const RefinePattern *const patterns[] = {
      &getSplitFusionPattern(), &getActivationGradientPattern(), &getChannelStatisticsPattern(),
      &getOperandProloguePattern(), &getColumnSumPattern()};
  return patterns;
}

LogicalResult AnchorPattern::apply(ArrayRef<FusionOp> anchors, Refinement &refinement,
                                   Offer offer) const {
  SmallVector<FusionOp> order(anchors);
  if (lastFirst)
    std::reverse(order.begin(), order.end());
  for (FusionOp anchor : order)
    if (!refinement.isErased(anchor))
      propose(anchor, refinement, offer);
  return success();
}

/// Reports operations without a kernel as errors, and operations that run on a reference
/// implementation as warnings.
static LogicalResult verifyKernels(ModuleOp module, const Refinement &refinement) {
  for (Operation *op : findKernelOperations(module)) {
    std::vector<Candidate> candidates = readCandidates(op);
    if (!candidates.empty() && !candidates.front().isReference)
      continue;
    std::string refusals, device = getEnclosingCommandDevice(op);
    (void)refinement.candidates(op, refusals);
    if (candidates.empty())
      return op->emitError("no kernel supports this operation")
             << (isGpu(device) ? " on " + device : "") << refusals;
    op->emitWarning("runs on a reference implementation (")
        << candidates.front().implementation << "), which is slow: no other kernel supports it"
        << refusals;
  }
  return success();
}

LogicalResult refineKernels(ModuleOp module, const RefineOptions &options) {
  for (const RefinePattern *pattern : refinePatterns()) {
    Refinement refinement(options);
    SmallVector<FusionOp> anchors;
    module.walk([&](FusionOp fusion) {
      if (pattern->isAnchor(fusion, refinement))
        anchors.push_back(fusion);
    });
    auto offer = [&](KernelAlternative &change) {
      bool pays = change.savedTime() > 0;
      pays ? change.commit(refinement) : change.drop();
      return pays;
    };
    if (failed(pattern->apply(anchors, refinement, offer)))
      return failure();
  }
  return verifyKernels(module, Refinement(options));
}

bool acceptsPartialBody(FusionOp fusion) {
  const Provider *provider = findProvider(fusion);
  return provider && provider->about.acceptsPartialBody;
}

double chosenTime(Operation *op) { return readCandidates(op).front().time(); }

} // namespace dlc
