//===- RunCommand.cpp - dlc run: runs a model or a program ----------------===//
#include "tools/dlc/Inputs.h"
#include "tools/dlc/Options.h"
#include "tools/dlc/Progress.h"
#include "tools/dlc/commands/Elapsed.h"
#include "tools/dlc/train/TrainWorld.h"

#include "dlc/Error.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Packed.h"
#include "runtime/session/capi/ResultShape.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/state/WorldState.h"
#include "tools/compiler/Programs.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace dlc::cli {
namespace {

/// Returns a valid file name for a value's name: replaces '/' and control characters, so that
/// "/layer/out:0" is not a path.
std::string toFileName(const std::string &name) {
  std::string file = name.empty() ? "output" : name;
  for (char &c : file)
    if (c == '/' || c == '\0' || static_cast<unsigned char>(c) < 32)
      c = '_';
  return file == "." || file == ".." ? "_" : file;
}

double readElement(const runtime::TensorInfo &info, const void *data, size_t i) {
  auto get = [&](auto value) {
    std::memcpy(&value, static_cast<const char *>(data) + i * sizeof value, sizeof value);
    return double(value);
  };
  auto bits = [&] {
    uint16_t value;
    std::memcpy(&value, static_cast<const char *>(data) + 2 * i, 2);
    return value;
  };
  switch (info.dtype) {
  case DType::F32:
    return get(float());
  case DType::F64:
    return get(double());
  case DType::F16:
    return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits())).convertToDouble();
  case DType::BF16:
    return llvm::APFloat(llvm::APFloat::BFloat(), llvm::APInt(16, bits())).convertToDouble();
  case DType::I4: // elements are unpacked to one byte
  case DType::I8:
    return get(int8_t());
  case DType::I16:
    return get(int16_t());
  case DType::I32:
    return get(int32_t());
  case DType::I64:
    return get(int64_t());
  case DType::U4: // elements are unpacked to one byte
  case DType::U8:
  case DType::Bool:
    return get(uint8_t());
  case DType::U16:
    return get(uint16_t());
  case DType::U32:
    return get(uint32_t());
  case DType::U64:
    return get(uint64_t());
  }
  return 0;
}

void printOutput(const runtime::TensorInfo &info, const void *data) {
  size_t count = 1;
  for (int64_t size : info.shape)
    count *= size_t(size);
  std::vector<char> values;
  if (isPacked(info.dtype)) {
    values.resize(count);
    runtime::unpack(info.dtype, info.shape, data, values.data());
    data = values.data();
  }
  std::printf("%s  %s %s ", info.name.c_str(), std::string(dtypeName(info.dtype)).c_str(),
              shapeText(info.shape).c_str());
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < count; ++i) {
    low = std::min(low, readElement(info, data, i));
    high = std::max(high, readElement(info, data, i));
  }
  if (count > 6)
    std::printf(" in [%.6g, %.6g]:", low, high);
  else
    std::printf(":");
  for (size_t i = 0; i < std::min<size_t>(count, 6); ++i)
    std::printf(" %.6g", readElement(info, data, i));
  std::printf(count > 6 ? " ...\n" : "\n");
}

/// A program that is ready to run, with the settings of its compilation.
struct PreparedRun {
  std::shared_ptr<LoadedProgram> ready;
  std::shared_ptr<BackgroundTuning> background; ///< null without --tune-in-background
  Values values;
  double compileSeconds = 0;

  runtime::Session &session() const { return *ready->session; }
};

