//===- Calibrate.cpp - measures a profile of this machine -----------------===//
#include "codegen/select/Calibrate.h"

#include "codegen/cpu/target/Native.h"
#include "codegen/machine/Processor.h"
#include "codegen/machine/Work.h"
#include "codegen/options/Context.h"
#include "codegen/select/CalibrationCases.h"
#include "codegen/select/KernelCosts.h"
#include "codegen/select/candidates/Candidates.h"
#include "codegen/select/measure/Trial.h"
#include "codegen/select/measure/Worker.h"
#include "passes/Passes.h"
#include "runtime/program/AtomicFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir;

namespace dlc {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Measured time of one kernel for one operation of a calibration case.
struct KernelTiming {
  int which = 0;       ///< index of the calibration case
  int operation = 0;   ///< index of the operation within the case
  std::string kernel;  ///< name and parameters of the candidate
  double measured = 0; ///< measured time in microseconds
};

nlohmann::json toJson(const KernelTiming &t) {
  return {t.which, t.operation, t.kernel, t.measured};
}
KernelTiming parseTiming(const nlohmann::json &json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3)};
}

std::string formatCandidateName(const Candidate &candidate) {
  std::string name = candidate.kernel + " " + candidate.implementation;
  if (candidate.parameters) {
    llvm::raw_string_ostream os(name);
    os << " " << candidate.parameters;
  }
  return name;
}

/// Calibration cases as modules, to which the phases before kernel selection were applied.
class CalibrationBench {
public:
  CalibrationBench(const CompileOptions &given, const cpu::Target &target, const Profile &base)
      : context(MLIRContext::Threading::DISABLED), target(target) {
    prepareContext(context);
    options = given;
    options.profile = base.name;
    options.cacheDir = "";
    options.tune = false;
    options.tuning = TuningOptions();
    options.progress = nullptr;
    options.afterPhase = nullptr;
    for (const CalibrationCase &each : calibrationCases(options.threads))
      cases.push_back(each);
    modules.resize(cases.size());
  }

  /// Returns the operations of a calibration case for which kernels are selected.
  SmallVector<Operation *> operationsOf(size_t which) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> &module = modules[which];
    if (!module) {
      module = parseCaseModule(cases[which], context);
      if (!module || failed(fuse(*module)))
        return {};
    }
    SmallVector<Operation *> list;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FusionOp, ReorderOp, TransposeOp>(op)) {
        list.push_back(op);
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    return list;
  }

  std::vector<Candidate> candidates(Operation *op, const Profile &profile) {
    SelectionContext selection{.target = target,
                               .profile = profile,
                               .threads = options.threads,
                               .accuracy = options.accuracy,
                               .every = true};
    std::string refusals;
    return candidatesFor(op, selection, refusals);
  }

  /// Applies the passes that precede kernel selection in the compilation of a model.
  LogicalResult fuse(ModuleOp module) {
    CostsFactory costs = [this](const ModelOptions &) { return createKernelCosts(options); };
    PassManager passes(&context, ModuleOp::getOperationName());
    passes.addPass(createSimplifyPass());
    passes.addPass(createPlacePass(options));
    passes.addPass(createLayoutPass(options, costs));
    passes.addPass(createMarkAttentionPass(options, /*gradients=*/false, costs));
    passes.addPass(createDecomposePass(costs(options)));
    passes.addPass(createExcessPrecisionPass(options));
    passes.addPass(createFusePass());
    return passes.run(module);
  }

  MLIRContext context;
  const cpu::Target &target;
  CompileOptions options;
  std::vector<CalibrationCase> cases;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

/// Returns the minimum time in microseconds of several runs, since disturbances can only increase
/// the time.
std::optional<double> timeOf(Operation *op, const Candidate &candidate,
                             const TrialOperands &operands, const TrialConditions &conditions) {
  constexpr double kSeconds = 0.012;
  constexpr int kMin = 3, kMax = 40;
  std::string reason;
  auto trial = createTrial(op, candidate, operands, conditions, reason);
  if (!trial || !trial->run(reason))
    return std::nullopt;
  double least = 1e30;
  auto start = Clock::now();
  for (int i = 0; i < kMax && (i < kMin || secondsSince(start) < kSeconds); ++i) {
    auto sample = trial->sample(1, reason);
    if (!sample)
      return std::nullopt;
    least = std::min(least, sample->microseconds);
  }
  return least;
}

