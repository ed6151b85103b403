//===- ExtendedFusion.cpp - matmuls that are extended after kernel selection -===//
#include "codegen/refine/ExtendedFusion.h"

using namespace mlir;

namespace dlc {

std::optional<ExtendedFusion> estimateExtension(FusionOp made, FusionOp product,
                                                const Refinement &refinement) {
  std::vector<Candidate> before = readCandidates(product);
  const std::string &asked = refinement.options.kernels;
  ExtendedFusion enlarged{refinement.candidates(made)};
  auto &candidates = enlarged.candidates;
  auto best = candidates.end();
  for (auto c = candidates.begin(); c != candidates.end(); ++c) {
    auto same = llvm::find_if(before, [&](const Candidate &other) { return other.isSame(*c); });
    const Provider &provider = *findProvider(c->kernel);
    if (provider.about.kind != KernelKind::Call || same == before.end() ||
        same->measured.has_value() != before.front().measured.has_value() ||
        (!asked.empty() && !matchesProviderName(asked, provider)))
      continue;
    double time = same->time() + std::max(0.0, c->estimate - same->estimate);
    if (best == candidates.end() || time < enlarged.time) {
      enlarged.time = time;
      best = c;
    }
  }
  if (best == candidates.end())
    return std::nullopt;
  std::rotate(candidates.begin(), best, std::next(best));
  return enlarged;
}

} // namespace dlc
