//===- TuneText.cpp - tuning measurements as text -------------------------===//
#include "tools/dlc/commands/TuneText.h"

#include "tools/dlc/Options.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace dlc::cli {
namespace {

__attribute__((format(printf, 1, 2))) std::string formatted(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string namedValuesText(const NamedValues &facts) {
  std::string text;
  for (const auto &[name, value] : facts)
    text += (text.empty() ? "" : ", ") + name + " " + value;
  return text;
}

std::string errorText(const TunedCandidate &c) {
  return c.error < 0 ? "" : formatted("%.1e", c.error);
}

} // namespace

std::string measurementText(const TuningEntry &entry, const std::string &name) {
  size_t sessions = 0;
  for (const TunedCandidate &c : entry.candidates)
    sessions = std::max(sessions, c.sessions.size());
  std::string text = name + "  #" + entry.key.id() + (entry.certain ? "" : "  (order uncertain)");
  if (sessions > 1)
    text += "  " + std::to_string(sessions) + " sessions";
  text +=
      "\n  " + truncateStart(entry.key.operation.substr(0, entry.key.operation.find('\n')), 160);
  text += "\n  " + namedValuesText(entry.key.settings);
  text += "\n  " + entry.key.machineText() + "\n";
  text += formatted("  %-34s %11s %11s %11s %7s %6s  %-21s %8s\n", "candidate", "estimate us",
                    "min us", "median us", "spread", "runs", "slower (95 %)", "error");
  const TunedCandidate *choice = entry.choice();
  std::string checked;
  for (const TunedCandidate &c : entry.candidates) {
    text += formatted("%c %-34s %11.1f ", &c == choice ? '*' : ' ', c.implementation.c_str(),
                      c.estimate);
    if (!c.rejected.empty()) {
      text += "rejected: " + c.rejected + "\n";
      continue;
    }
    std::string slowdown =
        c.slowdownLow == 1 && c.slowdownHigh == 1
            ? "the best"
            : formatted("%.3f (%.3f-%.3f)", c.slowdown, c.slowdownLow, c.slowdownHigh);
    text += formatted("%11.1f %11.1f %6.1f%% %6d  %-21s %8s\n", c.min, c.median, 100 * c.spread,
                      c.runs, slowdown.c_str(), errorText(c).c_str());
    if (c.disturbed)
      text += formatted("  %-34s %d timings during other work were repeated\n", "", c.disturbed);
    checked = c.checked;
  }
  if (!checked.empty())
    text += "  error: the largest difference from " + checked + ", over the largest value\n";
  return text;
}

} // namespace dlc::cli
