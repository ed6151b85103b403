//===- MeasurementSession.cpp - one measurement session -------------------===//
#include "codegen/select/measure/MeasurementSession.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/options/Context.h"
#include "codegen/select/measure/ResultCheck.h"
#include "ir/tensor/BlobOwners.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace dlc {

namespace {

/// A candidate is not measured if its estimate is at least kHopeless times the best estimate and
/// also at least kCheapToTry microseconds.
constexpr double kHopeless = 20, kCheapToTry = 50;

/// Seconds after which a candidate without progress is assumed to hang.
constexpr double kSilence = 120;

class MeasurementSession {
public:
  MeasurementSession(Operation *op, ArrayRef<Candidate> candidates, const TuningEntry &known,
                     const TrialConditions &conditions, WorkerConnection &line)
      : op(op), candidates(candidates), conditions(conditions), tuning(conditions.options.tuning),
        line(line), entry(known), operands(op) {}

  SessionResult run(double seconds) {
    entry.unfinished = true;
    build();
    check();
    SessionResult result;
    result.enough = time(seconds);
    entry.unfinished = false;
    result.entry = std::move(entry);
    return result;
  }

private:
  void reject(TunedCandidate &c, const std::string &reason) {
    c.rejected = reason.empty() ? "it cannot be created" : reason;
    c.rounds.clear();
    tell();
  }

  void tell() { line.say(formatEntry(entry)); }

  void at(size_t i, std::string_view stage) {
    line.at(uint32_t(i));
    if (tuning.fault && i < candidates.size())
      tuning.fault(candidates[i].implementation, stage);
  }

  std::shared_ptr<void> turn() const { return tuning.turn ? tuning.turn() : nullptr; }

  void build() {
    double best = candidates.front().estimate;
    for (const Candidate &c : candidates)
      best = std::min(best, c.estimate);
    for (auto [i, candidate] : llvm::enumerate(candidates)) {
      TunedCandidate &c = entry.candidates[i];
      if (!c.rejected.empty())
        continue;
      if (candidate.estimate >= std::max(kCheapToTry, kHopeless * best)) {
        reject(c, llvm::formatv("not measured: its estimate is {0:F0} times that of the best",
                                candidate.estimate / best)
                      .str());
        continue;
      }
      at(i, "build");
      std::string reason;
      auto trial = createTrial(op, candidate, operands, conditions, reason);
      if (trial) {
        at(i, "run");
        auto ours = turn();
        if (!trial->run(reason))
          trial.reset();
      }
      line.at(kNowhere);
      if (!trial) {
        reject(c, reason);
        continue;
      }
      c.workspace = double(trial->workspace());
      if (tuning.spoil)
        for (ref::Tensor &tensor : trial->results())
          tuning.spoil(c.implementation, tensor.mutableData(), size_t(tensor.bytes()));
      measured.push_back(i);
      trials.push_back(std::move(trial));
    }
  }

  /// Checks the results of all measured candidates. Only candidates with correct results are timed.
  void check() {
    if (llvm::all_of(measured, [&](size_t i) { return !entry.candidates[i].checked.empty(); }))
      return;
    std::vector<const std::vector<ref::Tensor> *> results;
    for (auto &trial : trials)
      results.push_back(&trial->results());
    std::vector<ResultCheck> checks = checkResults(op, operands, results);
    std::vector<size_t> kept;
    std::vector<std::unique_ptr<Trial>> keptTrials;
    for (auto [i, trial, check] : llvm::zip(measured, trials, checks)) {
      TunedCandidate &c = entry.candidates[i];
      c.error = check.error;
      c.checked = check.checked;
      if (!check.wrong.empty()) {
        reject(c, check.wrong);
        continue;
      }
      kept.push_back(i);
      keptTrials.push_back(std::move(trial));
    }
    measured = std::move(kept);
    trials = std::move(keptTrials);
    tell();
  }

  bool time(double seconds) {
    BenchmarkLimits limits;
    if (seconds > 0) {
      limits.least = std::min(limits.least, seconds * 1e6);
      limits.undecided = std::min(limits.undecided, seconds * 1e6);
      limits.patience = std::min(limits.patience, std::max(seconds * 1e6, limits.undecided));
    }
    limits.turn = [&](size_t runner) {
      auto ours = turn();
      at(measured[runner], "time");
      return ours;
    };
    limits.progress = [&](const Rounds &rounds) {
      for (auto [i, played] : llvm::zip(measured, rounds))
        entry.candidates[i].rounds = played;
      line.at(kNowhere);
      tell();
    };
    std::vector<Timeable *> timed;
    Rounds begun;
    for (auto [i, trial] : llvm::zip(measured, trials)) {
      timed.push_back(trial.get());
      begun.push_back(entry.candidates[i].rounds);
    }
    BenchmarkResult benchmark = runBenchmark(timed, limits, begun);
    line.at(kNowhere);
    for (auto [i, standing] : llvm::zip(measured, benchmark.candidates)) {
      TunedCandidate &c = entry.candidates[i];
      c.rounds.clear();
      if (!standing.failed.empty()) {
        c.rejected = standing.failed;
        continue;
      }
      c.min = standing.min;
      c.median = standing.median;
      c.spread = standing.spread;
      c.slowdown = standing.slowdown;
      c.slowdownLow = standing.slowdownLow;
      c.slowdownHigh = standing.slowdownHigh;
      c.runs = standing.runs;
      c.disturbed = standing.disturbed;
    }
    return benchmark.enough || trials.empty();
  }

