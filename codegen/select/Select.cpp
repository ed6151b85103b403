//===- Select.cpp - which kernel does each operation ----------------------===//
#include "codegen/select/Select.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/select/Tune.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc {

/// What becomes a command with a kernel: fusions, and operations that only the runtime or a library can do.
static SmallVector<Operation *> operationsToSelect(ModuleOp module) {
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
  return work;
}

/// Those that the estimate does not rule out by an order of magnitude.
static ArrayRef<Candidate> worthMeasuring(ArrayRef<Candidate> candidates) {
  constexpr double hopeless = 20, cheapToTry = 50;
  return candidates.take_while([&](const Candidate &c) { return c.estimate < std::max(cheapToTry, hopeless * candidates[0].estimate); });
}

/// A file may name what no library here has: such candidates leave.
static void dropUnknown(Operation *op, const CompileOptions &options, std::vector<Candidate> &candidates) {
  while (candidates.size() > 1 && candidates[0].kernel == "onednn") {
    writeChoice(op, candidates);
    auto call = onednnCall(op, options.threads);
    if (call && call->implementation == candidates[0].implementation)
      return;
    candidates.erase(candidates.begin());
  }
}

LogicalResult selectKernels(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  if (!llvm::is_contained({"", "generated", "rows", "contract", "onednn", "builtin", "cublaslt"}, options.kernels))
    return module.emitError("kernels '") << options.kernels << "' are unknown; required: generated, rows, contract, onednn, builtin or cublaslt";
  std::string warning;
  TuningFile file(options.cacheDir, warning);
  if (!warning.empty())
    module.emitWarning(warning);
  TuningConditions conditions = conditionsOf(module, options, target);
  auto work = operationsToSelect(module);
  int done = 0;
  llvm::StringSet<> disturbed;
  for (Operation *op : work) {
    op->removeAttr(kImplementationAttr);
    std::string refusals;
    std::string device = deviceOfCommand(op);
    bool onGpu = isGpu(device);
    auto candidates = onGpu ? gpuCandidatesFor(op, device, refusals) : candidatesFor(op, options, target, options.tune, refusals);
    if (candidates.empty())
      return op->emitError("no kernel for this operation") << (onGpu ? " on " + device : "") << refusals;
    if (onGpu) {
      preferKernels(candidates, options.kernels);
      writeChoice(op, candidates);
      ++done;
      continue;
    }
    std::string key = tuningKey(op, conditions);
    const TunedEntry *known = file.find(key);
    if (!known && options.tune && candidates.size() > 1 && !disturbed.contains(key)) {
      if (auto entry = measureCandidates(op, worthMeasuring(candidates), conditions, options, target)) {
        file.put(key, std::move(*entry));
        known = file.find(key);
      } else {
        disturbed.insert(key);
      }
    }
    if (known)
      applyMeasurement(*known, candidates);
    preferKernels(candidates, options.kernels);
    if (known)
      dropUnknown(op, options, candidates);
    writeChoice(op, candidates);
    if (options.tune && options.progress)
      options.progress("tuning", ++done, int(work.size()));
  }
  if (!disturbed.empty())
    module.emitWarning("other work on this machine disturbed the measurement of ")
        << disturbed.size() << " operations, which are chosen by estimate; tune again when it is quiet";
  warning.clear();
  file.save(warning);
  if (!warning.empty())
    module.emitWarning(warning);
  return success();
}

} // namespace dlc
