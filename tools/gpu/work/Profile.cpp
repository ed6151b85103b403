//===- Profile.cpp - profile of a run relative to the device's peak performance ---------------===//
#include "tools/gpu/work/Commands.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

namespace dlc::gpu {
namespace {

constexpr size_t kSlowest = 40, kKernels = 60;
/// Maximum number of characters of a command's name and source location in the results.
constexpr size_t kText = 90;

std::string truncateStart(const std::string &text) {
  return text.size() <= kText ? text : "..." + text.substr(text.size() - kText);
}

struct TimedCommand {
  runtime::CommandInfo info;
  Json candidates;
  std::vector<double> us; ///< time in microseconds in each traced run
  double times = 0;       ///< number of executions in one run
};

/// Returns true if the command may be compute bound (matmuls and similar operations). Other
/// commands are memory bound.
bool mayBeComputeBound(const runtime::CommandInfo &info) {
  if (info.op == "library")
    return true;
  for (const char *word : {"matmul", "conv", "attention", "lstm", "gru"})
    if (info.name.find(word) != std::string::npos ||
        info.implementation.find(word) != std::string::npos)
      return true;
  return false;
}

/// Appends the kernel candidates of the manifest's commands to `to`, in the order of
/// Session::commands().
void collectCandidates(const nlohmann::json &commands, std::vector<Json> &to) {
  if (!commands.is_array())
    return;
  for (const nlohmann::json &command : commands) {
    to.push_back(Json::parse(command.value("candidates", nlohmann::json()).dump()));
    for (const char *inner : {"body", "then", "else"})
      if (command.contains(inner))
        collectCandidates(command[inner], to);
  }
}

std::vector<TimedCommand> profileCommands(runtime::Session &session, ProgramBench &bench,
                                          int rounds) {
  std::vector<TimedCommand> commands;
  for (const runtime::CommandInfo &info : session.commands())
    commands.push_back({info, nullptr, {}, 0});
  std::vector<Json> candidates;
  collectCandidates(session.program()->manifest.value("commands", nlohmann::json()), candidates);
  if (candidates.size() == commands.size())
    for (size_t i = 0; i < commands.size(); ++i)
      commands[i].candidates = candidates[i];
  for (int round = 0; round < rounds; ++round) {
    session.setTrace(true);
    bench.run();
    session.setTrace(false);
    std::map<uint32_t, std::pair<double, int>> sums;
    for (const runtime::TraceEvent &event : session.takeTrace()) {
      sums[event.command].first += double(event.endNs - event.startNs) * 1e-3;
      ++sums[event.command].second;
    }
    for (auto &[number, sum] : sums) {
      commands[number].us.push_back(sum.first);
      commands[number].times = sum.second;
    }
  }
  return commands;
}

Json jsonOf(const TimedCommand &command, const MeasurementTask &task, const PeakPerformance &peaks,
            double whole) {
  const runtime::CommandInfo &info = command.info;
  double us = median(command.us), bytes = info.bytes * command.times,
         flops = info.flops * command.times;
  double moving = peaks.gigabytes > 0 ? bytes / peaks.gigabytes * 1e-3 : 0, computing = 0;
  if (double peak = peaks.of(task.precision); peak > 0 && mayBeComputeBound(info))
    computing = flops / peak * 1e-6;
  Json json = {{"kernel", info.implementation},
               {"name", truncateStart(info.name)},
               {"op", info.op},
               {"device", info.device},
               {"where", truncateStart(info.loc)},
               {"us", us},
               {"share", whole > 0 ? us / whole : 0},
               {"times", command.times},
               {"bytes", bytes},
               {"flops", flops},
               {"limit", computing > moving ? "arithmetic" : "memory"}};
  if (us > 0 && peaks.gigabytes > 0)
    json["fraction"] = std::max(moving, computing) / us;
  if (us > 0) {
    json["gb_s"] = bytes / us * 1e-3;
    json["tflops"] = flops / us * 1e-6;
  }
  if (!command.candidates.is_null())
    json["candidates"] = command.candidates;
  return json;
}

/// A program for profiling, and a function that runs it through the public interface, as a user
/// does.
struct CompiledTask {
  std::unique_ptr<ProgramBench> bench;
  std::function<void()> asUsed;
  double compiled = 0;
};

std::function<void()> asUsed(const PreparedNetwork &prepared, const MeasurementTask &task,
                             Step step) {
  std::vector<Tensor> batch;
  for (const Tensor &tensor : prepared.batch)
    batch.push_back(tensor.to(task.device));
  return [step, batch]() mutable { step.run(batch); };
}

std::function<void()> asUsed(const PreparedNetwork &prepared, const MeasurementTask &task,
                             const Model &model) {
  std::map<std::string, Tensor> given = {
      {prepared.inputs[0].name, prepared.batch[0].to(task.device)}};
  return [model, given] { model.run(given); };
}

CompiledTask compileTask(const MeasurementTask &task, const std::string &folder) {
  PreparedNetwork prepared =
      prepareNetwork(task, task.trains() ? Initialization::Usual : Initialization::Lively);
  CompiledTask made;
  if (task.trains()) {
    Step step = compileTrainingStep(task, prepared);
    made.compiled = step.prepare();
    made.bench = benchOf(step, prepared, task, folder);
    made.asUsed = asUsed(prepared, task, step);
  } else {
    Model model = compileInferenceModel(task, prepared);
    made.compiled = model.prepare();
    made.bench = benchOf(model, prepared, task, folder);
    made.asUsed = asUsed(prepared, task, model);
  }
  return made;
}

/// Sums the times of the commands with the same kernel, slowest kernel first.
Json sumTimesByKernel(const std::vector<Json> &commands) {
  std::map<std::string, Json> sums;
  for (const Json &command : commands) {
    Json &sum =
        sums.try_emplace(
                command.at("name"),
                Json{{"name", command.at("name")}, {"times", 0}, {"us", 0.0}, {"at_limit_us", 0.0}})
            .first->second;
    double us = command.at("us");
    sum["times"] = sum["times"].get<double>() + command.value("times", 1.0);
    sum["us"] = sum["us"].get<double>() + us;
    sum["at_limit_us"] =
        sum["at_limit_us"].get<double>() + us * std::min(command.value("fraction", 0.0), 1.0);
  }
  std::vector<Json> list;
  for (auto &[name, sum] : sums)
    list.push_back(std::move(sum));
  std::stable_sort(list.begin(), list.end(), [](const Json &a, const Json &b) {
    return a["us"].get<double>() > b["us"].get<double>();
  });
  if (list.size() > kKernels)
    list.resize(kKernels);
  return list;
}

/// Runs `run` repeatedly and returns the time of each round in microseconds, after `warm` warm-up
/// runs.
std::vector<double> measureRounds(const std::function<void()> &run, int warm, int rounds) {
  for (int i = 0; i < warm; ++i)
    run();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    double start = now();
    run();
    times.push_back((now() - start) * 1e6);
  }
  return times;
}

} // namespace