/// Times those kernels of all calibration cases that were not timed before, and sends each time to
/// the parent process.
void timeCases(CalibrationBench &bench, const Profile &base, const std::vector<KernelTiming> &known,
               const std::vector<std::string> &deadly, double seconds, WorkerConnection &line) {
  // A candidate is not timed if its estimate is more than this multiple of the best estimate.
  constexpr double kHopeless = 6;
  auto start = Clock::now();
  // Constants are evicted from the caches before each run (cold weights), as in a model that
  // exceeds the caches. In such models, kernels differ mainly in how well they prefetch weights.
  TrialConditions conditions{bench.options, bench.target, /*coldWeights=*/true};
  uint32_t place = 0;
  for (size_t which = 0; which < bench.cases.size(); ++which) {
    if (secondsSince(start) > seconds)
      return;
    for (auto [number, op] : llvm::enumerate(bench.operationsOf(which))) {
      auto candidates = bench.candidates(op, base);
      std::optional<TrialOperands> operands;
      for (const Candidate &candidate : candidates) {
        std::string name = formatCandidateName(candidate);
        bool isKnown = llvm::any_of(known, [&](const KernelTiming &t) {
          return t.which == int(which) && t.operation == int(number) && t.kernel == name;
        });
        if (isKnown || llvm::is_contained(deadly, name) || candidate.isReference ||
            candidate.estimate > kHopeless * candidates.front().estimate)
          continue;
        if (secondsSince(start) > seconds)
          return;
        if (!operands)
          operands.emplace(op);
        line.say("?" + name);
        line.at(place++);
        auto time = timeOf(op, candidate, *operands, conditions);
        line.at(kNowhere);
        if (time)
          line.say(toJson({int(which), int(number), name, *time}).dump());
      }
    }
  }
}

double geometricMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::log(value);
  return values.empty() ? 1 : std::exp(sum / double(values.size()));
}

/// Computes a machine profile from measured times, starting from the profile `base`.
class ProfileFit {
public:
  ProfileFit(CalibrationBench &bench, const std::vector<KernelTiming> &timings)
      : bench(bench), timings(timings) {}

  Profile learn(const Profile &base) {
    Profile profile = base;
    profile.name = "measured";
    profile.samples.clear();
    profile.corrections = CostCorrections();
    scaleFigures(profile);
    forEach(profile, [&](Operation *op, const Candidate &candidate, double measured, size_t) {
      // Measured times below this number of microseconds depend mainly on the clock's resolution.
      constexpr double kShort = 3;
      if (measured < kShort || candidate.estimate <= 0)
        return;
      WorkFeatures work = getWorkFeatures(op);
      profile.samples.push_back({candidate.implementation, work.kind, work.sizes,
                                 std::log(measured / candidate.estimate)});
    });
    for (const CostSample &sample : profile.samples)
      profile.corrections.add(sample);
    return profile;
  }

private:
  void forEach(const Profile &profile,
               llvm::function_ref<void(Operation *, const Candidate &, double, size_t)> use) {
    // The samples correct estimates that are based on the machine's parameters alone, so earlier
    // corrections are removed.
    Profile plain = profile;
    plain.corrections = CostCorrections();
    for (size_t which = 0; which < bench.cases.size(); ++which) {
      if (llvm::none_of(timings, [&](const KernelTiming &t) { return t.which == int(which); }))
        continue;
      for (auto [number, op] : llvm::enumerate(bench.operationsOf(which)))
        for (const Candidate &candidate : bench.candidates(op, plain))
          for (const KernelTiming &t : timings)
            if (t.which == int(which) && t.operation == int(number) &&
                t.kernel == formatCandidateName(candidate))
              use(op, candidate, t.measured, which);
    }
  }

  /// Scales the machine's parameters by the ratio of measured to estimated times of the best
  /// kernels, in the calibration cases that determine a rate.
  void scaleFigures(Profile &profile) {
    struct Best {
      double measured = 1e30, estimated = 1e30;
    };
    std::map<std::pair<size_t, Operation *>, Best> best;
    forEach(profile, [&](Operation *op, const Candidate &c, double measured, size_t which) {
      Best &each = best[{which, op}];
      each.measured = std::min(each.measured, measured);
      each.estimated = std::min(each.estimated, c.estimate);
    });
    std::map<ParameterScaling, std::vector<double>> slower;
    double overhead = profile.machine.launch + profile.machine.wake;
    for (auto &[key, each] : best)
      if (ParameterScaling tells = bench.cases[key.first].tells; tells != ParameterScaling::None)
        slower[tells].push_back(std::clamp(std::max(each.measured - overhead, 0.1) /
                                               std::max(each.estimated - overhead, 0.1),
                                           0.1, 10.0));
    for (const CostParameter &figure : getCostParameters()) {
      bool isStreamed = figure.scale == ParameterScaling::Streamed;
      auto found = slower.find(isStreamed ? ParameterScaling::Memory : figure.scale);
      if (found == slower.end())
        continue;
      double factor = geometricMean(found->second);
      profile.machine.*figure.field /= isStreamed ? std::max(1.0, factor) : factor;
    }
  }

