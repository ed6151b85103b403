//===- Tune.cpp - kernel selection by measurement -------------------------===//
#include "codegen/select/Tune.h"

#include "codegen/machine/Processor.h"
#include "codegen/providers/Provider.h"
#include "codegen/select/Decide.h"
#include "codegen/select/Select.h"
#include "codegen/select/candidates/Candidates.h"
#include "codegen/select/measure/MeasurementSession.h"
#include "passes/OpNames.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace dlc {

namespace {

/// Revision of generated code. It must be incremented when generated kernels become faster or
/// slower, so that older measurements are no longer used.
constexpr int kGeneratedRevision = 3;

/// Returns a short list of important processor features for users, followed by a hash of all
/// features.
std::string formatFeatures(StringRef features) {
  std::string text;
  for (std::string_view name : runtime::CpuFeatures::parse(features).mainNames())
    text += std::string(name) + " ";
  return text + "#" + llvm::utohexstr(llvm::xxh3_64bits(features) >> 32, /*LowerCase=*/true);
}

/// Returns the versions of those libraries that run on the host.
std::string libraryVersions() {
  SmallVector<std::string> versions;
  for (const Provider *provider : providers())
    if (std::string version = provider->version(); !provider->about.onGpu && !version.empty())
      versions.push_back(version);
  return llvm::join(versions, " ");
}

/// Returns a tuning entry with the known results of each candidate, in the candidates' order,
/// followed by known results of other implementations.
TuningEntry makeInitialEntry(ArrayRef<Candidate> candidates, const TuningEntry *known) {
  TuningEntry entry = known ? *known : TuningEntry();
  std::vector<TunedCandidate> all;
  for (const Candidate &candidate : candidates) {
    auto found = llvm::find_if(entry.candidates, [&](const TunedCandidate &c) {
      return c.kernel == candidate.kernel && c.implementation == candidate.implementation;
    });
    TunedCandidate c;
    if (found != entry.candidates.end()) {
      c = *found;
      entry.candidates.erase(found);
    }
    c.kernel = candidate.kernel;
    c.implementation = candidate.implementation;
    c.estimate = candidate.estimate;
    all.push_back(c);
  }
  llvm::append_range(all, entry.candidates);
  entry.candidates = std::move(all);
  return entry;
}

} // namespace

TuningConditions conditionsOf(ModuleOp module, const CompileOptions &options,
                              const cpu::Target &target) {
  TuningConditions conditions;
  double bytes = 0;
  module.walk([&](ConstantOp op) {
    bytes += double(ref::storageBytes(cast<RankedTensorType>(op.getY().getType())));
  });
  conditions.coldWeights = bytes > chooseProfile(options, target).machine.cacheBytes;
  conditions.settings = {{"threads", std::to_string(options.threads)},
                         {"weights", conditions.coldWeights ? "cold" : "warm"},
                         {"accuracy", options.accuracy},
                         {"matmul-precision", getMatmulPrecision(options)},
                         {"workspace", options.tuning.workspaceBytes > 0
                                           ? std::to_string(options.tuning.workspaceBytes)
                                           : "any"}};
  conditions.machine = {{"cpu", target.cpu},
                        {"model", processorModel()},
                        {"features", formatFeatures(target.features)},
                        {"vector", std::to_string(target.vectorBits)},
                        {"caches", processorCaches()}};
  conditions.versions = {{"dlc", "0.1." + std::to_string(kGeneratedRevision)},
                         {"llvm", LLVM_VERSION_STRING},
                         {"library", libraryVersions()}};
  return conditions;
}

TuningKey makeTuningKey(Operation *op, const TuningConditions &conditions) {
  TuningKey key{"", conditions.settings, conditions.machine, conditions.versions};
  if (isRepeated(op))
    key.settings["weights"] = "warm";
  llvm::raw_string_ostream os(key.operation);
  os << op->getName();
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!attribute.getName().getValue().starts_with("dlc."))
      os << " " << attribute.getName().getValue() << "=" << attribute.getValue();
  os << " (";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    os << (i ? ", " : "") << (operand.getDefiningOp<ConstantOp>() ? "constant " : "")
       << operand.getType();
  os << ") -> " << op->getResultTypes();
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    OpPrintingFlags flags;
    flags.enableDebugInfo(false).assumeVerified();
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
    AsmState state(op, flags);
    for (Operation &inner : fusion.getBody().front()) {
      os << "\n";
      inner.print(os, state);
    }
  }
  return key;
}

