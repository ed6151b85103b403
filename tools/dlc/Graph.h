//===- Graph.h - graph of a program's commands and the values between them --------------------===//
#ifndef DLC_TOOLS_DLC_GRAPH_H
#define DLC_TOOLS_DLC_GRAPH_H

#include "runtime/session/Session.h"

#include <string>
#include <vector>

namespace dlc::cli {

struct GraphNode {
  std::string title, op, implementation, location;
  double flops = 0, bytes = 0; ///< per execution
  /// Number of executions in one run: the iterations of the enclosing loop. Only set by
  /// measurement.
  double times = 1;
  /// Total time in the fastest traced run; negative if not measured.
  double microseconds = -1;
  /// The compiler's estimate in microseconds, per execution; negative if there is none.
  double estimate = -1;
  /// Device that runs the command. For a copy between devices, also the source and target device.
  std::string device = "cpu", from = {}, to = {};
  /// Nesting depth in branches and loops.
  int depth = 0;
  /// Kernel candidates that the compiler considered, as text with name and estimate; null if not
  /// recorded.
  nlohmann::json candidates;
};

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;
  std::vector<std::pair<size_t, size_t>> edges;
  /// Names of all devices that the program uses.
  std::vector<std::string> devices;
  double total() const;
  /// Time of a whole run without tracing, and of a run with tracing; negative if not measured.
  double runMicroseconds = -1, watchedMicroseconds = -1;
};

/// Builds the graph of a session's program. Nodes are in the order of Session::commands(). Edges
/// lead from the first command that uses a value's buffer (its producer) to the other commands that
/// use it. Each value has a buffer of its own, even if buffers share memory.
Graph graphOf(const runtime::Session &session);
/// Sums up the traced events of one run.
void setTimes(Graph &graph, const std::vector<runtime::TraceEvent> &events);

/// Returns a color such as "hsl(200,55%,80%)", with one hue per implementation. The color is darker
/// for a larger share of the time.
std::string colourOf(const GraphNode &node, double share);

std::string svgOf(const Graph &graph);
std::string htmlOf(const Graph &graph);
/// Returns a color for each device of a program that uses several devices; empty if it uses one.
std::string deviceColour(const Graph &graph, const std::string &device);
/// Escapes text for XML.
std::string escaped(const std::string &text);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_GRAPH_H
