//===- Tune.cpp - the choice by measurement -------------------------------===//
#include "codegen/select/Tune.h"

#include "codegen/select/Agree.h"
#include "codegen/select/Processor.h"
#include "codegen/select/Select.h"
#include "passes/OpNames.h"
#include "runtime/library/onednn/Describe.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace dlc {

namespace {

/// To be raised when generated kernels become faster or slower: older figures are then no longer found.
constexpr int kGeneratedRevision = 1;

/// Beyond so many times the best estimate, and what is always cheap enough to try, nothing is measured.
constexpr double kHopeless = 20, kCheapToTry = 50;

/// Few words for people, and a sum over all of them.
std::string featuresText(StringRef features) {
  std::string text;
  for (const char *telling : {"avx2", "avx512f", "avx512vnni", "avx512bf16", "avx512fp16", "amx-tile", "neon", "sve"})
    if (llvm::is_contained(llvm::split(features, ','), ("+" + Twine(telling)).str()))
      text += std::string(telling) + " ";
  return text + "#" + llvm::utohexstr(llvm::xxh3_64bits(features) >> 32, /*LowerCase=*/true);
}

class Measuring {
public:
  Measuring(Operation *op, const TuningConditions &conditions, const CompileOptions &options, const cpu::Target &target)
      : op(op), conditions(conditions), options(options), target(target), operands(op) {}

  Measurement run(ArrayRef<Candidate> candidates, double seconds) {
    Measurement measurement;
    measurement.entry.key = tuningKey(op, conditions);
    build(candidates);
    check();
    std::vector<Timed *> timed;
    for (auto &trial : trials)
      timed.push_back(trial.get());
    ContestLimits limits;
    if (seconds > 0) {
      limits.least = std::min(limits.least, seconds * 1e6);
      limits.undecided = std::min(limits.undecided, seconds * 1e6);
      limits.patience = std::min(limits.patience, std::max(seconds * 1e6, limits.undecided));
    }
    ContestResult contest = runContest(timed, limits);
    measurement.enough = contest.enough || trials.empty();
    measurement.entry.certain = contest.certain;
    std::vector<TunedCandidate> measured;
    for (auto [c, standing] : llvm::zip(contestants, contest.standings)) {
      if (!standing.failed.empty()) {
        reject(c, standing.failed);
        continue;
      }
      c.min = standing.min;
      c.median = standing.median;
      c.spread = standing.spread;
      c.behind = standing.behind;
      c.behindLow = standing.behindLow;
      c.behindHigh = standing.behindHigh;
      c.runs = standing.runs;
      c.disturbed = standing.disturbed;
      measured.push_back(c);
    }
    llvm::stable_sort(measured, [](auto &x, auto &y) { return x.behind < y.behind; });
    llvm::append_range(measured, rejected);
    measurement.entry.candidates = std::move(measured);
    return measurement;
  }

private:
  void reject(TunedCandidate candidate, const std::string &reason) {
    candidate.rejected = reason.empty() ? "it cannot be made" : reason;
    rejected.push_back(candidate);
  }

  void build(ArrayRef<Candidate> candidates) {
    double best = candidates.front().estimate;
    for (const Candidate &c : candidates)
      best = std::min(best, c.estimate);
    for (const Candidate &candidate : candidates) {
      TunedCandidate c;
      c.kernel = candidate.kernel;
      c.implementation = candidate.implementation;
      c.estimate = candidate.estimate;
      c.workspace = double(candidate.workspace);
      if (candidate.estimate >= std::max(kCheapToTry, kHopeless * best)) {
        reject(c, llvm::formatv("not measured: estimated at {0:F0} times the best", candidate.estimate / best).str());
        continue;
      }
      std::string reason;
      auto trial = createTrial(op, candidate, operands, {options, target, conditions.coldWeights}, reason);
      if (!trial || !trial->run(reason)) {
        reject(c, reason);
        continue;
      }
      c.workspace = double(trial->workspace());
      if (options.tuning.spoil)
        for (ref::Tensor &tensor : trial->results())
          options.tuning.spoil(c.implementation, tensor.mutableData(), size_t(tensor.bytes()));
      contestants.push_back(c);
      trials.push_back(std::move(trial));
    }
  }

  /// Nothing is timed before it is right.
  void check() {
    std::vector<const std::vector<ref::Tensor> *> results;
    for (auto &trial : trials)
      results.push_back(&trial->results());
    std::vector<Verdict> verdicts = judge(op, operands, results);
    std::vector<TunedCandidate> kept;
    std::vector<std::unique_ptr<Trial>> keptTrials;
    for (auto [c, trial, verdict] : llvm::zip(contestants, trials, verdicts)) {
      c.error = verdict.error;
      c.checked = verdict.checked;
      if (!verdict.wrong.empty()) {
        reject(c, verdict.wrong);
        continue;
      }
      kept.push_back(c);
      keptTrials.push_back(std::move(trial));
    }
    contestants = std::move(kept);
    trials = std::move(keptTrials);
  }

