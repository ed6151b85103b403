//===- InspectCommand.cpp - dlc inspect: reports and profiles a program ---===//
#include "tools/dlc/Inputs.h"
#include "tools/dlc/Options.h"
#include "tools/dlc/report/Graph.h"
#include "tools/dlc/report/Placement.h"
#include "tools/dlc/report/Shared.h"
#include "tools/dlc/train/TrainWorld.h"

#include "dlc/Error.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/program/AtomicFile.h"
#include "runtime/program/Checker.h"
#include "runtime/session/Trace.h"
#include "runtime/session/collectives/Collectives.h"
#include "tools/compiler/Programs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace dlc::cli {
namespace {

/// Measures the times of the graph's commands in several runs. Returns the trace of the fastest
/// run.
std::vector<runtime::TraceEvent> measure(runtime::Session &session, const Values &values,
                                         const InspectArguments &arguments, CommandGraph &graph) {
  std::vector<runtime::NpyArray> arrays = arraysFor(session, values, arguments.seed);
  std::vector<const void *> inputs;
  for (const runtime::NpyArray &array : arrays)
    inputs.push_back(array.data.data);
  std::vector<std::vector<char>> results;
  std::vector<void *> outputs;
  for (const runtime::TensorInfo &info : session.plan().outputs) {
    results.emplace_back(info.bytes + 64);
    void *data = results.back().data();
    size_t space = results.back().size();
    outputs.push_back(std::align(64, info.bytes, data, space));
  }
  session.run(inputs, outputs);
  auto secondsOfRun = [&] {
    auto start = std::chrono::steady_clock::now();
    session.run(inputs, outputs);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<runtime::TraceEvent> best;
  // All times are those of the fastest run, because delays by other processes would be attributed
  // to single commands.
  double watched = INFINITY, unwatched = INFINITY;
  for (int i = 0; i < arguments.repeat; ++i) {
    session.setTrace(true);
    double seconds = secondsOfRun();
    session.setTrace(false);
    std::vector<runtime::TraceEvent> events = session.takeTrace();
    if (seconds < watched) {
      setNodeTimes(graph, events);
      best = std::move(events);
      watched = seconds;
    }
    unwatched = std::min(unwatched, secondsOfRun());
  }
  graph.runMicroseconds = unwatched * 1e6;
  graph.watchedMicroseconds = watched * 1e6;
  return best;
}

void writeFile(const std::string &path, const std::string &text) {
  runtime::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

nlohmann::ordered_json jsonOf(const runtime::Session &session, const CommandGraph &graph) {
  const runtime::Plan &plan = session.plan();
  runtime::MemoryFigures memory = session.memory();
  auto values = [](const std::vector<runtime::TensorInfo> &infos) {
    nlohmann::ordered_json list = nlohmann::json::array();
    for (const runtime::TensorInfo &v : infos) {
      list.push_back(
          {{"name", v.name}, {"dtype", std::string(dtypeName(v.dtype))}, {"shape", v.shape}});
      if (v.counter >= 0)
        list.back()["counted"] = {{"dimension", v.countedDim}, {"by", v.counter}};
    }
    return list;
  };
  nlohmann::ordered_json states = nlohmann::json::array();
  for (const runtime::StateInfo &v : plan.states)
    states.push_back({{"name", v.name},
                      {"dtype", std::string(dtypeName(v.dtype))},
                      {"shape", v.shape},
                      {"parameter", v.parameter},
                      {"shared_by", v.sharers}});
  nlohmann::ordered_json commands = nlohmann::json::array();
  for (const CommandNode &node : graph.nodes) {
    nlohmann::ordered_json command = {
        {"op", node.op},         {"name", node.title},   {"implementation", node.implementation},
        {"device", node.device}, {"loc", node.location}, {"flops", node.flops},
        {"bytes", node.bytes},   {"depth", node.depth}};
    if (node.microseconds >= 0) {
      command["us"] = node.microseconds;
      command["times"] = node.times;
    }
    if (!node.candidates.is_null())
      command["candidates"] = node.candidates;
    commands.push_back(command);
  }
  nlohmann::ordered_json edges = nlohmann::json::array();
  for (auto [from, to] : graph.edges)
    edges.push_back({from, to});
  nlohmann::ordered_json about = {{"name", plan.name},
                                  {"producer", plan.producer},
                                  {"features", plan.features},
                                  {"threads", session.threads()},
                                  {"arena_bytes", memory.arenaBytes},
                                  {"scratch_bytes", memory.scratchBytes},
                                  {"constant_bytes", memory.constantBytes},
                                  {"code_bytes", memory.codeBytes},
                                  {"state_bytes", memory.stateBytes},
                                  {"inputs", values(plan.inputs)},
                                  {"outputs", values(plan.outputs)},
                                  {"state", states},
                                  {"commands", commands},
                                  {"edges", edges}};
  if (graph.runMicroseconds >= 0) {
    about["run_us"] = graph.runMicroseconds;
    about["watched_us"] = graph.watchedMicroseconds;
  }
  return about;
}

void printValues(const char *title, const std::vector<runtime::TensorInfo> &infos) {
  for (const runtime::TensorInfo &v : infos)
    std::printf(
        "%-8s %s  %s %s%s%s\n", title, v.name.c_str(), std::string(dtypeName(v.dtype)).c_str(),
        shapeText(v.shape).c_str(), v.value >= 0 ? "  (fixed at compile time)" : "",
        v.counter >= 0
            ? ("  (maximum; dimension " + std::to_string(v.countedDim) + " is known after the run)")
                  .c_str()
            : "");
}

std::string stateSharesText(const runtime::StateInfo &info) {
  return "  (one of " + std::to_string(info.sharers) + " shares of " +
         std::to_string(info.sharedTensors.size()) + " tensors)";
}

void printStates(const std::vector<runtime::StateInfo> &states) {
  // Maximum number of states in the text output: optimizers have hundreds of states, and --json
  // lists all of them.
  constexpr size_t kShown = 8;
  double bytes = 0;
  size_t parameters = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const runtime::StateInfo &v = states[i];
    bytes += double(v.bytes);
    parameters += v.parameter;
    if (i < kShown || states.size() == kShown + 1)
      std::printf("%-8s %s  %s %s%s\n", "state", v.name.c_str(),
                  std::string(dtypeName(v.dtype)).c_str(), shapeText(v.shape).c_str(),
                  v.part.ranks > 1 ? v.parameter ? "  (a part of a parameter)" : "  (a part)"
                  : v.parameter    ? "  (a parameter)"
                  : v.sharers > 0  ? stateSharesText(v).c_str()
                                   : "");
  }
  if (states.size() > kShown + 1)
    std::printf("%-8s ... and %zu more\n", "state", states.size() - kShown);
  if (!states.empty())
    std::printf("%-8s %zu tensors, %zu of them parameters, %s between runs\n", "state",
                states.size(), parameters, bytesText(bytes).c_str());
}

/// Returns the number of executions of a command as text, such as "32 times". It is 0 in a branch
/// that was not taken.
std::string timesText(double times) { return std::to_string(int64_t(times)) + " times"; }

/// Labels the time in a candidate's text: "generated 1.2us" becomes "generated: estimate 1.2us".
std::string labelEstimate(const std::string &candidate) {
  const size_t space = candidate.rfind(' ', candidate.find(", "));
  if (space == std::string::npos)
    return candidate;
  return candidate.substr(0, space) + ": estimate" + candidate.substr(space);
}

void printProgram(const runtime::Session &session, const CommandGraph &graph,
                  const CollectiveReport &shared) {
  const runtime::Plan &plan = session.plan();
  runtime::MemoryFigures memory = session.memory();
  std::printf("program  %s, made by %s for", plan.name.c_str(), plan.producer.c_str());
  // The text output lists only the CPU features that distinguish machines; --json lists all
  // features.
  runtime::CpuFeatures features;
  for (const std::string &name : plan.features)
    features.add(name);
  for (std::string_view name : features.mainNames())
    std::printf(" %s", std::string(name).c_str());
  std::printf("; %d threads\n", session.threads());
  printValues("input", plan.inputs);
  printValues("output", plan.outputs);
  printStates(plan.states);
  std::printf(
      "memory   arena %s, scratch %s, constants %s, code %s\n",
      bytesText(double(memory.arenaBytes)).c_str(), bytesText(double(memory.scratchBytes)).c_str(),
      bytesText(double(memory.constantBytes)).c_str(), bytesText(double(memory.codeBytes)).c_str());
  printCollectives(shared);
  bool timed = !graph.nodes.empty() && graph.nodes[0].microseconds >= 0;
  double total = std::max(graph.total(), 1e-9), bytes = 0, flops = 0;
  std::printf("\n%4s  %-6s %-8s %10s %11s%s  %s\n", "#", "device", "op", "bytes", "work",
              timed ? "         us     %" : "", "kernel  (operations, source location)");
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CommandNode &node = graph.nodes[i];
    bytes += node.bytes * node.times;
    flops += node.flops * node.times;
    std::printf("%4zu  %-6s %-8s %10s %11s", i, node.device.c_str(), node.op.c_str(),
                bytesText(node.bytes).c_str(), node.flops > 0 ? flopsText(node.flops).c_str() : "");
    if (timed)
      std::printf(" %10.1f %5.1f", node.microseconds, 100 * node.microseconds / total);
    std::printf("  %*s%s", 2 * node.depth, "", node.implementation.c_str());
    std::string what = node.title == node.implementation ? "" : node.title;
    if (node.depth > 0 && timed)
      what = timesText(node.times) + (what.empty() ? "" : ", ") + what;
    if (!node.location.empty())
      what += (what.empty() ? "" : ", ") + truncateStart(node.location, 80);
    if (!what.empty())
      std::printf("  (%s)", what.c_str());
    std::printf("\n");
    // A single candidate is printed only if its text has more than its estimate, such as a
    // measurement.
    auto saysMore = [](const nlohmann::json &c) {
      return c.is_string() && c.get<std::string>().find(", ") != std::string::npos;
    };
    if (node.candidates.is_array() && !node.candidates.empty() &&
        (node.candidates.size() > 1 || saysMore(node.candidates[0])))
      for (const nlohmann::json &candidate : node.candidates)
        std::printf("%*s- %s\n", 44 + (timed ? 17 : 0) + 2 * node.depth, "",
                    candidate.is_string() ? labelEstimate(candidate.get<std::string>()).c_str()
                                          : candidate.dump().c_str());
  }
  std::printf("\n%zu commands, %s moved, %s", graph.nodes.size(), bytesText(bytes).c_str(),
              flopsText(flops).c_str());
  if (timed)
    std::printf(", %.3f ms a run, %.3f of them in commands", graph.runMicroseconds * 1e-3,
                total * 1e-3);
  std::printf("\n");
}

int inspectProgram(const InspectArguments &given, runtime::World &process) {
  InspectArguments arguments = given;
  // --placement reports measured times of transfers, so the program must be run.
  if (arguments.placement && arguments.repeat == 0)
    arguments.repeat = 5;
  if (!arguments.ranks.empty() && arguments.link.empty() && process.size() == 1)
    throw Error("--ranks: predicting the time of a step requires the link between ranks; add "
                "--link, or start processes with mpirun to measure it");
  if (!arguments.link.empty() && process.size() > 1)
    throw Error(
        "--link: " + std::to_string(process.size()) +
        " processes were started, which measure their link; start one process, or remove --link");
  Source source(arguments.model);
  Values values = readInputs(arguments.inputs, source);
  Shapes shapes = completeShapesWithOnes(source, getInputShapes(arguments, values));
  std::set<std::string> bound;
  std::shared_ptr<runtime::Program> program =
      compileSource(source, shapes, values, arguments.options, bound);
  // Simulated world, in which the other ranks contribute zeros: a program for several ranks can be
  // inspected in one process.
  std::unique_ptr<runtime::World> waiting;
  const int ranks = runtime::findRankCount(runtime::checkProgram(*program));
  if (!arguments.link.empty())
    waiting = createSimulatedWorld(parseLink("--link", arguments.link), std::max(ranks, 2));
  else if (process.size() == 1 && ranks > 1)
    waiting = runtime::createSimulatedWorld({.size = ranks});
  runtime::World &world = waiting ? *waiting : process;
  runtime::Session session(program, {.threads = arguments.options.threads, .world = &world});
  CommandGraph graph = buildGraph(session);
  std::optional<runtime::Timeline> timeline;
  if (arguments.repeat > 0) {
    std::vector<runtime::TraceEvent> events = measure(session, values, arguments, graph);
    timeline = buildTimeline(session.plan(), events);
    if (!arguments.trace.empty() && world.rank() == 0)
      runtime::writeTraceFile(arguments.trace,
                              traceRows(session.plan(), session.commands(), events,
                                        {.originNs = runtime::findFirstStart(events)}));
  }
  CollectiveReport shared =
      reportOf(session, graph, arguments, world, timeline ? &*timeline : nullptr);
  // Only rank 0 writes the report.
  if (world.rank() != 0)
    return 0;
  if (!arguments.svg.empty())
    writeFile(arguments.svg, renderSvg(graph));
  if (!arguments.html.empty())
    writeFile(arguments.html, renderHtml(graph));
  if (arguments.json) {
    nlohmann::ordered_json about = jsonOf(session, graph);
    if (!shared.members.empty())
      about["shared"] = jsonOf(shared);
    if (arguments.placement)
      about["placement"] = placementJson(session, graph);
    if (arguments.layouts)
      about["layouts"] = program->manifest.value("layouts", nlohmann::json::array());
    std::printf("%s\n", about.dump(2).c_str());
  } else if (arguments.placement)
    printPlacement(session, graph);
  else if (arguments.layouts)
    for (const nlohmann::json &line : program->manifest.value("layouts", nlohmann::json::array()))
      std::printf("%s\n", line.is_string() ? line.get<std::string>().c_str() : "");
  else if (arguments.svg.empty() && arguments.html.empty())
    printProgram(session, graph, shared);
  return 0;
}

} // namespace

int inspectCommand(const InspectArguments &arguments) {
  // Joins the world before any thread exists, because joining may set the CPU affinity of threads.
  runtime::World &world = runtime::World::ofProcess();
  return runInWorld(world, [&] { return inspectProgram(arguments, world); });
}

} // namespace dlc::cli
