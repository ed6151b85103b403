//===- Enlarged.cpp - products that do more than they were chosen for -------------===//
#include "codegen/select/Enlarged.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {

bool isProduct(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(), [](Operation &op) { return isa<MatmulOp>(op); });
}

std::vector<Candidate> preferred(FusionOp fusion, const CompileOptions &options,
                                 const cpu::Target &target) {
  std::string refusals;
  ScopedDiagnosticHandler quiet(fusion->getContext(), [](Diagnostic &) { return success(); });
  auto candidates = candidatesFor(fusion, options, target, /*every=*/false, refusals);
  preferKernels(candidates, options.kernels);
  return candidates;
}

std::optional<Enlarged> enlarge(FusionOp made, ArrayRef<Candidate> before,
                                const CompileOptions &options, const cpu::Target &target) {
  Enlarged enlarged{preferred(made, options, target)};
  auto &candidates = enlarged.candidates;
  auto best = candidates.end();
  for (auto c = candidates.begin(); c != candidates.end(); ++c) {
    auto same = llvm::find_if(before, [&](const Candidate &other) {
      return other.kernel == c->kernel && other.implementation == c->implementation;
    });
    if (!hasImplementations(c->kernel) || same == before.end() ||
        same->measured.has_value() != before.front().measured.has_value() ||
        (!options.kernels.empty() && options.kernels != c->kernel))
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