  Operation *op;
  const TuningConditions &conditions;
  const CompileOptions &options;
  const cpu::Target &target;
  TrialOperands operands;
  std::vector<TunedCandidate> contestants, rejected;
  std::vector<std::unique_ptr<Trial>> trials;
};

} // namespace

TuningConditions conditionsOf(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  TuningConditions conditions;
  double bytes = 0;
  module.walk([&](ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getY().getType());
    bytes += double(type.getNumElements() * ref::elementBytes(type.getElementType()));
  });
  conditions.coldWeights = bytes > Machine().cacheBytes;
  conditions.settings = {{"threads", std::to_string(options.threads)},
                         {"weights", conditions.coldWeights ? "cold" : "warm"},
                         {"accuracy", options.accuracy},
                         {"matmul-precision", options.precision.matmul},
                         {"workspace", options.tuning.workspaceBytes > 0 ? std::to_string(options.tuning.workspaceBytes) : "any"}};
  conditions.machine = {{"cpu", target.cpu},
                        {"model", processorModel()},
                        {"features", featuresText(target.features)},
                        {"vector", std::to_string(target.vectorBits)},
                        {"caches", processorCaches()}};
  conditions.versions = {{"dlc", "0.1." + std::to_string(kGeneratedRevision)},
                         {"llvm", LLVM_VERSION_STRING},
                         {"library", onednn::libraryVersion()}};
  return conditions;
}

TuningKey tuningKey(Operation *op, const TuningConditions &conditions) {
  TuningKey key{"", conditions.settings, conditions.machine, conditions.versions};
  llvm::raw_string_ostream os(key.operation);
  os << op->getName();
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!attribute.getName().getValue().starts_with("dlc."))
      os << " " << attribute.getName().getValue() << "=" << attribute.getValue();
  os << " (";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    os << (i ? ", " : "") << (operand.getDefiningOp<ConstantOp>() ? "constant " : "") << operand.getType();
  os << ") -> " << op->getResultTypes();
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
    AsmState state(op, flags);
    for (Operation &inner : fusion.getBody().front()) {
      os << "\n";
      inner.print(os, state);
    }
  }
  return key;
}

Measurement measureCandidates(Operation *op, ArrayRef<Candidate> candidates, const TuningConditions &conditions,
                              const CompileOptions &options, const cpu::Target &target, double seconds) {
  Measurement measurement = Measuring(op, conditions, options, target).run(candidates, seconds);
  SmallVector<StringRef> names;
  namesIn(op->getLoc(), names);
  measurement.entry.name = names.empty() ? op->getName().getStringRef().str() : names.front().str();
  return measurement;
}

void applyMeasurement(const TuningEntry &entry, std::vector<Candidate> &candidates) {
  for (const TunedCandidate &tuned : entry.candidates) {
    auto found = llvm::find_if(candidates, [&](const Candidate &c) {
      return c.kernel == tuned.kernel && c.implementation == tuned.implementation;
    });
    if (!tuned.rejected.empty()) {
      // One that gave wrong results stays out, where another can do the work.
      if (found != candidates.end() && candidates.size() > 1 && !StringRef(tuned.rejected).starts_with("not measured"))
        candidates.erase(found);
      continue;
    }
    if (found == candidates.end()) {
      // Another of a library's implementations; its provider must still be one that can do it.
      auto same = llvm::find_if(candidates, [&](const Candidate &c) { return c.kernel == tuned.kernel; });
      if (same == candidates.end())
        continue;
      Candidate other = *same;
      other.implementation = tuned.implementation;
      found = candidates.insert(candidates.end(), other);
    }
    found->measured = tuned.median;
    found->error = tuned.error;
  }
  // In the contest's order; by their times alone machine and moment would count.
  auto behind = [&](const Candidate &c) {
    auto *tuned = entry.find(c.implementation);
    return c.measured && tuned ? tuned->behind : 1e30;
  };
  llvm::stable_sort(candidates, [&](const Candidate &x, const Candidate &y) {
    return behind(x) != behind(y) ? behind(x) < behind(y) : x.estimate < y.estimate;
  });
  const TunedCandidate *choice = entry.choice();
  auto first = llvm::find_if(candidates, [&](const Candidate &c) {
    return choice && c.kernel == choice->kernel && c.implementation == choice->implementation;
  });
  if (first != candidates.end())
    std::rotate(candidates.begin(), first, first + 1);
}

} // namespace dlc