/// Compiles or loads the program. `world` is null if the program runs in a single process.
PreparedRun prepareRun(const RunArguments &arguments, const std::shared_ptr<Source> &source,
                       runtime::World *world, ProgressBar &progress) {
  auto start = Clock::now();
  // Sends heartbeats during compilation, which may take longer on one rank than on others.
  std::optional<HeartbeatThread> heartbeats;
  if (world)
    heartbeats.emplace(*world);
  CompileOptions options = arguments.options;
  options.afterPhase = [&](Phase phase, mlir::ModuleOp, double) {
    progress.show("compiling", int(phase) + 1, int(Phase::Native) + 1);
  };
  options.progress = [&](llvm::StringRef what, int done, int total) {
    progress.show(what.str(), done, total);
  };
  PreparedRun run;
  run.values = readInputs(arguments.inputs, *source);
  Shapes shapes = completeShapesWithOnes(*source, getInputShapes(arguments, run.values));
  std::set<std::string> bound;
  run.ready = std::make_shared<LoadedProgram>();
  run.ready->program = compileSource(*source, shapes, run.values, options, bound);
  run.ready->session = std::make_shared<runtime::Session>(
      run.ready->program, runtime::SessionOptions{.threads = options.threads,
                                                  .plainLaunches = arguments.plainLaunches,
                                                  .world = world});
  heartbeats.reset();
  if (world && world->size() > 1)
    world->agree("program", runtime::describeProgram(*run.ready->program, run.session().plan()));
  run.compileSeconds = secondsSince(start);
  if (options.tuneInBackground > 0) {
    source->requireModel("--tune-in-background: ");
    run.ready->measurementMutex = std::make_shared<MeasurementMutex>();
    run.background = tuneInBackground(source, options, shapes, run.values, bound, run.ready);
  }
  progress.clear();
  return run;
}

/// Times of the runs in milliseconds, and the kernels that were swapped between them.
struct RunTimes {
  std::vector<double> times;
  size_t swaps = 0;
  size_t swappedAt = 0; ///< number of the first run after the last swap
};

RunTimes timeRuns(const PreparedRun &run, int repeat, const std::vector<const void *> &inputs,
                  const std::vector<void *> &outputs, ProgressBar &progress) {
  RunTimes measured;
  for (int i = 0; i < repeat; ++i) {
    progress.show("running", i, repeat);
    std::shared_ptr<const LoadedProgram> now = run.background ? run.background->now() : run.ready;
    if (run.background && run.background->swaps() != measured.swaps) {
      measured.swaps = run.background->swaps();
      measured.swappedAt = measured.times.size();
    }
    std::shared_ptr<void> lock =
        now->measurementMutex ? now->measurementMutex->lockForRun() : nullptr;
    auto runStart = Clock::now();
    now->session->run(inputs, outputs);
    measured.times.push_back(secondsSince(runStart) * 1e3);
  }
  progress.clear();
  return measured;
}

/// Returns the outputs of the program, with their shapes after the run.
std::vector<runtime::TensorInfo> describeOutputs(const runtime::Session &session,
                                                 const std::vector<void *> &outputs) {
  std::vector<runtime::TensorInfo> infos;
  for (size_t i = 0; i < session.plan().results(); ++i) {
    infos.push_back(session.plan().outputs[i]);
    infos[i].shape = runtime::resultShape(session.plan(), i, outputs);
    infos[i].bytes = tensorBytes(infos[i].dtype, infos[i].shape);
  }
  return infos;
}

void writeOutputs(const std::string &folder, const std::vector<runtime::TensorInfo> &infos,
                  const std::vector<void *> &outputs) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    throw Error("--output-dir " + folder + ": cannot be created: " + error.message());
  for (size_t i = 0; i < infos.size(); ++i)
    runtime::writeNpy(folder + "/" + toFileName(infos[i].name) + ".npy", infos[i].dtype,
                      infos[i].shape, outputs[i]);
}

void printBackgroundTuning(const PreparedRun &run, const RunTimes &measured) {
  std::vector<double> last(measured.times.begin() + long(measured.swappedAt), measured.times.end());
  std::nth_element(last.begin(), last.begin() + long(last.size() / 2), last.end());
  std::printf("tuned in the background: %zu kernel swaps, %s; the last %zu runs: median %.3f ms\n",
              measured.swaps,
              run.background->isDone() ? "tuning is complete" : "tuning is not complete",
              last.size(), last[last.size() / 2]);
  if (std::string error = run.background->error(); !error.empty())
    std::fprintf(stderr, "dlc: warning: tuning in the background stopped: %s\n", error.c_str());
}

