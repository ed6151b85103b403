//===- Graph.h - graph of a program's commands and the values between them --------------------===//
#ifndef DLC_TOOLS_DLC_REPORT_GRAPH_H
#define DLC_TOOLS_DLC_REPORT_GRAPH_H

#include "runtime/session/Session.h"

#include <string>
#include <vector>

namespace dlc::cli {

struct CommandNode {
  std::string title, op, implementation, location;
  double flops = 0, bytes = 0; ///< floating-point operations and bytes per execution
  /// Number of executions in one run, which is more than 1 in a loop body. Set only if the program
  /// was measured.
  double times = 1;
  /// Total time of the command's executions in the fastest traced run, or a negative number if not
  /// measured.
  double microseconds = -1;
  /// Time per execution in microseconds that the compiler estimated, or a negative number if there
  /// is no estimate.
  double estimate = -1;
  /// Device that runs the command (`device`), and source (`from`) and target (`to`) of a copy
  /// between devices.
  std::string device = "cpu", from = {}, to = {};
  /// Nesting depth of the command in branches and loops.
  int depth = 0;
  /// Kernel candidates that the compiler considered, each as text with name and estimate, or null
  /// if not recorded.
  nlohmann::json candidates;
};

struct CommandGraph {
  std::string name;
  std::vector<CommandNode> nodes;
  std::vector<std::pair<size_t, size_t>> edges;
  /// Names of all devices that the program uses.
  std::vector<std::string> devices;
  double total() const;
  /// Time of a whole run without tracing and with tracing, or negative numbers if not measured.
  double runMicroseconds = -1, watchedMicroseconds = -1;
};

/// Builds the graph of a session's program. Nodes are in the order of Session::commands(). Edges
/// lead from the first command that uses a value's buffer (its producer) to the other commands that
/// use the buffer. Each value has a buffer of its own, even if buffers share memory.
CommandGraph buildGraph(const runtime::Session &session);
/// Sets the times of the graph's nodes to the sums of the traced events of one run.
void setNodeTimes(CommandGraph &graph, const std::vector<runtime::TraceEvent> &events);

/// Returns a fill color such as "hsl(200,55%,80%)": one hue per kernel, and darker for a larger
/// `share` of the time.
std::string nodeColour(const CommandNode &node, double share);

std::string renderSvg(const CommandGraph &graph);
std::string renderHtml(const CommandGraph &graph);
/// Returns a color for a device, or an empty string if the program uses only one device.
std::string deviceColour(const CommandGraph &graph, const std::string &device);
/// Escapes XML's special characters in a text.
std::string escapeHtml(const std::string &text);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_REPORT_GRAPH_H
