//===- TrainCommand.cpp - dlc train: runs a compiled training step --------===//
#include "tools/dlc/Options.h"
#include "tools/dlc/Progress.h"
#include "tools/dlc/train/Curve.h"
#include "tools/dlc/train/TrainData.h"
#include "tools/dlc/train/TrainTrace.h"
#include "tools/dlc/train/TrainWorld.h"

#include "dlc/Error.h"
#include "runtime/program/AtomicFile.h"
#include "runtime/program/arrays/Safetensors.h"
#include "runtime/session/Session.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/state/Shares.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/WorldState.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace dlc::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

using Metadata = std::map<std::string, std::string>;

/// A scalar output of the training step, such as the loss or a metric.
struct ScalarOutput {
  std::string name;
  float value = 0;
};

struct TrainingRun {
  TrainingRun(const TrainArguments &arguments, runtime::World &world);
  int run();

private:
  void takeRates();
  void start();
  void takeState();
  Metadata identity() const;
  void resume();
  void save();
  bool step();
  void logStep();
  void logEpoch();
  [[noreturn]] void failAt(const std::string &what) const;
  std::string figuresText(const std::vector<double> &values) const;

  const TrainArguments &arguments;
  RankSynchronizer ranks;
  /// True on rank 0, which prints progress and writes files.
  bool first;
  std::shared_ptr<runtime::Program> program;
  runtime::Session session;
  nlohmann::json about;
  std::vector<runtime::TensorInfo> fields;
  /// Current learning rates, by index of the program input that has the learning rate.
  std::map<size_t, float> rates;
  data::Dataset dataset;
  int batches;
  data::Loader loader;
  int64_t batch, perEpoch, total;
  /// Number of finished training steps, including those before a resumed run.
  int64_t done = 0;
  std::vector<ScalarOutput> figures;
  std::vector<double> losses; // losses of the training steps of this run
  std::vector<double> sums;   // sums of the scalar outputs (`figures`) over this epoch
  int64_t summed = 0;
  ProgressBar progress;
  TrainingTrace trace;
};

std::shared_ptr<runtime::Program> loadTrainingProgram(const std::string &path,
                                                      const runtime::World &world) {
  Source source(path);
  if (!source.isProgram())
    throw Error(path + ": required: a compiled training step; run dlc compile --train " + path +
                " -o step.dlcx");
  if (source.program()->manifest.value("state", nlohmann::json::array()).empty())
    throw Error(path + ": has no state, so there is nothing to train; required: a program made by "
                       "dlc compile --train");
  const auto about = source.program()->manifest.value("training", nlohmann::json::object());
  if (int64_t ranks = about.value("world", int64_t(world.size())); ranks != world.size())
    throw Error(path + ": the step is compiled for " + std::to_string(ranks) + " processes, and " +
                std::to_string(world.size()) + (world.size() == 1 ? " was" : " were") +
                " started; start " + std::to_string(ranks) + ", or compile it with --world " +
                std::to_string(world.size()) + "; a checkpoint can be resumed in both");
  return source.program();
}

/// Returns the number of different batches that the ranks take in one training step. Ranks of a
/// model-parallel step (`--split`) all take the same batch.
int countDistinctBatches(const runtime::Session &session, const runtime::World &world) {
  return session.states().hasParts() ? 1 : world.size();
}

data::LoaderOptions makeLoaderOptions(const TrainArguments &a, int64_t batch, int rank,
                                      int batches) {
  return {.batch = batch,
          .shuffle = !a.noShuffle,
          .seed = a.seed,
          .workers = a.workers,
          .prefetch = std::max(2, a.workers),
          .dropLast = true,
          .rank = rank % batches,
          .world = batches};
}

TrainingRun::TrainingRun(const TrainArguments &a, runtime::World &world)
    : arguments(a), ranks(world), first(world.rank() == 0),
      program(loadTrainingProgram(a.program, world)),
      session(program, {.threads = a.threads, .world = &world}),
      about(program->manifest.value("training", nlohmann::json::object())),
      fields(batchInputs(session.plan(), about)), dataset(trainingData(a.data, fields, about)),
      batches(countDistinctBatches(session, world)),
      loader(dataset, makeLoaderOptions(a, getBatchSize(fields), world.rank(), batches)),
      batch(loader.options().batch), perEpoch(loader.batches()), trace(a.trace, session, world) {
  takeRates();
  if (perEpoch == 0)
    throw Error(a.data + ": has " + std::to_string(dataset.size()) +
                " samples; required: at least one batch of " + std::to_string(batch) +
                (batches > 1 ? " for each of " + std::to_string(batches) + " ranks" : ""));
  total = a.steps > 0 ? a.steps : a.epochs * perEpoch;
  for (const runtime::TensorInfo &output : session.plan().outputs) {
    if (output.dtype != DType::F32 || output.bytes != sizeof(float))
      throw Error(a.program + ": output '" + output.name + "' is " +
                  std::string(dtypeName(output.dtype)) + " " + shapeText(output.shape) +
                  "; required: f32 scalars as outputs, the loss first");
    figures.push_back({output.name});
  }
  if (figures.empty())
    throw Error(a.program + ": has no outputs; required: the loss");
  sums.resize(figures.size());
}

