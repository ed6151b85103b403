//===- Svg.cpp - the graph as an SVG drawing ------------------------------===//
#include "tools/dlc/Options.h"
#include "tools/dlc/report/Graph.h"

#include <algorithm>
#include <cstdio>

namespace dlc::cli {
namespace {

constexpr int boxWidth = 220, boxHeight = 46, gapX = 30, gapY = 34, margin = 20;

struct Box {
  int x, y;
};

/// Arranges the boxes of the commands in levels: each command is on a level below all commands from
/// which it reads.
std::vector<Box> layoutBoxes(const CommandGraph &graph, int &width, int &height) {
  std::vector<int> level(graph.nodes.size(), 0);
  // Edges point forward in the list of commands, so one pass over the sorted edges computes all
  // levels.
  std::vector<std::pair<size_t, size_t>> edges = graph.edges;
  std::sort(edges.begin(), edges.end(), [](auto &a, auto &b) { return a.second < b.second; });
  for (auto [from, to] : edges)
    level[to] = std::max(level[to], level[from] + 1);
  int levels = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1;
  std::vector<int> inLevel(levels, 0), place(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    place[i] = inLevel[level[i]]++;
  int widest = inLevel.empty() ? 1 : *std::max_element(inLevel.begin(), inLevel.end());
  width = 2 * margin + widest * (boxWidth + gapX);
  height = 2 * margin + levels * (boxHeight + gapY);
  std::vector<Box> boxes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    int row = inLevel[level[i]] * (boxWidth + gapX) - gapX;
    boxes.push_back(
        {(width - row) / 2 + place[i] * (boxWidth + gapX), margin + level[i] * (boxHeight + gapY)});
  }
  return boxes;
}

std::string truncateText(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 1) + "…";
}

} // namespace

std::string renderSvg(const CommandGraph &graph) {
  int width, height;
  std::vector<Box> boxes = layoutBoxes(graph, width, height);
  double total = std::max(graph.total(), 1e-9);
  char line[512];
  std::string svg;
  auto put = [&](const char *format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    svg += line;
  };
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n",
      width, height, width, height);
  svg += "<g fill=\"none\" stroke=\"#999\">\n";
  for (auto [from, to] : graph.edges) {
    int x0 = boxes[from].x + boxWidth / 2, y0 = boxes[from].y + boxHeight,
        x1 = boxes[to].x + boxWidth / 2, y1 = boxes[to].y;
    put("<path d=\"M%d %d C%d %d %d %d %d %d\"/>\n", x0, y0, x0, y0 + gapY, x1, y1 - gapY, x1, y1);
  }
  svg += "</g>\n";
  for (size_t i = 0; i < graph.devices.size() && graph.devices.size() > 1; ++i)
    put("<text x=\"%d\" y=\"14\" font-weight=\"bold\" fill=\"%s\">%s</text>\n",
        margin + int(i) * 70, deviceColour(graph, graph.devices[i]).c_str(),
        graph.devices[i].c_str());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CommandNode &node = graph.nodes[i];
    double share = std::max(node.microseconds, 0.0) / total;
    Box box = boxes[i];
    svg += "<g><title>" +
           escapeHtml("#" + std::to_string(i) + " " + node.op + " on " + node.device +
                      (node.to.empty() ? "" : ", " + node.from + " to " + node.to) + "\n" +
                      node.implementation + "\n" + node.location) +
           "</title>";
    std::string device = deviceColour(graph, node.device);
    put("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"%s\" stroke=\"%s\" "
        "stroke-width=\"%d\"/>",
        box.x, box.y, boxWidth, boxHeight, nodeColour(node, share).c_str(),
        device.empty() ? "#555" : device.c_str(), device.empty() ? 1 : 3);
    put("<text x=\"%d\" y=\"%d\">", box.x + 8, box.y + 15);
    svg += escapeHtml(truncateText(node.title, 34)) + "</text>";
    put("<text x=\"%d\" y=\"%d\" fill=\"#333\">", box.x + 8, box.y + 28);
    svg +=
        escapeHtml(truncateText(node.implementation.empty() ? node.op : node.implementation, 36)) +
        "</text>";
    std::string figures = bytesText(node.bytes);
    if (node.flops > 0)
      figures += ", " + flopsText(node.flops);
    if (node.microseconds >= 0) {
      std::snprintf(line, sizeof line, ", %.1f us (%.1f%%)", node.microseconds, 100 * share);
      figures += line;
    }
    put("<text x=\"%d\" y=\"%d\" fill=\"#333\">%s</text>", box.x + 8, box.y + 41, figures.c_str());
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

} // namespace dlc::cli