  CalibrationBench &bench;
  const std::vector<KernelTiming> &timings;
};

/// Lock that a process holds while it measures a machine's profile. Other processes wait for the
/// result.
class CalibrationLock {
public:
  explicit CalibrationLock(const std::string &file)
      : descriptor(::open((file + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    while (descriptor >= 0 && ::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~CalibrationLock() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  CalibrationLock(const CalibrationLock &) = delete;
  CalibrationLock &operator=(const CalibrationLock &) = delete;
  explicit operator bool() const { return descriptor >= 0; }

private:
  int descriptor;
};

} // namespace

Profile measureProfile(const CompileOptions &given, const cpu::Target &target, double seconds) {
  CompileOptions options = resolveDefaults(given);
  Profile base = findNearestProfile(target);
  base.machine = scaleToVectorWidth(base, target.vectorBits);
  base.vectorBits = target.vectorBits;
  // kTimingPart: fraction of the time for timing; the rest is for building the cases again and
  // computing the profile. kSilence: seconds without progress after which a worker is killed.
  constexpr double kTimingPart = 0.85, kSilence = 10;
  auto start = Clock::now();
  std::vector<KernelTiming> timings;
  std::vector<std::string> deadly;
  std::string at, learnt;
  auto work = [&](WorkerConnection &line) {
    CalibrationBench bench(options, target, base);
    timeCases(bench, base, timings, deadly, kTimingPart * seconds - secondsSince(start), line);
    // Sends the message that all cases are timed. The worker cannot compute the profile, because
    // its list `timings` has only the results of earlier workers. Its own results were sent to the
    // parent process.
    line.say("!");
    _exit(0);
  };
  auto heard = [&](const std::string &message) {
    if (message.front() == '?')
      at = message.substr(1);
    else if (message.front() == '[')
      timings.push_back(parseTiming(nlohmann::json::parse(message)));
    else
      learnt = message;
  };
  // A candidate with which the worker crashes or hangs is skipped in the next attempt.
  for (int tries = 0; tries < 3 && learnt.empty(); ++tries) {
    runWorker(work, heard, kSilence);
    if (learnt.empty())
      deadly.push_back(at);
  }
  CalibrationBench bench(options, target, base);
  Profile profile = ProfileFit(bench, timings).learn(base);
  profile.processor = processorModel();
  profile.cpus = {target.cpu};
  profile.measured = processorModel() + ", caches " + processorCaches() + ", " +
                     std::to_string(options.threads) + " threads; parameters of " + base.name +
                     " scaled; " + std::to_string(profile.samples.size()) + " samples";
  return profile;
}

std::string writeProfile(const Profile &profile, const std::string &file) {
  try {
    std::error_code ignored;
    if (auto folder = std::filesystem::path(file).parent_path(); !folder.empty())
      std::filesystem::create_directories(folder, ignored);
    runtime::AtomicFile out(file);
    std::string text = formatProfile(profile);
    out.write(text.data(), text.size());
    out.commit();
    return "";
  } catch (const std::exception &error) {
    return error.what();
  }
}

std::string measureProfileOnce(const CompileOptions &options) {
  ProfileChoice choice{options.profile, options.cacheDir.value_or("")};
  if (std::string problem = choice.problem(); !problem.empty())
    return problem;
  cpu::Target target = cpu::hostTarget();
  if (!choice.isMissing(target))
    return "";
  std::string file = getMeasuredProfilePath(choice.cacheDir);
  std::error_code ignored;
  std::filesystem::create_directories(choice.cacheDir, ignored);
  CalibrationLock lock(file);
  clearProfileCache();
  // If the cache folder cannot be written, no profile is stored, and the most similar built-in
  // profile is used.
  if (!lock || !choice.isMissing(target))
    return "";
  if (options.progress)
    options.progress("measuring this machine, once", 0, 1);
  (void)writeProfile(measureProfile(options, target, kCalibrationSeconds), file);
  clearProfileCache();
  return "";
}

} // namespace dlc
