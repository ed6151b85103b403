//===- Select.cpp - which kernel does each operation ----------------------===//
#include "codegen/select/Select.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/select/GpuTrial.h"
#include "codegen/select/Tune.h"
#include "passes/OpNames.h"

#include "llvm/ADT/StringExtras.h"

#include <chrono>

using namespace mlir;

namespace dlc {

namespace {

/// What becomes a command with a kernel: fusions, and operations that only the runtime or a library can do.
SmallVector<Operation *> operationsToSelect(ModuleOp module) {
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

/// A file may name what no library here has: such candidates leave.
void dropUnknown(Operation *op, const CompileOptions &options, std::vector<Candidate> &candidates) {
  while (candidates.size() > 1 && hasImplementations(candidates[0].kernel)) {
    writeChoice(op, candidates);
    auto call = chosenCall(op, options.threads);
    if (call && call->implementation == candidates[0].implementation)
      return;
    candidates.erase(candidates.begin());
  }
}

/// Operations of one key, which are measured once.
struct Election {
  SmallVector<Operation *> operations;
  std::vector<Candidate> candidates;
  const TuningEntry *entry = nullptr;
  TunedOperation::From from = TunedOperation::From::LeftOver;
  bool reported = false;
  bool close = false; ///< measured in one sitting, and too near to call by that alone

  double weight() const { return candidates[0].estimate * double(operations.size()); }
};

class Selection {
public:
  Selection(ModuleOp module, const CompileOptions &options, const cpu::Target &target)
      : module(module), options(options), tuning(options.tuning), target(target), conditions(conditionsOf(module, options, target)),
        database(pathOf(options), options.tuning.pinned, warning) {
    warn();
    if (options.tune)
      tuning.onMiss = OnMiss::Measure;
  }

  LogicalResult run() {
    for (Operation *op : operationsToSelect(module))
      if (failed(nominate(op)))
        return failure();
    for (auto &[key, election] : elections)
      if (const TuningEntry *known = tuning.again ? nullptr : database.find(key)) {
        election.entry = known;
        election.from = TunedOperation::From::Known;
        report(election);
      }
    if (tuning.onMiss == OnMiss::Measure)
      measureMissing();
    else
      tellElsewhere();
    if (tuning.onMiss == OnMiss::Error && failed(refuseMisses()))
      return failure();
    for (auto &[key, election] : elections) {
      if (!election.reported)
        report(election);
      for (Operation *op : election.operations)
        choose(op, election);
    }
    database.tidy(warning);
    warn();
    return success();
  }

private:
  static std::string pathOf(const CompileOptions &options) {
    if (!options.tuning.database.empty())
      return options.tuning.database;
    return options.cacheDir.empty() ? "" : options.cacheDir + "/tuning.jsonl";
  }

  void warn() {
    if (!warning.empty())
      module.emitWarning(warning);
    warning.clear();
  }

  /// Asks who can do it; where there is a choice that measurement can make, the operation takes part in an election.
  LogicalResult nominate(Operation *op) {
    op->removeAttr(kImplementationAttr);
    std::string refusals, device = deviceOfCommand(op);
    bool onGpu = isGpu(device);
    auto candidates = onGpu ? gpuCandidatesFor(op, device, tuning.onMiss == OnMiss::Measure, refusals)
                            : candidatesFor(op, options, target, tuning.onMiss == OnMiss::Measure, refusals);
    if (candidates.empty())
      return op->emitError("no kernel for this operation") << (onGpu ? " on " + device : "") << refusals;
    boundWorkspace(candidates, options, refusals);
    const TuningConditions *where = onGpu ? gpuConditions(device) : &conditions;
    if (!where || candidates.size() < 2) {
      preferKernels(candidates, options.kernels);
      writeChoice(op, candidates);
      return success();
    }
    TuningKey key = tuningKey(op, *where);
    auto found = llvm::find_if(elections, [&](auto &each) { return each.first == key; });
    if (found == elections.end()) {
      elections.emplace_back(key, Election());
      found = std::prev(elections.end());
      found->second.candidates = std::move(candidates);
    }
    found->second.operations.push_back(op);
    return success();
  }

  /// Null where the GPU is not here.
  const TuningConditions *gpuConditions(const std::string &device) {
    auto [at, isNew] = onGpus.try_emplace(device);
    if (isNew) {
      TuningConditions gpu = conditions;
      gpu.settings.erase("threads");
      gpu.settings["weights"] = "warm";
      if (!options.gpuArch.empty())
        gpu.settings["gpu-arch"] = options.gpuArch;
      if (addGpuFacts(device, gpu.machine, gpu.versions))
        at->second = std::move(gpu);
    }
    return at->second ? &*at->second : nullptr;
  }

  double secondsLeft() const {
    if (tuning.budgetSeconds <= 0)
      return 1e9;
    return tuning.budgetSeconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Where most of the time goes first. What other work disturbed, and what is close, once more in the end: a lead that only
  /// one of two moments knows is none.
  void measureMissing() {
    SmallVector<std::pair<const TuningKey *, Election *>> missing;
    for (auto &[key, election] : elections)
      if (!election.entry)
        missing.push_back({&key, &election});
    llvm::stable_sort(missing, [](auto &x, auto &y) { return x.second->weight() > y.second->weight(); });
    for (int attempt = 0; attempt < 2; ++attempt)
      for (auto [key, election] : missing) {
        if (secondsLeft() <= 0)
          break;
        if (attempt == 0 || election->from == TunedOperation::From::Disturbed)
          measure(*key, *election, attempt == 0);
        else if (election->close)
          measureAgain(*key, *election);
      }
    // With `again`, what there was no time for is still known from before.
    for (auto [key, election] : missing)
      if (!election->entry && (election->entry = database.find(*key)))
        election->from = TunedOperation::From::Known;
    if (size_t disturbed = llvm::count_if(missing, [](auto &each) { return each.second->from == TunedOperation::From::Disturbed; }))
      module.emitWarning("other work on this machine disturbed the measurement of ")
          << disturbed << " operations, which are chosen by estimate; tune again when it is quiet";
  }

  void measure(const TuningKey &key, Election &election, bool mayTryAgain) {
    auto made = measureCandidates(election.operations[0], election.candidates, conditions, options, target,
                                  tuning.budgetSeconds > 0 ? secondsLeft() : 0);
    if (!made.enough) {
      election.from = TunedOperation::From::Disturbed;
      if (mayTryAgain)
        report(election, &made.entry, true);
      return;
    }
    made.entry.key = key;
    election.entry = database.put(std::move(made.entry), warning);
    election.from = election.entry->choice() ? TunedOperation::From::Measured : TunedOperation::From::Rejected;
    election.close = mayTryAgain && contendersOf(election).size() > 1;
    warn();
    if (!election.close)
      report(election);
  }

  static std::vector<Candidate> contendersOf(const Election &election) {
    constexpr double kContender = 1.2;
    std::vector<Candidate> contenders;
    for (const Candidate &c : election.candidates)
      if (auto *tuned = election.entry->find(c.implementation); tuned && tuned->rejected.empty() && tuned->behindLow < kContender)
        contenders.push_back(c);
    return contenders;
  }

  void measureAgain(const TuningKey &key, Election &election) {
    auto made = measureCandidates(election.operations[0], contendersOf(election), conditions, options, target,
                                  tuning.budgetSeconds > 0 ? secondsLeft() : 0);
    if (made.enough) {
      made.entry.key = key;
      election.entry = database.put(combined(*election.entry, made.entry), warning);
      warn();
    }
    report(election);
  }

  /// What another machine measured says nothing about this one, and its owner should know.
  void tellElsewhere() {
    size_t count = 0;
    const TuningEntry *example = nullptr;
    TuningKey own;
    for (auto &[key, election] : elections)
      if (!election.entry)
        if (const TuningEntry *other = database.findElsewhere(key)) {
          ++count;
          example = other;
          own = key;
        }
    if (example)
      module.emitWarning("'") << database.file() << "' holds " << count << " of this model's operations measured on "
                              << example->key.machineText() << "; this is " << own.machineText()
                              << ": they are not used, the cost model decides (dlc tune measures them here)";
  }

  LogicalResult refuseMisses() {
    for (auto &[key, election] : elections)
      if (!election.entry)
        return election.operations[0]->emitError("is not in the tuning database '")
               << database.file() << "' (key " << key.id()
               << "); required by --on-miss error: an entry for this machine and these settings; dlc tune adds it";
    return success();
  }

  void choose(Operation *op, const Election &election) {
    std::vector<Candidate> candidates = election.candidates;
    if (election.entry)
      applyMeasurement(*election.entry, candidates);
    preferKernels(candidates, options.kernels);
    if (election.entry)
      dropUnknown(op, options, candidates);
    writeChoice(op, candidates);
  }

  void report(Election &election, const TuningEntry *entry = nullptr, bool again = false) {
    if (!again) {
      ++done;
      election.reported = true;
    }
    if (options.progress && tuning.onMiss == OnMiss::Measure)
      options.progress("tuning", int(done), int(elections.size()));
    if (!tuning.report)
      return;
    TunedOperation about;
    SmallVector<StringRef> names;
    namesIn(election.operations[0]->getLoc(), names);
    for (StringRef name : names)
      about.names.push_back(name.str());
    about.from = election.from;
    about.entry = entry ? entry : election.entry;
    about.estimate = election.candidates[0].estimate;
    const TunedCandidate *choice = election.entry ? election.entry->choice() : nullptr;
    about.chosen = choice ? choice->implementation : election.candidates[0].implementation;
    about.candidates = election.candidates.size();
    about.times = election.operations.size();
    about.tried = again;
    tuning.report(about, done, elections.size());
  }

  ModuleOp module;
  const CompileOptions &options;
  TuningOptions tuning;
  const cpu::Target &target;
  TuningConditions conditions;
  std::map<std::string, std::optional<TuningConditions>> onGpus;
  std::string warning;
  TuningDatabase database;
  /// In the order of the model.
  std::vector<std::pair<TuningKey, Election>> elections;
  size_t done = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

LogicalResult selectKernels(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  constexpr llvm::StringLiteral kKnown[] = {"generated", "rows", "contract", "onednn", "builtin", "tiles", "winograd", "cublaslt", "cudnn"};
  if (!options.kernels.empty() && !llvm::is_contained(kKnown, options.kernels))
    return module.emitError("kernels '") << options.kernels << "' are unknown; required: one of " << llvm::join(ArrayRef(kKnown), ", ");
  return Selection(module, options, target).run();
}

} // namespace dlc
