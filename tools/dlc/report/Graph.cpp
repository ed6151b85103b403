//===- Graph.cpp - graph of a program's commands and the values between them ------------------===//
#include "tools/dlc/report/Graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dlc::cli {
namespace {

struct GraphBuilder {
  CommandGraph &graph;
  const std::vector<runtime::CommandInfo> infos;
  std::map<uint32_t, size_t> producer;
  std::set<std::pair<size_t, size_t>> seen;
  const runtime::Plan &plan;
  /// Appends a node for each command of the plan. `described` is the manifest's list of the same
  /// commands, which has data that is not in the plan, such as kernel candidates.
  void visit(const std::vector<runtime::Command> &commands, const nlohmann::json &described,
             int depth);

  void touch(size_t node, int64_t buffer) {
    if (buffer < 0)
      return;
    runtime::MemorySpace space = plan.buffers[buffer].space;
    bool isOld = space == runtime::MemorySpace::State && !plan.buffers[buffer].fresh;
    if (space == runtime::MemorySpace::Input || space == runtime::MemorySpace::Constant || isOld)
      return;
    auto [at, isFirst] = producer.try_emplace(uint32_t(buffer), node);
    if (!isFirst && at->second != node && seen.insert({at->second, node}).second)
      graph.edges.push_back({at->second, node});
  }
};

void GraphBuilder::visit(const std::vector<runtime::Command> &commands,
                         const nlohmann::json &described, int depth) {
  for (const runtime::Command &command : commands) {
    static const nlohmann::json nothing = nlohmann::json::object();
    const nlohmann::json &text = described.is_array() && command.place < described.size()
                                     ? described[command.place]
                                     : nothing;
    size_t index = graph.nodes.size();
    const runtime::CommandInfo &info = infos[index];
    std::string title = !info.name.empty()             ? info.name
                        : !info.implementation.empty() ? info.implementation
                                                       : info.op;
    CommandNode node{title, info.op, info.implementation, info.loc, info.flops, info.bytes};
    node.device = info.device;
    node.depth = depth;
    node.candidates = text.value("candidates", nlohmann::json());
    if (auto estimate = text.find("estimate"); estimate != text.end() && estimate->is_number())
      node.estimate = estimate->get<double>();
    if (command.op == runtime::Op::Copy) {
      uint32_t from = plan.buffers[command.buffers[0]].device,
               to = plan.buffers[command.buffers[1]].device;
      if (from != to) {
        node.from = plan.devices[from].name;
        node.to = plan.devices[to].name;
      }
    }
    graph.nodes.push_back(std::move(node));
    for (uint32_t buffer : command.buffers)
      touch(index, buffer);
    for (int64_t buffer : {command.cond, command.trip, command.index, command.count})
      touch(index, buffer);
    visit(command.body,
          text.value(command.op == runtime::Op::If ? "then" : "body", nlohmann::json()), depth + 1);
    visit(command.orElse, text.value("else", nlohmann::json()), depth + 1);
  }
}

} // namespace

double CommandGraph::total() const {
  double sum = 0;
  for (const CommandNode &node : nodes)
    // Commands in a loop body are not added, because the time of the loop command includes them.
    sum += node.depth == 0 ? std::max(node.microseconds, 0.0) : 0;
  return sum;
}

CommandGraph buildGraph(const runtime::Session &session) {
  CommandGraph graph;
  graph.name = session.plan().name;
  for (const runtime::DeviceInfo &device : session.plan().devices)
    graph.devices.push_back(device.name);
  GraphBuilder walk{graph, session.commands(), {}, {}, session.plan()};
  walk.visit(session.plan().commands,
             session.program()->manifest.value("commands", nlohmann::json()), 0);
  return graph;
}

void setNodeTimes(CommandGraph &graph, const std::vector<runtime::TraceEvent> &events) {
  for (CommandNode &node : graph.nodes)
    node.microseconds = node.times = 0;
  for (const runtime::TraceEvent &event : events) {
    graph.nodes[event.command].microseconds += double(event.endNs - event.startNs) * 1e-3;
    graph.nodes[event.command].times += 1;
  }
}

std::string nodeColour(const CommandNode &node, double share) {
  // The hue is an FNV hash of the kernel's name up to its first digit, so that a kernel has the
  // same hue in every drawing.
  uint32_t hash = 2166136261u;
  for (char c : node.implementation.empty() ? node.op : node.implementation) {
    if (c >= '0' && c <= '9')
      break;
    hash = (hash ^ uint8_t(c)) * 16777619u;
  }
  int hue = int(hash % 360), saturation = 55,
      light = int(92 - 42 * std::sqrt(std::clamp(share * 4, 0.0, 1.0)));
  return "hsl(" + std::to_string(hue) + "," + std::to_string(saturation) + "%," +
         std::to_string(light) + "%)";
}

std::string deviceColour(const CommandGraph &graph, const std::string &device) {
  static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                        "#66ccee", "#aa3377", "#ee7733", "#777777"};
  if (graph.devices.size() < 2)
    return "";
  size_t at =
      size_t(std::find(graph.devices.begin(), graph.devices.end(), device) - graph.devices.begin());
  return colours[at % std::size(colours)];
}

std::string escapeHtml(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return result;
}

} // namespace dlc::cli