void TrainingRun::takeRates() {
  const std::vector<runtime::TensorInfo> &inputs = session.plan().inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (auto known = about.value("rates", nlohmann::json::object());
        known.contains(inputs[i].name)) {
      if (inputs[i].bytes != sizeof(float) || !known[inputs[i].name].is_number())
        throw Error(arguments.program + ": the learning rate '" + inputs[i].name +
                    "': required: one f32 number, and its value in the program's manifest");
      rates[i] = arguments.lr.value_or(known[inputs[i].name].get<float>());
    }
  if (arguments.lr && rates.empty())
    throw Error(arguments.program + ": the learning rate is not an input of the step, so that --lr "
                                    "has no effect; compile the step with another rate");
}

/// Returns the settings that must be equal to those of the checkpoint, so that a resumed run is
/// bitwise identical.
Metadata TrainingRun::identity() const {
  return {{"dlc.train.samples", std::to_string(dataset.size())},
          {"dlc.train.data", hashDataset(dataset)},
          {"dlc.train.batch", std::to_string(batch * batches)},
          {"dlc.train.shuffle", arguments.noShuffle ? "no" : "yes"},
          {"dlc.train.seed", std::to_string(arguments.seed)}};
}

void TrainingRun::save() {
  HeartbeatThread heartbeats(ranks.world);
  Metadata metadata = identity();
  metadata["dlc.train.steps"] = std::to_string(done);
  runtime::saveWorldState(ranks.world, session.states(), session.plan(), arguments.checkpoint,
                          metadata);
}

void TrainingRun::resume() {
  const std::string &path = arguments.checkpoint;
  Metadata found = runtime::readSafetensors(path).metadata;
  if (!found.count("dlc.train.steps"))
    throw Error(path + ": contains no training progress; required for --resume: a checkpoint of "
                       "dlc train (--init loads parameters from any file)");
  for (const auto &[key, value] : identity())
    if (found[key] != value)
      throw Error(path + ": was made with another " + key.substr(strlen("dlc.train.")) + ": '" +
                  found[key] + "'; found now: '" + value +
                  "'; required: the same data and order, or --init " + path +
                  " to start again with its parameters");
  session.states().load(path, false, false);
  char *end = nullptr;
  done = std::strtoll(found["dlc.train.steps"].c_str(), &end, 10);
  if (done < 0 || *end || found["dlc.train.steps"].empty())
    throw Error(path + ": the number of finished steps is '" + found["dlc.train.steps"] +
                "'; required: a number");
}

void TrainingRun::start() {
  HeartbeatThread heartbeats(ranks.world);
  std::vector<std::string> settings{"steps " + std::to_string(total)};
  for (const auto &[key, value] : identity())
    settings.push_back(key + " " + value);
  for (const auto &[place, rate] : rates)
    settings.push_back("learning rate " + std::to_string(rate));
  ranks.agree(arguments.program, *program, session.plan(), settings);
  // Every rank reads the checkpoint if the state is sharded or split over ranks; otherwise only
  // rank 0 reads it.
  const bool all = runtime::hasShardedStates(session.plan());
  if (first || all || session.states().hasParts())
    takeState();
  if (all) {
    const std::vector<std::string> lines{"a checkpoint of step " + std::to_string(done)};
    ranks.world.agree("initial state", lines);
  }
  ranks.share(session.plan(), session.states(), done);
  loader.seek({uint64_t(done / perEpoch), done % perEpoch});
}

void TrainingRun::takeState() {
  if (first && !arguments.resume && !arguments.overwrite && !arguments.checkpoint.empty() &&
      std::filesystem::exists(arguments.checkpoint))
    throw Error(arguments.checkpoint + ": the checkpoint exists; add --resume to continue from it, "
                                       "or --overwrite to replace it");
  if (!arguments.init.empty()) {
    auto file = runtime::readSafetensors(arguments.init);
    for (const runtime::StateInfo &state : session.plan().states)
      if (state.parameter && !file.tensors.count(state.name))
        throw Error(arguments.init + ": does not contain parameter '" + state.name +
                    "'; required: all parameters of the step");
    session.states().load(arguments.init, true, true);
  }
  if (arguments.resume && std::filesystem::exists(arguments.checkpoint))
    resume();
}

void TrainingRun::failAt(const std::string &what) const {
  throw Error("step " + std::to_string(done + 1) + " (epoch " +
              std::to_string(done / perEpoch + 1) + ", batch " +
              std::to_string(done % perEpoch + 1) + " of " + std::to_string(perEpoch) +
              "): " + what);
}

