//===- Candidates.cpp - candidate kernels of an operation -----------------===//
#include "codegen/select/candidates/Candidates.h"

#include "codegen/lower/GpuKernel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

const Profile &chooseProfile(const CompileOptions &options, const cpu::Target &target) {
  return chooseProfile(ProfileChoice{options.profile, options.cacheDir.value_or("")}, target);
}

SelectionContext selectionContextOf(const CompileOptions &options, const cpu::Target &target,
                                    bool every) {
  return {.target = target,
          .profile = chooseProfile(options, target),
          .threads = options.threads,
          .accuracy = options.accuracy,
          .gpuArch = options.gpuArch,
          .every = every};
}

std::vector<Candidate> candidatesFor(Operation *op, const CompileOptions &options,
                                     const cpu::Target &target, bool every, std::string &refusals,
                                     bool generated) {
  SelectionContext selection = selectionContextOf(options, target, every);
  selection.generated = generated;
  if (std::string device = getEnclosingCommandDevice(op); isGpu(device))
    selection.device = device;
  return candidatesFor(op, selection, refusals);
}

void boundWorkspace(std::vector<Candidate> &candidates, const CompileOptions &options,
                    std::string &refusals) {
  int64_t most = options.tuning.workspaceBytes;
  auto fits = [&](const Candidate &c) { return most <= 0 || c.workspace <= most; };
  if (llvm::none_of(candidates, fits))
    return;
  llvm::erase_if(candidates, [&](const Candidate &c) {
    if (!fits(c))
      refusals += llvm::formatv("; {0}: needs {1} bytes of scratch memory; the limit is {2}",
                                c.implementation, c.workspace, most)
                      .str();
    return !fits(c);
  });
}

} // namespace dlc
