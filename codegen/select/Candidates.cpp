//===- Candidates.cpp - all kernels that could do an operation ------------===//
#include "codegen/select/Candidates.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/lower/Schedule.h"
#include "codegen/select/Select.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

/// Generated code: rows for any body, blocks for one product.
void addGenerated(FusionOp fusion, const CostModel &cost, const cpu::Target &target, std::vector<Candidate> &candidates,
                  std::string &refusals) {
  std::string why;
  auto normal = cpu::canEmit(fusion, &why) ? cpu::normalize(fusion, why) : FailureOr<FusionOp>(failure());
  if (failed(normal)) {
    refusals += "; generated: " + why;
    return;
  }
  candidates.push_back({"generated", "generated", cost.rows(*normal, cpu::planKernel(*normal, target)), std::nullopt});
  if (auto schedule = planSchedule(fusion, *normal, "contract", target, false, why); succeeded(schedule)) {
    auto contract = cpu::matchContract(*normal, target, schedule->packed.has_value());
    candidates.push_back({"contract", schedule->packed ? "contract:packed" : "contract", cost.contract(*contract, schedule->plan),
                          std::nullopt});
  }
  normal->erase();
}

/// Whether estimates tell oneDNN's implementations apart: products of f32 whose operands both come as they lie.
bool isRankable(const LibraryCall &call) {
  return call.desc.value("kind", "") == "matmul" && call.desc["src"].value("dtype", "") == "f32" && call.desc["weights"].contains("strides");
}

LibraryCall withImplementation(LibraryCall call, const std::string &implementation) {
  call.implementation = implementation;
  return call;
}

} // namespace

std::vector<Candidate> candidatesFor(Operation *op, const CompileOptions &options, const cpu::Target &target, bool every,
                                     std::string &refusals) {
  std::vector<Candidate> candidates;
  CostModel cost(target, options.threads);
  if (auto call = builtinCall(op))
    candidates.push_back({"builtin", call->implementation, cost.call(*call), std::nullopt});
  std::string why;
  if (auto call = onednnCall(op, options.threads, &why)) {
    candidates.push_back({"onednn", call->implementation, cost.call(*call), std::nullopt});
    if (every || isRankable(*call))
      for (const std::string &other : onednnImplementations(*call, options.threads))
        if (other != call->implementation)
          candidates.push_back({"onednn", other, cost.call(withImplementation(*call, other)), std::nullopt});
    for (const LibraryCall &parts : onednnCallsInParts(op, options.threads))
      candidates.push_back({"onednn", parts.implementation, cost.call(parts), std::nullopt});
  } else {
    refusals += "; onednn: " + why;
  }
  if (auto fusion = dyn_cast<FusionOp>(op))
    addGenerated(fusion, cost, target, candidates, refusals);
  llvm::stable_sort(candidates, [](auto &a, auto &c) { return a.estimate < c.estimate; });
  return candidates;
}

void preferKernels(std::vector<Candidate> &candidates, StringRef kernels) {
  if (kernels.empty())
    return;
  auto asked = [&](const Candidate &candidate) {
    if (kernels == "generated")
      return candidate.kernel == "generated" || candidate.kernel == "contract" || candidate.kernel == "cuda";
    return kernels == "rows" ? candidate.kernel == "generated" : candidate.kernel == kernels;
  };
  std::stable_partition(candidates.begin(), candidates.end(), asked);
}

void writeChoice(Operation *op, ArrayRef<Candidate> candidates) {
  Builder b(op->getContext());
  op->setAttr(kKernelAttr, b.getStringAttr(candidates[0].kernel));
  op->removeAttr(kImplementationAttr);
  if (candidates[0].kernel == "onednn")
    op->setAttr(kImplementationAttr, b.getStringAttr(candidates[0].implementation));
  SmallVector<Attribute> list;
  for (auto &candidate : candidates) {
    std::string text = llvm::formatv("{0} {1:F1}us", candidate.implementation, candidate.estimate).str();
    if (candidate.measured)
      text += llvm::formatv(", measured {0:F1}us", *candidate.measured).str();
    list.push_back(b.getStringAttr(text));
  }
  op->setAttr(kCandidatesAttr, b.getArrayAttr(list));
}

} // namespace dlc
