//===- Placement.cpp - reports the devices of operations and the transfers between them -------===//
#include "tools/dlc/report/Placement.h"

#include "passes/place/Cost.h"
#include "tools/dlc/Options.h"

#include <algorithm>
#include <cstdio>

namespace dlc::cli {

std::vector<DeviceTransfer> collectTransfers(const CommandGraph &graph) {
  std::vector<DeviceTransfer> edges;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CommandNode &node = graph.nodes[i];
    if (!node.from.empty())
      edges.push_back({i, node.location, node.from, node.to, node.bytes,
                       PlacementCostModel::transfer(node.bytes, node.from, node.to),
                       node.microseconds});
  }
  return edges;
}

nlohmann::ordered_json placementJson(const runtime::Session &session, const CommandGraph &graph) {
  nlohmann::ordered_json edges = nlohmann::json::array();
  for (const DeviceTransfer &edge : collectTransfers(graph)) {
    nlohmann::ordered_json one = {{"command", edge.command}, {"value", edge.value},
                                  {"from", edge.from},       {"to", edge.to},
                                  {"bytes", edge.bytes},     {"estimated_us", edge.estimated}};
    if (edge.measured >= 0)
      one["measured_us"] = edge.measured;
    edges.push_back(one);
  }
  return {{"operations", session.program()->manifest.value("placement", nlohmann::json::array())},
          {"edges", edges}};
}

void printPlacement(const runtime::Session &session, const CommandGraph &graph) {
  nlohmann::json operations =
      session.program()->manifest.value("placement", nlohmann::json::array());
  if (operations.empty()) {
    std::printf("one device: %s\n", session.plan().devices.front().name.c_str());
    return;
  }
  size_t widest = 9;
  for (const nlohmann::json &operation : operations)
    widest = std::max(widest, std::min<size_t>(40, operation.value("name", "").size()));
  std::printf("%-8s %-12s %-*s  %s\n", "device", "op", int(widest), "operation", "reason");
  for (const nlohmann::json &operation : operations)
    std::printf("%-8s %-12s %-*s  %s\n", operation.value("device", "").c_str(),
                operation.value("op", "").c_str(), int(widest), operation.value("name", "").c_str(),
                operation.value("why", "").c_str());
  std::vector<DeviceTransfer> edges = collectTransfers(graph);
  std::printf("\n%4s  %-20s %10s %10s %10s  %s\n", "#", "between", "bytes", "est. us", "us",
              "value");
  double bytes = 0;
  for (const DeviceTransfer &edge : edges) {
    bytes += edge.bytes;
    std::printf("%4zu  %-20s %10s %10.1f ", edge.command, (edge.from + " -> " + edge.to).c_str(),
                bytesText(edge.bytes).c_str(), edge.estimated);
    if (edge.measured >= 0)
      std::printf("%10.1f", edge.measured);
    else
      std::printf("%10s", "");
    std::printf("  %s\n", edge.value.c_str());
  }
  std::printf("\n%zu transfers, %s between devices\n", edges.size(), bytesText(bytes).c_str());
}

} // namespace dlc::cli
