//===- Select.cpp - kernel selection --------------------------------------===//
#include "codegen/select/Select.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/providers/KernelOperations.h"
#include "codegen/providers/StructuralKey.h"
#include "codegen/select/Decide.h"
#include "codegen/select/Tune.h"
#include "codegen/select/candidates/Candidates.h"
#include "codegen/select/candidates/WeightForm.h"
#include "codegen/select/measure/GpuTrial.h"
#include "ir/dlc/Attributes.h"
#include "passes/OpNames.h"

#include "llvm/ADT/StringExtras.h"

#include <chrono>
#include <cmath>
#include <thread>

using namespace mlir;

namespace dlc {

namespace {

/// Operations with the same tuning key, for which the candidates are measured once.
struct TuningGroup {
  SmallVector<Operation *> operations;
  std::vector<Candidate> candidates;
  const TuningEntry *entry = nullptr;
  TunedOperation::From from = TunedOperation::From::LeftOver;
  bool reported = false;
  /// Number of measurement sessions in this run with a result (sessions) and without one
  /// (disturbed). lastSession is the end of the last one.
  int sessions = 0, disturbed = 0;
  double seconds = 0; ///< total seconds of the measurement sessions in this run
  size_t resumed = 0;
  std::chrono::steady_clock::time_point lastSession = {};

  bool isChoice() const { return candidates.size() > 1; }
  /// Returns true if another measurement session is needed; `most` is the maximum number of
  /// sessions.
  bool isOpen(int most) const {
    // Sessions that take more than this many seconds in total already cover the drift of the
    // machine.
    constexpr double kLong = 10;
    if (from == TunedOperation::From::Disturbed)
      return disturbed < 2;
    return entry && entry->choice() && needsSession(*entry) &&
           sessions < (seconds > kLong ? std::min(most, 3) : most);
  }

  double weight() const { return candidates[0].estimate * double(operations.size()); }
};

/// Candidates that all operations with the same structural key share.
struct CachedCandidates {
  std::vector<Candidate> candidates;
  std::string refusals;
  bool staysQuantized = false; ///< whether f32 weights were considered and are not faster
  std::optional<TuningKey> key = {};
};

class KernelSelector {
public:
  /// `warnsAboutDatabase`: reports problems of the tuning database as warnings.
  KernelSelector(ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                 bool warnsAboutDatabase)
      : module(module), options(options), tuning(options.tuning), target(target),
        conditions(conditionsOf(module, options, target)),
        dequantizedBytesLeft(options.dequantizeWeights == "never" ? 0 : kMaxDequantizedBytes),
        warnsAboutDatabase(warnsAboutDatabase),
        database(getTuningDatabasePath(options), options.tuning.pinned, warning) {
    warn();
    if (options.tune)
      tuning.onMiss = TuningMissPolicy::Measure;
  }

  /// Selects kernels for the operations, and replaces operations that were replaced during
  /// selection by the new ones.
  LogicalResult run(MutableArrayRef<Operation *> operations) {
    for (Operation *op : operations)
      enumerateCandidates(op);
    for (auto &[key, group] : groups)
      if (const TuningEntry *known = database.find(key)) {
        group.entry = known;
        group.from = TunedOperation::From::Known;
        if (tuning.onMiss != TuningMissPolicy::Measure || !wantsMore(key, group))
          report(group);
      }
    if (tuning.onMiss == TuningMissPolicy::Measure)
      measureMissing();
    else if (warnsAboutDatabase)
      tellElsewhere();
    if (tuning.onMiss == TuningMissPolicy::Error && failed(refuseMisses()))
      return failure();
    for (WeightAlternatives &forms : weightForms)
      chooseForm(forms);
    for (auto &[key, group] : groups) {
      if (!group.reported && !group.operations.empty())
        report(group);
      for (Operation *op : group.operations)
        choose(op, group);
    }
    database.compact(warning);
    warn();
    for (Operation *&op : operations)
      if (auto replacement = replacements.find(op); replacement != replacements.end())
        op = replacement->second;
    return success();
  }

private:
  void warn() {
    if (warnsAboutDatabase && !warning.empty())
      module.emitWarning(warning);
    warning.clear();
  }

  /// Returns true if operations are measured, or if measurements of a previous run may exist.
  bool hasMeasurements() const {
    return tuning.onMiss == TuningMissPolicy::Measure || !database.all().empty();
  }

  /// If the estimates of the two weight forms differ by less than this factor, the faster one is
  /// uncertain and both are measured.
  static constexpr double kClose = 4;

  static bool areClose(const WeightAlternatives &forms) {
    return forms.quantizedTime < kClose * forms.dequantizedTime &&
           forms.dequantizedTime < kClose * forms.quantizedTime;
  }