/// Prints the outputs and times. `json`: only times and memory, as one JSON object.
void printReport(const PreparedRun &run, const RunTimes &measured, bool json,
                 const std::vector<runtime::TensorInfo> &infos,
                 const std::vector<void *> &outputs) {
  const runtime::Session &session = run.session();
  // The time of the first run is reported separately if there are several runs, because it includes
  // page faults of memory that is touched for the first time.
  double first = measured.times[0];
  std::vector<double> later(measured.times.begin() + (measured.times.size() > 1),
                            measured.times.end());
  std::sort(later.begin(), later.end());
  double median = (later[(later.size() - 1) / 2] + later[later.size() / 2]) / 2;
  double arenaMib = double(session.memory().arenaBytes) / (1 << 20);
  if (json) {
    nlohmann::ordered_json report = {{"compile_s", run.compileSeconds},
                                     {"first_run_ms", first},
                                     {"min_ms", later[0]},
                                     {"median_ms", median},
                                     {"peak_mib", peakMib()},
                                     {"arena_mib", arenaMib},
                                     {"graph_launches", session.graphLaunches()}};
    if (run.background)
      report["swaps"] = measured.swaps;
    std::printf("%s\n", report.dump().c_str());
    return;
  }
  for (size_t i = 0; i < infos.size(); ++i)
    printOutput(infos[i], outputs[i]);
  std::printf("compiled in %.3f s; first run %.3f ms", run.compileSeconds, first);
  if (measured.times.size() > 1)
    std::printf(", then %zu runs: min %.3f ms, median %.3f ms", later.size(), later[0], median);
  std::printf("; %d threads, arena %.1f MiB, peak %.0f MiB\n", session.threads(), arenaMib,
              peakMib());
  if (run.background)
    printBackgroundTuning(run, measured);
}

/// Runs the program `repeat` times and prints its results. In a world of several processes, only
/// rank 0 prints and writes files. `world` is null if the program runs in a single process.
int run(const RunArguments &arguments, const std::shared_ptr<Source> &source,
        runtime::World *world) {
  ProgressBar progress;
  PreparedRun prepared = prepareRun(arguments, source, world, progress);
  runtime::Session &session = prepared.session();
  std::vector<runtime::NpyArray> arrays = arraysFor(session, prepared.values, arguments.seed);
  std::vector<const void *> inputs;
  for (const runtime::NpyArray &array : arrays)
    inputs.push_back(array.data.data);
  std::vector<runtime::Span> results;
  std::vector<void *> outputs;
  for (const runtime::TensorInfo &info : session.plan().outputs) {
    results.push_back(runtime::copyToOwnedSpan(std::vector<char>(info.bytes).data(), info.bytes));
    outputs.push_back(const_cast<void *>(results.back().data));
  }

  if (!arguments.trace.empty())
    session.setTrace(true);
  RunTimes measured = timeRuns(prepared, arguments.repeat, inputs, outputs, progress);
  if (world && world->rank() != 0)
    return 0;
  if (!arguments.trace.empty())
    session.writeTrace(arguments.trace);
  std::vector<runtime::TensorInfo> infos = describeOutputs(session, outputs);
  if (!arguments.outputDir.empty())
    writeOutputs(arguments.outputDir, infos, outputs);
  printReport(prepared, measured, arguments.json, infos, outputs);
  return 0;
}

} // namespace

int runCommand(const RunArguments &arguments) {
  if (arguments.repeat < 1)
    throw Error("--repeat " + std::to_string(arguments.repeat) + ": required: 1 or more");
  auto source = std::make_shared<Source>(arguments.model);
  auto isShared = [&] {
    if (!source->isProgram())
      return arguments.options.world > 1;
    runtime::Plan plan = runtime::checkProgram(*source->program());
    return runtime::findRankCount(plan) > 0 || !runtime::describeCollectives(plan).empty();
  };
  if (!isShared())
    return run(arguments, source, nullptr);
  // Joins the world before any thread exists, because joining may set the CPU affinity of threads.
  runtime::World &world = runtime::World::ofProcess();
  return runInWorld(world, [&] { return run(arguments, source, &world); });
}

} // namespace dlc::cli
