//===- Candidates.cpp - all kernels that could do an operation ------------===//
#include "codegen/select/Candidates.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/cuda/Attention.h"
#include "codegen/lower/Schedule.h"
#include "codegen/select/Select.h"
#include "runtime/library/attention/Describe.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

/// Generated code: rows for any body, blocks for one product.
void addGenerated(FusionOp fusion, const CostModel &cost, const cpu::Target &target,
                  std::vector<Candidate> &candidates, std::string &refusals) {
  std::string why;
  auto normal =
      cpu::canEmit(fusion, &why) ? cpu::normalize(fusion, why) : FailureOr<FusionOp>(failure());
  if (failed(normal)) {
    refusals += "; generated: " + why;
    return;
  }
  candidates.push_back({"generated", "generated",
                        cost.rows(*normal, cpu::planKernel(*normal, target)), std::nullopt});
  if (auto schedule = planSchedule(fusion, *normal, "contract", target, false, why);
      succeeded(schedule)) {
    auto contract = cpu::matchContract(*normal, target, schedule->packed.has_value());
    candidates.push_back({"contract", schedule->packed ? "contract:packed" : "contract",
                          cost.contract(*contract, schedule->plan), std::nullopt});
  }
  normal->erase();
}

/// Whether estimates tell oneDNN's implementations apart: products of f32 whose operands both come
/// as they lie.
bool isRankable(const LibraryCall &call) {
  return call.desc.value("kind", "") == "matmul" && call.desc["src"].value("dtype", "") == "f32" &&
         call.desc["weights"].contains("strides");
}

/// Whether sums of f32 products must be taken as written: by `--accuracy`, or by the word of a
/// fusion's own contraction.
bool isStrict(FusionOp fusion, const CompileOptions &options) {
  for (Operation &op : fusion.getBody().front())
    if (auto own = op.getAttrOfType<StringAttr>("dlc.accuracy"))
      return own == "strict";
  return options.accuracy == "strict";
}

/// What `--matmul-precision` asks for is allowed however strict sums are otherwise.
bool isLowered(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(),
                      [](Operation &op) { return isa<MatmulOp>(op) && op.hasAttr("dlc.math"); });
}

int64_t scratchOf(const LibraryCall &call) {
  int64_t bytes = 0;
  for (const CallArgument &argument : call.arguments)
    if (argument.kind == CallArgument::Kind::Scratch)
      bytes += argument.bytes;
  return bytes;
}

Candidate candidateOf(const char *kernel, const LibraryCall &call, const CostModel &cost) {
  Candidate candidate{kernel, call.implementation, cost.call(call)};
  candidate.workspace = scratchOf(call);
  candidate.isReference = call.isReference;
  return candidate;
}

/// Both sizes of tiles.
void addWinograd(FusionOp fusion, const CompileOptions &options, const CostModel &cost,
                 std::vector<Candidate> &candidates, std::string &refusals) {
  if (isStrict(fusion, options)) {
    refusals += "; winograd: accuracy strict forbids its rounding";
    return;
  }
  for (int tile : {2, 4}) {
    std::string why;
    if (auto call = winogradCall(fusion, tile, options.threads, &why))
      candidates.push_back(candidateOf("winograd", *call, cost));
    else if (tile == 2)
      refusals += "; winograd: " + why;
  }
}

void addDirect(FusionOp fusion, const CompileOptions &options, const CostModel &cost,
               std::vector<Candidate> &candidates, std::string &refusals) {
  std::string why;
  if (auto call = directCall(fusion, options.threads, &why))
    candidates.push_back(candidateOf("direct", *call, cost));
  else
    refusals += "; direct: " + why;
}

/// Two parts and three, on processors that have tiles.
void addTiles(FusionOp fusion, const CompileOptions &options, const cpu::Target &target,
              const CostModel &cost, std::vector<Candidate> &candidates, std::string &refusals) {
  if (!StringRef(target.features).contains("+amx-bf16"))
    return;
  // Products of bf16 are rounded nowhere.
  bool isNarrow = llvm::any_of(fusion.getInputs(), [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType().isBF16();
  });
  if (isStrict(fusion, options) && !isLowered(fusion) && !isNarrow) {
    refusals += "; tiles: accuracy strict forbids their rounding";
    return;
  }
  for (int parts : {2, 3}) {
    std::string why;
    if (auto call = tilesCall(fusion, parts, &why))
      candidates.push_back(candidateOf("tiles", *call, cost));
    else if (parts == 2)
      refusals += "; tiles: " + why;
  }
}