  /// Keeps the form of the weights (quantized or f32) that is faster by measurement or, if not both
  /// were measured, by estimate.
  void chooseForm(WeightAlternatives &forms) {
    auto groupOf = [&](FusionOp op) -> TuningGroup * {
      for (auto &[key, group] : groups)
        if (llvm::is_contained(group.operations, op.getOperation()))
          return &group;
      return nullptr;
    };
    auto measured = [](const TuningGroup *of) {
      return of && of->entry && of->entry->choice() ? of->entry->choice()->median : 0;
    };
    TuningGroup *quantized = groupOf(forms.quantized), *other = groupOf(forms.dequantized);
    const double time = measured(quantized), otherTime = measured(other);
    const bool isDequantized =
        time > 0 && otherTime > 0 ? otherTime < time : forms.dequantizedTime < forms.quantizedTime;
    if (TuningGroup *lost = isDequantized ? quantized : other)
      llvm::erase(lost->operations, isDequantized ? forms.quantized : forms.dequantized);
    keepForm(forms, isDequantized);
  }

  FusionOp keepForm(WeightAlternatives &forms, bool isDequantized) {
    if (isDequantized)
      replacements[forms.quantized] = forms.dequantized;
    return keepAlternative(forms, isDequantized);
  }

  /// Tries the two forms of a matmul's weights. Returns true if the operation is replaced by its
  /// other form. If both forms are to be measured, enumerates the candidates of the other form and
  /// returns false.
  bool enumerateWeightForms(FusionOp fusion, const std::vector<Candidate> &candidates) {
    auto forms = createWeightForms(fusion, candidates, options, target, dequantizedBytesLeft,
                                   hasMeasurements() ? kClose : 1);
    if (!forms)
      return false;
    const bool isFaster = candidates.empty() || forms->dequantizedTime < forms->quantizedTime;
    const bool areMeasured = hasMeasurements() && areClose(*forms);
    if (isFaster || areMeasured)
      dequantizedBytesLeft -= forms->bytes;
    if (areMeasured) {
      weightForms.push_back(*forms);
      enumerateCandidates(forms->dequantized);
    } else if (FusionOp kept = keepForm(*forms, isFaster); isFaster) {
      enumerateCandidates(kept);
      return true;
    }
    return false;
  }

  /// Enumerates the candidates of an operation. If they can be measured, adds the operation to the
  /// group with its tuning key. An operation without candidates remains without a kernel.
  void enumerateCandidates(Operation *op) {
    clearChoice(op);
    std::string refusals, device = getEnclosingCommandDevice(op);
    bool onGpu = isGpu(device);
    SelectionContext selection =
        selectionContextOf(options, target, tuning.onMiss == TuningMissPolicy::Measure);
    if (onGpu)
      selection.device = device;
    auto [known, isFirst] = candidatesByKey.try_emplace(computeStructuralKey(op));
    CachedCandidates &shared = known->second;
    if (isFirst)
      shared.candidates = candidatesFor(op, selection, shared.refusals);
    std::vector<Candidate> candidates = shared.candidates;
    refusals = shared.refusals;
    if (auto fusion = dyn_cast<FusionOp>(op);
        fusion && (options.kernels.empty() || candidates.empty()) && !shared.staysQuantized) {
      if (enumerateWeightForms(fusion, candidates))
        return;
      shared.staysQuantized = !hasMeasurements();
    }
    if (candidates.empty())
      return;
    boundWorkspace(candidates, options, refusals);
    const TuningConditions *where = onGpu ? gpuConditions(device) : &conditions;
    bool isRefused = !options.kernels.empty() && !onGpu && llvm::none_of(candidates, [&](auto &c) {
      return matchesProviderName(options.kernels, *findProvider(c.kernel));
    });
    auto noteRefusal = [&] {
      if (isRefused && !refusals.empty())
        op->setAttr(kRefusedAttr,
                    StringAttr::get(op->getContext(), StringRef(refusals).ltrim("; ")));
    };
    // An operation with one candidate is also measured or looked up in the database, to report its
    // measured time.
    bool alone = candidates.size() < 2 && tuning.onMiss != TuningMissPolicy::Measure &&
                 database.all().empty();
    if (!where || alone) {
      preferKernels(candidates, options.kernels);
      writeCandidates(op, candidates);
      noteRefusal();
      return;
    }
    if (!shared.key)
      shared.key = makeTuningKey(op, *where);
    const TuningKey &key = *shared.key;
    noteRefusal();
    auto [at, isNew] = numbers.try_emplace(key.identity(), groups.size());
    if (isNew) {
      groups.emplace_back(key, TuningGroup());
      groups.back().second.candidates = std::move(candidates);
    }
    groups[at->second].second.operations.push_back(op);
  }