Json tuneTask(const MeasurementTask &given) {
  MeasurementTask task = given;
  task.tune = true;
  PreparedNetwork prepared =
      prepareNetwork(task, task.trains() ? Initialization::Usual : Initialization::Lively);
  double seconds = task.trains() ? compileTrainingStep(task, prepared).prepare()
                                 : compileInferenceModel(task, prepared).prepare();
  return {{"tuned_s", seconds}};
}

Json profileTask(const MeasurementTask &task, const PeakPerformance &peaks, int rounds,
                 const std::string &folder) {
  CompiledTask made = compileTask(task, folder);
  ProgramBench *bench = made.bench.get();
  runtime::Session &session = bench->session();
  // Three warm-up runs: the first loads code, and the second is captured as a GPU graph.
  std::vector<double> runs = measureRounds([&] { bench->run(); }, 3, 2 * rounds);
  std::vector<double> used = measureRounds(made.asUsed, 2, rounds);
  std::vector<TimedCommand> commands = profileCommands(session, *bench, rounds);
  double whole = 0, floors = 0;
  std::map<std::string, double> kinds;
  std::vector<Json> list;
  for (const TimedCommand &command : commands)
    if (command.info.op != "loop" && command.info.op != "if" && !command.us.empty())
      whole += median(command.us);
  for (const TimedCommand &command : commands) {
    if (command.info.op == "loop" || command.info.op == "if" || command.us.empty())
      continue;
    list.push_back(jsonOf(command, task, peaks, whole));
    double us = list.back()["us"];
    kinds[command.info.op == "library" ? command.info.implementation : command.info.op] += us;
    floors += std::min(list.back().value("fraction", 0.0), 1.0) * us;
  }
  std::stable_sort(list.begin(), list.end(), [](const Json &a, const Json &b) {
    return a["us"].get<double>() > b["us"].get<double>();
  });
  Json result = {{"compile_s", made.compiled},
                 {"run_us", median(runs)},
                 {"as_used_us", median(used)},
                 {"least_us", *std::min_element(runs.begin(), runs.end())},
                 {"in_commands_us", whole},
                 {"count", list.size()},
                 {"kinds_us", kinds},
                 {"graph_launches", session.graphLaunches()},
                 {"arena_bytes", session.memory().arenaBytes},
                 {"state_bytes", session.memory().stateBytes}};
  if (whole > 0 && peaks.gigabytes > 0)
    result["fraction"] = floors / whole;
  result["kernels"] = sumTimesByKernel(list);
  if (list.size() > kSlowest) {
    result["left_out"] = list.size() - kSlowest;
    list.resize(kSlowest);
  }
  result["slowest"] = list;
  return result;
}

void serveTimingRequests(const MeasurementTask &task) {
  double start = now();
  PreparedNetwork prepared =
      prepareNetwork(task, task.trains() ? Initialization::Usual : Initialization::Lively);
  std::function<void()> run = task.trains()
                                  ? asUsed(prepared, task, compileTrainingStep(task, prepared))
                                  : asUsed(prepared, task, compileInferenceModel(task, prepared));
  run();
  std::cout << Json{{"ready_s", now() - start}} << "\n" << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    double seconds = Json::parse(line).at("seconds"), sum = 0;
    std::vector<double> times;
    run(); // warm-up: the compared process has evicted this process's data from the caches
    while (sum < seconds || times.size() < 2) {
      double before = now();
      run();
      times.push_back(now() - before);
      sum += times.back();
    }
    std::cout << Json{{"times", times}} << "\n" << std::flush;
  }
}

} // namespace dlc::gpu