bool TrainingRun::step() {
  ranks.world.setStep(done + 1);
  std::optional<data::Batch> taken = loader.next();
  if (!taken) // end of the epoch: continues with the next epoch
    taken = loader.next();
  std::vector<const void *> inputs;
  auto field = taken->fields.begin();
  for (size_t i = 0; i < session.plan().inputs.size(); ++i) {
    auto rate = rates.find(i);
    inputs.push_back(rate == rates.end() ? (field++)->raw() : &rate->second);
  }
  std::vector<void *> outputs;
  for (ScalarOutput &figure : figures)
    outputs.push_back(&figure.value);
  session.run(inputs, outputs);
  trace.stepDone();
  if (!std::isfinite(figures[0].value))
    failAt(
        "the " + figures[0].name + " is " + (std::isnan(figures[0].value) ? "NaN" : "infinite") +
        "; required: a finite number; reduce --lr, clip gradients (--clip-norm) or check the data" +
        (arguments.checkpoint.empty() ? "" : "; the last checkpoint remains valid"));
  ++done;
  losses.push_back(figures[0].value);
  for (size_t i = 0; i < figures.size(); ++i)
    sums[i] += figures[i].value;
  ++summed;
  return done < total;
}

std::string TrainingRun::figuresText(const std::vector<double> &values) const {
  std::string text;
  char number[64];
  for (size_t i = 0; i < figures.size(); ++i) {
    bool share = figures[i].name == "accuracy";
    std::snprintf(number, sizeof number, share ? "%s %.2f %%" : "%s %.6g", figures[i].name.c_str(),
                  share ? 100 * values[i] : values[i]);
    text += (i ? "  " : "") + std::string(number);
  }
  return text;
}

void TrainingRun::logStep() {
  if (!first)
    return;
  int64_t every = arguments.logEvery ? arguments.logEvery : arguments.json ? 1 : 0;
  int64_t epoch = (done - 1) / perEpoch + 1;
  if (progress.visible() && !arguments.json) {
    std::vector<double> means = sums;
    for (double &mean : means)
      mean /= double(summed);
    progress.show("epoch " + std::to_string(epoch), int((done - 1) % perEpoch + 1), int(perEpoch),
                  figuresText(means));
  }
  if (every == 0 || done % every != 0)
    return;
  if (arguments.json) {
    nlohmann::ordered_json line = {
        {"step", done}, {"epoch", epoch}, {"batch", (done - 1) % perEpoch + 1}};
    for (const ScalarOutput &figure : figures)
      line[figure.name] = figure.value;
    std::printf("%s\n", line.dump().c_str());
  } else {
    progress.clear();
    std::vector<double> values(figures.size());
    for (size_t i = 0; i < figures.size(); ++i)
      values[i] = figures[i].value;
    std::printf("step %lld  epoch %lld  %s\n", static_cast<long long>(done),
                static_cast<long long>(epoch), figuresText(values).c_str());
  }
  std::fflush(stdout);
}

void TrainingRun::logEpoch() {
  if (first && !arguments.json) {
    progress.clear();
    for (double &sum : sums)
      sum /= double(summed);
    std::printf("epoch %lld  %lld steps  %s\n", static_cast<long long>((done - 1) / perEpoch + 1),
                static_cast<long long>(summed), figuresText(sums).c_str());
    std::fflush(stdout);
  }
  sums.assign(sums.size(), 0);
  summed = 0;
}

int TrainingRun::run() {
  start();
  const int64_t before = done;
  bool more = done < total, saved = false, stopped = false;
  while (more && !stopped) {
    more = step();
    logStep();
    bool epochEnds = done % perEpoch == 0;
    if (epochEnds || !more)
      logEpoch();
    saved = false;
    if (!arguments.checkpoint.empty() &&
        (arguments.checkpointEvery ? done % arguments.checkpointEvery == 0 : epochEnds)) {
      save();
      saved = true;
    }
    stopped = ranks.stops(interrupted);
  }
  ranks.finish();
  trace.write();
  progress.clear();
  if (!arguments.checkpoint.empty() && !saved)
    save();
  if (first && !arguments.svg.empty()) {
    std::string text = drawLossCurve(losses, before + 1, figures[0].name + " of each step");
    runtime::AtomicFile file(arguments.svg);
    file.write(text.data(), text.size());
    file.commit();
  }
  if (first && before >= total && !arguments.json)
    std::printf("nothing to do: %lld of %lld steps are done\n", static_cast<long long>(before),
                static_cast<long long>(total));
  return stopped ? 130 : 0;
}

/// Installs signal handlers: the first signal finishes the current training step and saves the
/// state; a second signal terminates the process.
void installSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = int(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

} // namespace

int trainCommand(const TrainArguments &arguments) {
  // Joins the world before any thread exists, because joining may set the CPU affinity of threads.
  runtime::World &world = runtime::World::ofProcess();
  return runInWorld(world, [&] {
    TrainingRun training(arguments, world);
    installSignalHandlers();
    return training.run();
  });
}
} // namespace dlc::cli
