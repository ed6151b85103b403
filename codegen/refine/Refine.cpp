//===- Refine.cpp - driver of the refinement patterns ---------------------===//
#include "codegen/refine/Refine.h"

#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {

std::vector<Candidate> Refinement::candidates(Operation *op) const {
  std::string refusals;
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  auto candidates = candidatesFor(op, options.selection, refusals);
  preferKernels(candidates, options.kernels);
  return candidates;
}

void Refinement::erase(Operation *op) {
  erased.insert(op);
  op->erase();
}

ArrayRef<const RefinePattern *> refinePatterns() {
  static const RefinePattern *const patterns[] = {
      &getActivationGradientPattern(), &getChannelStatisticsPattern(), &getOperandProloguePattern(),
      &getColumnSumPattern()};
  return patterns;
}

void refineKernels(ModuleOp module, const RefineOptions &options) {
  for (const RefinePattern *pattern : refinePatterns()) {
    Refinement refinement(options);
    SmallVector<FusionOp> anchors;
    module.walk([&](FusionOp fusion) {
      if (fusion->hasAttr(kCandidatesAttr) && pattern->isAnchor(fusion, refinement))
        anchors.push_back(fusion);
    });
    if (pattern->lastFirst)
      std::reverse(anchors.begin(), anchors.end());
    for (FusionOp anchor : anchors)
      if (!refinement.isErased(anchor))
        pattern->propose(anchor, refinement, [&](KernelAlternative &change) {
          bool pays = change.savedTime() > 0;
          pays ? change.commit(refinement) : change.drop();
          return pays;
        });
  }
}

bool acceptsPartialBody(FusionOp fusion) {
  const Provider *provider = findProvider(fusion);
  return provider && provider->about.acceptsPartialBody;
}

double chosenTime(Operation *op) { return readCandidates(op).front().time(); }

} // namespace dlc