  Operation *op;
  ArrayRef<Candidate> candidates;
  const TrialConditions &conditions;
  const TuningOptions &tuning;
  WorkerConnection &line;
  TuningEntry entry;
  TrialOperands operands;
  std::vector<size_t> measured; ///< indices of the candidates that are measured
  std::vector<std::unique_ptr<Trial>> trials;
};

/// Connection to a measurement session that runs in this process instead of a worker process.
class LocalWorkerConnection : public WorkerConnection {
public:
  explicit LocalWorkerConnection(const std::function<void(const TuningEntry &)> &progress)
      : progress(progress) {}
  void say(const std::string &message) override {
    if (auto entry = parseEntry(message))
      progress(*entry);
  }
  void at(uint32_t) override {}

private:
  const std::function<void(const TuningEntry &)> &progress;
};

/// Serializes the operation to bytecode for another MLIR context, because the threads of this
/// context do not exist in a forked process.
std::string serializeOperation(Operation *op) {
  OwningOpRef<ModuleOp> module = wrapInModule(op);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  return failed(writeBytecodeToFile(*module, os)) ? "" : bytes;
}

OwningOpRef<ModuleOp> parseBytecode(const std::string &bytes, MLIRContext &context) {
  // Constants refer to the buffer without a copy, so the buffer must have the alignment that they
  // require.
  auto buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "operation", llvm::Align(64));
  std::memcpy(buffer->getBufferStart(), bytes.data(), bytes.size());
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  auto module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (module)
    ref::adoptBlobs(*module);
  return module;
}

Operation *findSingleOperation(ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>())
    for (Operation &op : function.getBody().front())
      if (!isa<ConstantOp, mlir::func::ReturnOp>(op))
        return &op;
  return nullptr;
}

} // namespace

SessionResult runSession(Operation *op, ArrayRef<Candidate> candidates, const TuningEntry &known,
                         const TrialConditions &conditions, double seconds,
                         WorkerConnection &line) {
  return MeasurementSession(op, candidates, known, conditions, line).run(seconds);
}

SessionResult runSessionInWorker(Operation *op, ArrayRef<Candidate> candidates,
                                 const TuningEntry &known, const TrialConditions &conditions,
                                 double seconds,
                                 const std::function<void(const TuningEntry &)> &progress) {
  std::string bytes = isGpu(getEnclosingCommandDevice(op)) ? "" : serializeOperation(op);
  if (bytes.empty()) {
    LocalWorkerConnection line(progress);
    return runSession(op, candidates, known, conditions, seconds, line);
  }
  SessionResult result;
  result.entry = known;
  bool done = false;
  auto work = [&](WorkerConnection &line) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    prepareContext(context);
    auto module = parseBytecode(bytes, context);
    Operation *own = module ? findSingleOperation(*module) : nullptr;
    if (!own)
      return;
    SessionResult made = runSession(own, candidates, result.entry, conditions, seconds, line);
    line.say((made.enough ? "+" : "-") + formatEntry(made.entry));
    // The forked worker process exits without running destructors and exit handlers, which belong
    // to the parent process.
    _exit(0);
  };
  auto heard = [&](const std::string &message) {
    bool ends = message.front() == '+' || message.front() == '-';
    auto entry = parseEntry(ends ? message.substr(1) : message);
    if (!entry)
      return;
    entry->key = known.key;
    entry->name = known.name;
    result.entry = std::move(*entry);
    done = ends;
    result.enough = message.front() == '+';
    if (!ends)
      progress(result.entry);
  };
  bool hung = false;
  while (!done) {
    WorkerExit end = runWorker(work, heard, kSilence, conditions.options.tuning.stop);
    if (done)
      break;
    // The first hang may be caused by the fork: another thread of the parent may have held a lock.
    // The session is therefore tried once more.
    if (end.hung && !std::exchange(hung, true))
      continue;
    // A crash between candidates cannot be attributed to a candidate, so the session has no result.
    if (end.place >= candidates.size()) {
      result.enough = false;
      break;
    }
    TunedCandidate &guilty = result.entry.candidates[end.place];
    guilty.rejected = end.death.empty() ? "crashed" : end.death;
    guilty.rounds.clear();
    progress(result.entry);
  }
  result.entry.unfinished = false;
  return result;
}

} // namespace dlc