/// In the longest vectors that the code may use.
void addVectors(FusionOp fusion, const CompileOptions &options, const cpu::Target &target,
                const CostModel &cost, std::vector<Candidate> &candidates, std::string &refusals) {
  if (!StringRef(target.features).contains("+fma"))
    return;
  std::string why;
  auto call = vectorsCall(fusion, target.lanes32(), &why);
  if (!call) {
    refusals += "; vectors: " + why;
    return;
  }
  candidates.push_back(candidateOf("vectors", *call, cost));
  if (isStrict(fusion, options))
    refusals += "; strassen: accuracy strict forbids its rounding";
  else if (auto quarters = vectorsCall(fusion, target.lanes32(), &why, /*isStrassen=*/true))
    candidates.push_back(candidateOf("strassen", *quarters, cost));
  else
    refusals += "; strassen: " + why;
}

/// In vectors, and on tiles in as many parts as the accuracy allows; of bf16 one part is all.
void addAttention(FusionOp fusion, Operation *attention, const CompileOptions &options,
                  const CostModel &cost, std::vector<Candidate> &candidates,
                  std::string &refusals) {
  bool narrow =
      cast<RankedTensorType>(attention->getOperand(0).getType()).getElementType().isBF16();
  SmallVector<int> ways{0};
  if (attention::hasTiles() && narrow)
    ways.push_back(1);
  else if (attention::hasTiles() && !isStrict(fusion, options))
    ways.append({2, 3});
  for (int parts : ways) {
    std::string why;
    if (auto call = attentionCall(fusion, parts, &why)) {
      candidates.push_back(candidateOf("attention", *call, cost));
      candidates.back().workspace +=
          std::max<int64_t>(0, attention::scratchBytes(call->desc, options.threads));
    } else if (parts == 0) {
      refusals += "; attention: " + why;
    }
  }
}

LibraryCall withImplementation(LibraryCall call, const std::string &implementation) {
  call.implementation = implementation;
  return call;
}

} // namespace

/// The cheapest first. Reference implementations leave where anybody else can do it.
static std::vector<Candidate> ordered(std::vector<Candidate> candidates, std::string &refusals) {
  if (llvm::any_of(candidates, [](auto &c) { return !c.isReference; }))
    llvm::erase_if(candidates, [&](const Candidate &c) {
      if (c.isReference)
        refusals +=
            "; " + c.implementation + ": a reference implementation, where others can do it";
      return c.isReference;
    });
  llvm::stable_sort(candidates, [](auto &a, auto &c) { return a.estimate < c.estimate; });
  return candidates;
}

std::vector<Candidate> candidatesFor(Operation *op, const CompileOptions &options,
                                     const cpu::Target &target, bool every, std::string &refusals,
                                     bool generated) {
  std::vector<Candidate> candidates;
  CostModel cost(target, options.threads);
  if (auto call = builtinCall(op))
    candidates.push_back(candidateOf("builtin", *call, cost));
  std::string why;
  if (auto call = onednnCall(op, options.threads, &why)) {
    candidates.push_back(candidateOf("onednn", *call, cost));
    // The model tells them apart by little or nothing: then the library's own order stands.
    constexpr double kLater = 1.001;
    double later = kLater;
    if (every || isRankable(*call))
      for (const std::string &other : onednnImplementations(*call, options.threads))
        if (other != call->implementation) {
          candidates.push_back(candidateOf("onednn", withImplementation(*call, other), cost));
          candidates.back().estimate *= later;
          later *= kLater;
        }
  } else {
    refusals += "; onednn: " + why;
  }
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    if (Operation *attention = cuda::attentionOf(fusion)) {
      addAttention(fusion, attention, options, cost, candidates, refusals);
      return ordered(candidates, refusals);
    }
    addWinograd(fusion, options, cost, candidates, refusals);
    addDirect(fusion, options, cost, candidates, refusals);
    addTiles(fusion, options, target, cost, candidates, refusals);
    addVectors(fusion, options, target, cost, candidates, refusals);
    if (generated)
      addGenerated(fusion, cost, target, candidates, refusals);
  }
  return ordered(candidates, refusals);
}