Measurement measureCandidates(Operation *op, ArrayRef<Candidate> candidates, const TuningKey &key,
                              const TuningEntry *known, const TrialConditions &conditions,
                              double seconds,
                              const std::function<void(const TuningEntry &)> &progress) {
  TuningEntry all = makeInitialEntry(candidates, known);
  SmallVector<StringRef> names;
  collectLocationNames(op->getLoc(), names);
  all.key = key;
  all.name = names.empty() ? op->getName().getStringRef().str() : names.front().str();
  TuningEntry session = all;
  session.candidates.clear();
  std::vector<Candidate> contenders;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const TunedCandidate &c = all.candidates[i];
    if (c.rejected.empty() && (c.median <= 0 || isContender(all, c))) {
      contenders.push_back(candidates[i]);
      session.candidates.push_back(c);
    }
  }
  auto withAll = [&](const TuningEntry &part) {
    TuningEntry entry = all;
    entry.unfinished = true;
    for (const TunedCandidate &now : part.candidates)
      for (TunedCandidate &c : entry.candidates)
        if (c.kernel == now.kernel && c.implementation == now.implementation)
          c = now;
    return entry;
  };
  Measurement measurement;
  if (contenders.empty()) {
    measurement.entry = std::move(all);
    measurement.enough = true;
  } else {
    SessionResult held =
        runSessionInWorker(op, contenders, session, conditions, seconds,
                           [&](const TuningEntry &part) { progress(withAll(part)); });
    measurement.enough = held.enough;
    // Wrong results and crashes are recorded even if too many runs were disturbed and the times
    // cannot be used.
    measurement.entry = held.enough ? mergeSession(all, held.entry) : withAll(held.entry);
  }
  measurement.entry.unfinished = !measurement.enough;
  return measurement;
}

bool hasOtherImplementations(const TuningEntry &entry, ArrayRef<Candidate> candidates) {
  return llvm::any_of(entry.candidates, [&](const TunedCandidate &tuned) {
    return tuned.rejected.empty() && llvm::none_of(candidates, [&](const Candidate &c) {
             return c.kernel == tuned.kernel && c.implementation == tuned.implementation;
           });
  });
}

void applyMeasurement(const TuningEntry &entry, std::vector<Candidate> &candidates) {
  for (const TunedCandidate &tuned : entry.candidates) {
    auto found = llvm::find_if(candidates, [&](const Candidate &c) {
      return c.kernel == tuned.kernel && c.implementation == tuned.implementation;
    });
    if (!tuned.rejected.empty()) {
      // A candidate that was rejected, for example because of wrong results, is removed if there is
      // another candidate.
      if (found != candidates.end() && candidates.size() > 1 &&
          !StringRef(tuned.rejected).starts_with("not measured"))
        candidates.erase(found);
      continue;
    }
    // The tuning database may name implementations that are not available on this machine.
    if (found == candidates.end())
      continue;
    found->measured = tuned.median;
    found->error = tuned.error;
  }
  // Sorts by time ratios within the benchmark; absolute times would depend on the machine and on
  // the time of measurement.
  auto slowdown = [&](const Candidate &c) {
    auto *tuned = entry.find(c.implementation);
    return c.measured && tuned ? tuned->slowdown : 1e30;
  };
  llvm::stable_sort(candidates, [&](const Candidate &x, const Candidate &y) {
    return slowdown(x) != slowdown(y) ? slowdown(x) < slowdown(y) : x.estimate < y.estimate;
  });
  const TunedCandidate *choice = entry.choice();
  auto first = llvm::find_if(candidates, [&](const Candidate &c) {
    return choice && c.kernel == choice->kernel && c.implementation == choice->implementation;
  });
  if (first != candidates.end())
    std::rotate(candidates.begin(), first, first + 1);
}

} // namespace dlc
