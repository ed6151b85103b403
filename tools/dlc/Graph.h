//===- Graph.h - a program's commands and what flows between them -----------------------------===//
#ifndef DLC_TOOLS_DLC_GRAPH_H
#define DLC_TOOLS_DLC_GRAPH_H

#include "runtime/session/Session.h"

#include <string>
#include <vector>

namespace dlc::cli {

struct GraphNode {
  std::string title, op, implementation, location;
  double flops = 0, bytes = 0; ///< each time
  /// How often one run does it: the iterations of a loop around it. Known when measured.
  double times = 1;
  /// Microseconds of the quickest of the runs that were watched; negative when not measured.
  double microseconds = -1;
  /// What the compiler expects, each time; negative where it says nothing.
  double estimate = -1;
  /// Where it runs; of a copy between devices, also where it reads and writes.
  std::string device = "cpu", from = {}, to = {};
  /// How deep it stands inside branches and loops.
  int depth = 0;
  /// The candidates that the compiler chose among, when it says: name and figure.
  nlohmann::json candidates;
};

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;
  std::vector<std::pair<size_t, size_t>> edges;
  /// All devices that the program uses.
  std::vector<std::string> devices;
  double total() const;
  /// Of a whole run that nobody watches, and of one whose commands are timed; negative when not
  /// measured.
  double runMicroseconds = -1, watchedMicroseconds = -1;
};

/// Nodes in the order of Session::commands(). An edge goes from the first command that touches a
/// value's buffer (its producer: each value has a buffer of its own, wherever that lies) to the
/// others that touch it.
Graph graphOf(const runtime::Session &session);
/// Adds up the traced events of one run.
void setTimes(Graph &graph, const std::vector<runtime::TraceEvent> &events);

/// "#d5e8f0": one hue per implementation, stronger with the share of the time.
std::string colourOf(const GraphNode &node, double share);

std::string svgOf(const Graph &graph);
std::string htmlOf(const Graph &graph);
/// A colour for each device of a program that has several; empty where it has one.
std::string deviceColour(const Graph &graph, const std::string &device);
/// Text as it may stand in XML.
std::string escaped(const std::string &text);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_GRAPH_H
