//===- Html.cpp - HTML page with the graph and a table of the commands ----===//
#include "tools/dlc/Options.h"
#include "tools/dlc/report/Graph.h"

#include <algorithm>
#include <cstdio>

namespace dlc::cli {

std::string renderHtml(const CommandGraph &graph) {
  std::string title = escapeHtml(graph.name.empty() ? "program" : graph.name);
  std::string html =
      "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>" + title +
      "</title><style>\n"
      "body{font:13px sans-serif;margin:1em}main{display:flex;gap:2em;align-items:flex-start}\n"
      "figure{margin:0;overflow:auto;max-height:90vh;flex:1}section{overflow:auto;max-height:90vh;"
      "flex:1}\n"
      "table{border-collapse:collapse}td,th{padding:2px 8px;border-bottom:1px solid "
      "#ddd;text-align:left}\n"
      "td.n{text-align:right;font-variant-numeric:tabular-nums}th{position:sticky;top:0;background:"
      "#fff;cursor:pointer}\n"
      "</style></head><body><h1>" +
      title + "</h1><main><figure>\n" + renderSvg(graph) +
      "</figure><section><table "
      "id=\"t\"><thead><tr><th>#</th><th>device</th><th>what</th><th>kernel</th><th>us</th><th>%</"
      "th>"
      "<th>bytes</th><th>FLOP</th><th>source location</th></tr></thead><tbody>\n";
  double total = std::max(graph.total(), 1e-9);
  char text[64];
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CommandNode &node = graph.nodes[i];
    double share = std::max(node.microseconds, 0.0) / total;
    auto number = [&](const char *format, double value) {
      std::snprintf(text, sizeof text, format, value);
      html += std::string("<td class=\"n\">") + text + "</td>";
    };
    html += "<tr style=\"background:" + nodeColour(node, share) + "\">";
    number("%.0f", double(i));
    std::string colour = deviceColour(graph, node.device);
    html += "<td" + (colour.empty() ? "" : " style=\"border-left:6px solid " + colour + "\"") +
            ">" + (node.to.empty() ? node.device : node.from + " → " + node.to) + "</td>";
    html += "<td>" + escapeHtml(node.title) + "</td><td>" +
            escapeHtml(node.implementation.empty() ? node.op : node.implementation) + "</td>";
    if (node.microseconds >= 0) {
      number("%.1f", node.microseconds);
      number("%.1f", 100 * share);
    } else {
      html += "<td></td><td></td>";
    }
    number("%.0f", node.bytes);
    number("%.0f", node.flops);
    html += "<td>" + escapeHtml(node.location) + "</td></tr>\n";
  }
  html += "</tbody></table></section></main><script>\n"
          "document.querySelectorAll('th').forEach((h,k)=>h.onclick=()=>{const "
          "b=document.querySelector('#t tbody');\n"
          "const v=r=>r.children[k].textContent,n=k<1||(k>3&&k<8);h.up=!h.up;\n"
          "[...b.rows].sort((p,q)=>(n?v(p)-v(q):v(p).localeCompare(v(q)))*(h.up?-1:1)).forEach(r=>"
          "b.append(r))})\n"
          "</script></body></html>\n";
  return html;
}

} // namespace dlc::cli