  /// Returns the tuning conditions of a GPU; null if the GPU is not available.
  const TuningConditions *gpuConditions(const std::string &device) {
    auto [at, isNew] = onGpus.try_emplace(device);
    if (isNew) {
      TuningConditions gpu = conditions;
      gpu.settings.erase("threads");
      gpu.settings["weights"] = "warm";
      if (!options.gpuArch.empty())
        gpu.settings["gpu-arch"] = options.gpuArch;
      if (addGpuProperties(device, gpu.machine, gpu.versions))
        at->second = std::move(gpu);
    }
    return at->second ? &*at->second : nullptr;
  }

  double secondsLeft() const {
    if (tuning.stop && tuning.stop())
      return 0;
    if (tuning.budgetSeconds <= 0)
      return 1e9;
    return tuning.budgetSeconds -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Returns true if the operation should be measured again, or if its measurements are incomplete.
  bool wantsMore(const TuningKey &key, const TuningGroup &group) const {
    return tuning.again || !group.entry || group.entry->open || database.begun(key);
  }

  /// Measures the groups: those with several candidates first, and of these the groups with the
  /// longest total time. Unsettled and disturbed groups are measured again after all others,
  /// because measurements at a single time are not reliable.
  void measureMissing() {
    SmallVector<std::pair<const TuningKey *, TuningGroup *>> missing;
    for (auto &[key, group] : groups)
      if (!group.reported)
        missing.push_back({&key, &group});
    llvm::stable_sort(missing, [](auto &x, auto &y) {
      return std::make_pair(x.second->isChoice(), x.second->weight()) >
             std::make_pair(y.second->isChoice(), y.second->weight());
    });
    for (int pass = 0; pass < std::max(tuning.sessions, 2); ++pass)
      for (auto [key, group] : missing) {
        if (group->reported)
          continue;
        if (!waitForTurn(*group))
          break;
        measure(*key, *group);
        if (!group->isOpen(tuning.sessions))
          report(*group);
      }
    if (size_t disturbed = llvm::count_if(missing, [](auto &each) {
          return each.second->from == TunedOperation::From::Disturbed;
        }))
      module.emitWarning("other work on this machine disturbed the measurement of ")
          << disturbed
          << " operations, for which the cost model decides; tune again when the machine is idle";
  }

  /// Waits until enough time has passed since the last measurement session of the group. Returns
  /// false if no tuning time is left or the compilation was canceled.
  bool waitForTurn(const TuningGroup &group) {
    if (group.sessions > 0) {
      double ago =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - group.lastSession)
              .count();
      double wait = std::min(tuning.spreadSeconds - ago, secondsLeft());
      if (wait > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    }
    return secondsLeft() > 0 && !options.cancelled();
  }

  void measure(const TuningKey &key, TuningGroup &group) {
    constexpr double kLaterSession = 0.3;
    double seconds = tuning.budgetSeconds > 0 ? secondsLeft() : 0;
    if (group.sessions > 0)
      seconds = seconds > 0 ? std::min(seconds, kLaterSession) : kLaterSession;
    const TuningEntry *known = database.begun(key);
    TuningEntry anew;
    if (const TuningEntry *old = database.find(key);
        old && !known && tuning.again && group.sessions == 0) {
      // If operations are measured again, their earlier results count as further sessions, and
      // rejected candidates are tried again.
      anew = *old;
      for (TunedCandidate &c : anew.candidates)
        if (!c.rejected.empty())
          c = TunedCandidate{.kernel = c.kernel, .implementation = c.implementation};
      known = &anew;
    }
    if (known && group.sessions == 0 && group.disturbed == 0)
      for (const TunedCandidate &c : known->candidates)
        group.resumed += llvm::count_if(c.rounds, [](double t) { return !std::isnan(t); });
    auto begin = std::chrono::steady_clock::now();
    auto made = measureCandidates(group.operations[0], group.candidates, key,
                                  known ? known : database.find(key),
                                  {options, target, key.settings.at("weights") == "cold"}, seconds,
                                  [&](const TuningEntry &entry) { database.note(entry, warning); });
    group.lastSession = std::chrono::steady_clock::now();
    group.seconds += std::chrono::duration<double>(group.lastSession - begin).count();
    if (!made.enough) {
      if (group.entry)
        return void(++group.sessions);
      group.from = TunedOperation::From::Disturbed;
      if (group.disturbed++ == 0)
        report(group, &made.entry, true);
      return;
    }
    ++group.sessions;
    group.from =
        made.entry.choice() ? TunedOperation::From::Measured : TunedOperation::From::Rejected;
    group.entry = &made.entry;
    made.entry.open = group.isOpen(tuning.sessions);
    group.entry = database.put(std::move(made.entry), warning);
    warn();
  }

  /// Warns if the tuning database has measurements of these operations only on another machine or
  /// with other versions. Such measurements are ignored.
  void tellElsewhere() {
    size_t count = 0;
    const TuningEntry *example = nullptr;
    TuningKey own;
    for (auto &[key, group] : groups)
      if (!group.entry && group.isChoice())
        if (const TuningEntry *other = database.findElsewhere(key)) {
          ++count;
          example = other;
          own = key;
        }
    if (example)
      module.emitWarning("'") << database.file() << "' has " << count
                              << " operations of this model measured on "
                              << example->key.machineText() << "; found: " << own.machineText()
                              << ": these entries are ignored and the cost model decides; run dlc "
                                 "tune to measure them on this machine";
  }

  LogicalResult refuseMisses() {
    for (auto &[key, group] : groups)
      if (!group.entry && group.isChoice())
        return group.operations[0]->emitError("is not in the tuning database '")
               << database.file() << "' (key " << key.id()
               << "); required by --on-miss error: an entry for this machine and these settings; "
                  "run dlc tune to add it";
    return success();
  }

  void choose(Operation *op, const TuningGroup &group) {
    std::vector<Candidate> candidates = group.candidates;
    if (group.entry) {
      std::string refusals;
      if (hasOtherImplementations(*group.entry, candidates) &&
          !isGpu(getEnclosingCommandDevice(op))) {
        candidates = candidatesFor(op, options, target, /*every=*/true, refusals);
        boundWorkspace(candidates, options, refusals);
      }
      applyMeasurement(*group.entry, candidates);
    }
    preferKernels(candidates, options.kernels);
    writeCandidates(op, candidates);
  }

  void report(TuningGroup &group, const TuningEntry *entry = nullptr, bool again = false) {
    if (!again) {
      ++done;
      group.reported = true;
    }
    if (options.progress && tuning.onMiss == TuningMissPolicy::Measure)
      options.progress("tuning", int(done), int(groups.size()));
    if (!tuning.report)
      return;
    TunedOperation about;
    SmallVector<StringRef> names;
    collectLocationNames(group.operations[0]->getLoc(), names);
    for (StringRef name : names)
      about.names.push_back(name.str());
    about.from = group.from;
    about.entry = entry ? entry : group.entry;
    about.estimate = group.candidates[0].estimate;
    const TunedCandidate *choice = group.entry ? group.entry->choice() : nullptr;
    about.chosen = choice ? choice->implementation : group.candidates[0].implementation;
    about.candidates = group.candidates.size();
    about.times = group.operations.size();
    about.tried = again;
    about.resumed = group.resumed;
    tuning.report(about, done, groups.size());
  }

  ModuleOp module;
  const CompileOptions &options;
  TuningOptions tuning;
  const cpu::Target &target;
  TuningConditions conditions;
  std::map<std::string, std::optional<TuningConditions>> onGpus;
  std::map<StructuralKey, CachedCandidates> candidatesByKey;
  int64_t dequantizedBytesLeft;
  /// Matmuls for which measurements decide whether the weights are quantized or f32.
  std::vector<WeightAlternatives> weightForms;
  /// Operations of which the other form of the weights was kept, with this form.
  llvm::DenseMap<Operation *, Operation *> replacements;
  std::string warning;
  const bool warnsAboutDatabase;
  TuningDatabase database;
  /// Tuning groups in the order of the model's operations.
  std::vector<std::pair<TuningKey, TuningGroup>> groups;
  /// Index in `groups` of each tuning key, by TuningKey::identity().
  std::map<std::string, size_t> numbers;
  size_t done = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

LogicalResult selectKernels(ModuleOp module, const CompileOptions &options,
                            const cpu::Target &target) {
  if (std::vector<std::string> known = kernelNames();
      !options.kernels.empty() && !llvm::is_contained(known, options.kernels))
    return module.emitError("kernels '")
           << options.kernels << "' is unknown; required: one of " << llvm::join(known, ", ");
  SmallVector<Operation *> operations = findKernelOperations(module);
  return KernelSelector(module, options, target, /*warnsAboutDatabase=*/true).run(operations);
}

LogicalResult selectKernels(ModuleOp module, MutableArrayRef<Operation *> operations,
                            const CompileOptions &options, const cpu::Target &target) {
  return KernelSelector(module, options, target, /*warnsAboutDatabase=*/false).run(operations);
}

} // namespace dlc