bool hasImplementations(StringRef kernel) {
  return kernel == "cublaslt" || kernel == "cudnn" || kernel == "onednn" || kernel == "tiles" ||
         kernel == "vectors" || kernel == "strassen" || kernel == "direct" ||
         kernel == "winograd" || kernel == "attention";
}

std::optional<LibraryCall> chosenCall(Operation *op, int threads, std::string *why) {
  StringRef kernel = op->getAttrOfType<StringAttr>(kKernelAttr).getValue();
  auto implementation = op->getAttrOfType<StringAttr>(kImplementationAttr);
  if (kernel == "builtin")
    return builtinCall(op);
  if (kernel == "cublaslt" || kernel == "cudnn")
    return gpuLibraryCall(op, kernel, implementation ? implementation.getValue() : "", why);
  if (kernel == "tiles")
    return tilesCall(op, implementation && implementation.getValue().ends_with("x6") ? 3 : 2, why);
  if (kernel == "vectors" || kernel == "strassen")
    return vectorsCall(op, implementation && implementation.getValue().ends_with(":avx2") ? 8 : 16,
                       why, kernel == "strassen");
  if (kernel == "attention") {
    StringRef name = implementation ? implementation.getValue() : "";
    return attentionCall(op,
                         name.ends_with("x6")   ? 3
                         : name.ends_with("x3") ? 2
                         : name.ends_with("x1") ? 1
                                                : 0,
                         why);
  }
  if (kernel == "direct")
    return directCall(op, threads, why);
  if (kernel == "winograd")
    return winogradCall(
        op, implementation && implementation.getValue().starts_with("winograd:f2x2") ? 2 : 4,
        threads, why);
  return onednnCall(op, threads, why);
}

void boundWorkspace(std::vector<Candidate> &candidates, const CompileOptions &options,
                    std::string &refusals) {
  int64_t most = options.tuning.workspaceBytes;
  auto fits = [&](const Candidate &c) { return most <= 0 || c.workspace <= most; };
  if (llvm::none_of(candidates, fits))
    return;
  llvm::erase_if(candidates, [&](const Candidate &c) {
    if (!fits(c))
      refusals += llvm::formatv("; {0}: needs {1} bytes of scratch memory, of {2}",
                                c.implementation, c.workspace, most)
                      .str();
    return !fits(c);
  });
}

void preferKernels(std::vector<Candidate> &candidates, StringRef kernels) {
  if (kernels.empty())
    return;
  auto asked = [&](const Candidate &candidate) {
    if (kernels == "generated")
      return candidate.kernel == "generated" || candidate.kernel == "contract" ||
             candidate.kernel == "cuda";
    return kernels == "rows" ? candidate.kernel == "generated" : candidate.kernel == kernels;
  };
  std::stable_partition(candidates.begin(), candidates.end(), asked);
}

bool runsOn(Operation *op, StringRef kernel) {
  auto chosen = op->getAttrOfType<StringAttr>(kKernelAttr);
  return chosen && chosen == kernel;
}

void writeChoice(Operation *op, ArrayRef<Candidate> candidates) {
  Builder b(op->getContext());
  op->setAttr(kKernelAttr, b.getStringAttr(candidates[0].kernel));
  op->removeAttr(kImplementationAttr);
  if (hasImplementations(candidates[0].kernel))
    op->setAttr(kImplementationAttr, b.getStringAttr(candidates[0].implementation));
  SmallVector<Attribute> list;
  for (auto &candidate : candidates) {
    std::string text =
        llvm::formatv("{0} {1:F1}us", candidate.implementation, candidate.estimate).str();
    if (candidate.measured)
      text += llvm::formatv(", measured {0:F1}us", *candidate.measured).str();
    if (candidate.error >= 0)
      text += llvm::formatv(", error {0:e1}", candidate.error).str();
    if (candidate.isReference)
      text += ", a reference implementation, which is slow";
    list.push_back(b.getStringAttr(text));
  }
  op->setAttr(kCandidatesAttr, b.getArrayAttr(list));
}

} // namespace dlc
