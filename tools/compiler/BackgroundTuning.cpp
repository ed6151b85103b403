//===- BackgroundTuning.cpp - kernel autotuning in the background of a running program --------===//
#include "tools/compiler/BackgroundTuning.h"

#include "codegen/select/measure/TuningDatabase.h"
#include "dlc/Error.h"
#include "tools/compiler/Programs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

namespace dlc {

BackgroundTuning::BackgroundTuning(std::shared_ptr<const LoadedProgram> first, double seconds)
    : ready(std::move(first)), seconds(seconds) {}

BackgroundTuning::~BackgroundTuning() {
  stopped = true;
  if (thread.joinable())
    thread.join();
}

void BackgroundTuning::start(TuningCallbacks how) {
  thread = std::thread([this, how = std::move(how)] {
    try {
      work(how);
    } catch (const std::exception &error) {
      std::lock_guard lock(mutex);
      failure = error.what();
    }
    std::lock_guard lock(mutex);
    done = true;
    over.notify_all();
  });
}

void BackgroundTuning::work(const TuningCallbacks &how) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  // Starts with short measurement periods, because the first measurements gain most. Each later
  // period is twice as long, so the program is swapped less often.
  double slice = std::min(2.0, seconds / 4);
  bool more = true;
  while (more && !stopped) {
    double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0)
      break;
    more = how.measure(std::min(slice, left));
    slice *= 2;
    if (stopped)
      break;
    if (std::shared_ptr<const LoadedProgram> better = how.compile(*now())) {
      std::lock_guard lock(mutex);
      ready = std::move(better);
      ++swapped;
    }
  }
}

std::shared_ptr<const LoadedProgram> BackgroundTuning::now() const {
  std::lock_guard lock(mutex);
  return ready;
}

void BackgroundTuning::wait() {
  std::unique_lock lock(mutex);
  over.wait(lock, [&] { return done.load(); });
}

std::string BackgroundTuning::error() const {
  std::lock_guard lock(mutex);
  return failure;
}

/// Returns true if two programs call the same kernels in the same order. Also compares the
/// generated code, because a generated kernel has the same name for every loop schedule.
static bool haveSameKernels(const LoadedProgram &a, const LoadedProgram &b) {
  std::vector<runtime::CommandInfo> left = a.session->commands(), right = b.session->commands();
  const runtime::Span &code = a.program->code, &other = b.program->code;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const runtime::CommandInfo &x, const runtime::CommandInfo &y) {
                      return x.op == y.op && x.implementation == y.implementation;
                    }) &&
         code.bytes == other.bytes && std::memcmp(code.data, other.data, code.bytes) == 0;
}

std::shared_ptr<BackgroundTuning> tuneInBackground(std::shared_ptr<Source> source,
                                                   const CompileOptions &options,
                                                   const Shapes &shapes, const Values &values,
                                                   const std::set<std::string> &bound,
                                                   std::shared_ptr<const LoadedProgram> first) {
  if (getTuningDatabasePath(options).empty())
    throw Error(
        "tuning in the background requires a cache folder or a tuning database; found: neither");
  auto background = std::make_shared<BackgroundTuning>(first, options.tuneInBackground);
  CompileOptions quiet = options;
  quiet.progress = nullptr;
  quiet.afterPhase = nullptr;
  quiet.tune = false;
  quiet.tuning.onMiss = TuningMissPolicy::Model;
  quiet.tuning.pinned = false;
  TuningCallbacks work;
  work.measure = [=, raw = background.get(),
                  measurementMutex = first->measurementMutex](double slice) {
    CompileOptions measuring = quiet;
    measuring.to = Phase::Refine;
    measuring.tuning.onMiss = TuningMissPolicy::Measure;
    measuring.tuning.budgetSeconds = slice;
    measuring.tuning.turn = [measurementMutex] { return measurementMutex->lockForMeasurement(); };
    measuring.tuning.stop = [raw] { return raw->isStopped(); };
    bool more = false;
    measuring.tuning.report = [&](const TunedOperation &about, size_t, size_t) {
      more |= about.from == TunedOperation::From::LeftOver || (about.entry && about.entry->open);
    };
    std::set<std::string> own = bound;
    compileSource(*source, shapes, values, measuring, own);
    return more;
  };
  work.compile = [=, measurementMutex = first->measurementMutex](
                     const LoadedProgram &now) -> std::shared_ptr<const LoadedProgram> {
    std::set<std::string> own = bound;
    auto made = std::make_shared<LoadedProgram>();
    made->program = compileSource(*source, shapes, values, quiet, own);
    made->session = std::make_shared<runtime::Session>(
        made->program, runtime::SessionOptions{now.session->threads(), now.session.get()});
    made->measurementMutex = measurementMutex;
    return haveSameKernels(*made, now) ? nullptr : made;
  };
  background->start(std::move(work));
  return background;
}

} // namespace dlc
