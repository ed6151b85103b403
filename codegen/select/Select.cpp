//===- Select.cpp - candidates, their cost, and the choice ----------------===//
#include "codegen/select/Select.h"

#include "codegen/cpu/Kernel.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/select/LibraryCall.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

struct Candidate {
  std::string kernel, implementation;
  double microseconds = 0;
};

// The cost model's machine: rough figures of one core, good enough to rank what differs by factors.
constexpr double kVectorGflops = 60, kScalarGflops = 2, kGigabytes = 10, kCallMicroseconds = 1.5;

bool hasContraction(FusionOp fusion) {
  for (Operation &op : fusion.getBody().front())
    if (isa<MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(op))
      return true;
  return false;
}

double estimateGenerated(FusionOp fusion, const cpu::KernelPlan &plan) {
  // Contractions come out of the pull emitter without register blocking.
  double gflops = hasContraction(fusion) ? kScalarGflops : kVectorGflops / 2;
  for (Operation &op : fusion.getBody().front())
    if (isa<TransposeOp>(op))
      gflops = kScalarGflops / 4; // strided lanes are gathered one by one
  return std::max(plan.flops / gflops, plan.bytes / kGigabytes) / 1000 + 0.5;
}

double estimateCall(const LibraryCall &call) {
  return std::max(call.flops / kVectorGflops, call.bytes / kGigabytes) / 1000 + kCallMicroseconds;
}

} // namespace

LogicalResult selectKernels(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  SmallVector<Operation *> work;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FusionOp>(op)) {
      work.push_back(op);
      return WalkResult::skip();
    }
    if (isa<TopKOp, ArgReduceOp, CumulativeOp, ScatterElementsOp, ScatterNdOp, MaxPoolIndicesOp, RandomOp, LstmOp, GruOp, RnnOp,
            ReorderOp, TransposeOp>(op))
      work.push_back(op);
    return WalkResult::advance();
  });
  Builder b(module.getContext());
  for (Operation *op : work) {
    SmallVector<Candidate> candidates;
    std::string refusals;
    if (auto call = builtinCall(op))
      candidates.push_back({"builtin", call->implementation, estimateCall(*call)});
    std::string why;
    if (auto call = onednnCall(op, options.threads, &why))
      candidates.push_back({"onednn", call->implementation, estimateCall(*call)});
    else
      refusals += "; onednn: " + why;
    if (auto fusion = dyn_cast<FusionOp>(op)) {
      auto normal = cpu::canEmit(fusion, &why) ? cpu::normalize(fusion, why) : FailureOr<FusionOp>(failure());
      if (succeeded(normal)) {
        candidates.push_back({"generated", "generated", estimateGenerated(*normal, cpu::planKernel(*normal, target))});
        normal->erase();
      } else {
        refusals += "; generated: " + why;
      }
    }
    if (candidates.empty())
      return op->emitError("no kernel for this operation") << refusals;
    llvm::stable_sort(candidates, [](auto &a, auto &c) { return a.microseconds < c.microseconds; });
    op->setAttr(kKernelAttr, b.getStringAttr(candidates[0].kernel));
    SmallVector<Attribute> list;
    for (auto &candidate : candidates)
      list.push_back(b.getStringAttr(llvm::formatv("{0} {1:F1}us", candidate.implementation, candidate.microseconds).str()));
    op->setAttr(kCandidatesAttr, b.getArrayAttr(list));
  }
  return success();
}

} // namespace dlc
