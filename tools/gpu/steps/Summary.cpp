//===- Summary.cpp - summary of the results -------------------------------===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace dlc::gpu {
namespace {

/// Maximum size of the summary in bytes. Callers of the kit truncate longer output.
constexpr size_t kMax = 11500;
constexpr size_t kShown = 12;

__attribute__((format(printf, 1, 2))) std::string text(const char *format, ...) {
  char buffer[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

/// Joins the lines of a text into one line of at most `most` characters.
std::string joinLines(std::string from, size_t most) {
  std::replace(from.begin(), from.end(), '\n', ' ');
  return from.size() <= most ? from : from.substr(0, most - 3) + "...";
}

std::string statusCountText(const Json &cases) {
  std::map<std::string, int> counts;
  for (const auto &[key, each] : cases.items())
    ++counts[each.value("status", "?")];
  std::string all;
  for (const auto &[status, count] : counts)
    all += text("%s%d %s", all.empty() ? "" : ", ", count, status.c_str());
  return all.empty() ? "nothing was done" : all;
}

std::string sectionHeader(const char *name, const Json &json) {
  if (!json.is_object())
    return text("== %s: no file\n", name);
  std::string head = text("== %s", name);
  double seconds = 0;
  size_t left = 0;
  for (const auto &[part, each] : getEntries(json, "seconds"))
    seconds += each.get<double>();
  for (const auto &[part, each] : getEntries(json, "left"))
    left += each.get<size_t>();
  head += text(" (%.0f s", seconds);
  if (left)
    head += text(", %zu left undone", left);
  if (json.value("small", false))
    head += ", the short form";
  head += ")\n";
  if (json.contains("skipped"))
    head += "skipped: " + joinLines(json["skipped"].dump(), 300) + "\n";
  return head;
}

/// Groups failures whose messages are equal except for digits. Each group is printed as one line
/// with the names of the first failures.
class FailureGroups {
public:
  void add(const std::string &name, const std::string &message) {
    std::string key;
    for (char c : message.substr(0, 90))
      key += c >= '0' && c <= '9' ? '#' : c;
    auto [at, isNew] = number.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({message, {}});
    groups[at->second].second.push_back(name);
  }
  std::string text(size_t most) {
    std::stable_sort(groups.begin(), groups.end(), [](const auto &a, const auto &b) {
      return a.second.size() > b.second.size();
    });
    std::string all;
    for (size_t i = 0; i < groups.size() && i < most; ++i) {
      const auto &[message, names] = groups[i];
      std::string some;
      for (size_t n = 0; n < names.size() && n < 3; ++n)
        some += (n ? ", " : "") + joinLines(names[n], 70);
      if (names.size() > 3)
        some += gpu::text(" and %zu more", names.size() - 3);
      all += "FAIL " + some + ": " + joinLines(message, 230) + "\n";
    }
    if (groups.size() > most)
      all += gpu::text("... and failures of %zu other kinds\n", groups.size() - most);
    return all;
  }

private:
  std::map<std::string, size_t> number;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
};

/// Returns the error output of a job without the prefix "dlc-gpu-work: ".
std::string getErrorOutput(const Json &each) {
  std::string said = each.value("said", "");
  size_t at = said.find("dlc-gpu-work: ");
  return at == std::string::npos ? said : said.substr(at + 14);
}

std::string summarizeMachine(const Json &json) {
  std::string all = sectionHeader("machine", json);
  Json cases = getObject(json, "cases");
  Json open = getObject(getObject(cases, "open"), "result");
  if (!open.empty())
    all += text("%s, capability %s, %d multiprocessors, %.1f GiB, clock %.0f MHz, by clocks %.0f "
                "GB/s and %.0f TFLOP/s f32\n",
                open.value("name", "?").c_str(), open.value("capability", "?").c_str(),
                open.value("multiprocessors", 0), open.value("total_bytes", 0.0) / (1 << 30),
                open.value("clock_khz", 0) / 1e3, open.value("gb_s_by_clock", 0.0),
                open.value("f32_tflops_by_clock", 0.0));
  Json copies = getObject(getObject(cases, "copies"), "result"),
       vectors = getObject(getObject(cases, "vectors"), "result"),
       launches = getObject(getObject(cases, "launches"), "result"),
       plain = getObject(getObject(cases, "launches, plain"), "result");
  all +=
      text("copies within %.0f GB/s, to the device %.1f (pageable %.1f), from it %.1f; generated "
           "kernel %.0f GB/s; a small kernel takes %.2f us in a graph (%d graph launches), %.2f "
           "launched alone, of which it works %.2f; events are %.2f us apart\n",
           copies.value("within_gb_s", 0.0), copies.value("to_device_gb_s", 0.0),
           copies.value("to_device_pageable_gb_s", 0.0), copies.value("from_device_gb_s", 0.0),
           vectors.value("gb_s", 0.0), launches.value("us_each", 0.0),
           launches.value("graph_launches", 0), plain.value("us_each", 0.0),
           launches.value("work_us_each", 0.0), copies.value("between_events_us", 0.0));
  FailureGroups groups;
  for (const auto &[key, each] : cases.items()) {
    Json result = getObject(each, "result");
    if (key.rfind("product", 0) == 0 && !result.empty())
      all += text("%-22s %8.1f TFLOP/s  error %.1e  %s\n", key.c_str(), result.value("tflops", 0.0),
                  result.value("error", 0.0), joinLines(result.value("kernel", ""), 60).c_str());
    if (each.value("status", "") != "ok")
      groups.add(key, each.value("status", "?") + ": " +
                          (each.contains("said") ? getErrorOutput(each) : each.dump()));
  }
  all += groups.text(kShown);
  for (const char *when : {"before", "after"})
    for (const auto &[query, said] : getEntries(getObject(json, "nvidia-smi"), when))
      if (query.rfind("clocks.sm", 0) == 0 || query.rfind("name", 0) == 0)
        all += text("%s: %s\n", when, joinLines(said.get<std::string>(), 120).c_str());
  for (const auto &[name, path] : getEntries(json, "found"))
    if (name.rfind("DLC_CUDA_", 0) == 0)
      all += text("%s %s\n", name.c_str(), joinLines(path.get<std::string>(), 100).c_str());
  // Reports libraries that dlc's own search did not find.
  if (json.is_object() && json.contains("devices"))
    for (const Json &each : json["devices"])
      if (each.get<std::string>().find("missing") != std::string::npos)
        all += "dlc by itself: " + joinLines(each.get<std::string>(), 120) + "\n";
  return all;
}

std::string summarizeConformance(const Json &json) {
  std::string all = sectionHeader("conformance", json);
  for (const auto &[part, total] : getEntries(json, "totals"))
    all += text("%-10s %d passed, %d failed, %d of %d slices without a result\n", part.c_str(),
                total.value("passed", 0), total.value("failed", 0),
                total.value("slices_without_result", 0), total.value("slices", 0));
  Json failures = getObject(json, "failures");
  size_t fine = 0;
  FailureGroups groups;
  for (const auto &[key, failure] : failures.items()) {
    std::string alone = failure.value("alone", "");
    if (alone == "passed")
      ++fine;
    else
      groups.add(key, alone.empty() ? failure.value("message", "") : alone);
  }
  all += groups.text(kShown);
  if (fine)
    all += text("%zu that failed in a slice pass in a separate process\n", fine);
  return all;
}

std::string summarizeNetworks(const Json &json) {
  std::string all = sectionHeader("networks", json);
  Json cases = getObject(json, "cases");
  if (!cases.empty())
    all += statusCountText(cases) + "\n";
  FailureGroups groups;
  std::map<std::string, std::pair<double, std::string>> worst;
  for (const auto &[key, each] : cases.items()) {
    Json result = getObject(each, "result");
    std::string precision = key.substr(key.rfind('/') + 1);
    for (const char *part : {"output", "update"})
      if (result.contains(part)) {
        auto &now = worst[std::string(part) + " " + precision];
        if (double norm = result[part].value("norm", 0.0); norm > now.first)
          now = {norm, key};
      }
    if (each.value("status", "") == "ok")
      continue;
    std::string why = result.value("why", ""), name = key;
    for (const auto &[how, again] : getEntries(each, "again"))
      name += text(" (%s: %s)", how.c_str(), again.value("status", "?").c_str());
    groups.add(name, each.value("status", "?") + ": " + (why.empty() ? getErrorOutput(each) : why));
  }
  all += groups.text(kShown);
  for (const auto &[what, most] : worst)
    all += text("farthest %s: %.1e (%s)\n", what.c_str(), most.first, most.second.c_str());
  for (const auto &[key, each] : getEntries(json, "processor"))
    if (each.value("status", "") != "ok")
      all += text("the processor's %s: %s: %s\n", key.c_str(), each.value("status", "?").c_str(),
                  joinLines(each.value("said", ""), 200).c_str());
  return all;
}

std::string summarizeTune(const Json &json) {
  std::string all = sectionHeader("tune", json);
  Json before = getObject(json, "model"), after = getObject(json, "tuned");
  FailureGroups groups;
  for (const Json *part : {&before, &after})
    for (const auto &[key, each] : part->items())
      if (each.value("status", "") != "ok")
        groups.add(key, each.value("status", "?") + ": " + getErrorOutput(each));
  all += groups.text(kShown);
  struct Slow {
    double lost;
    std::string text;
  };
  std::vector<Slow> slow;
  if (!before.empty())
    all += "                                 run us    as used   in kernels  of the limits     "
           "tuned\n";
  size_t rows = 0;
  for (const auto &[key, each] : before.items()) {
    Json result = getObject(each, "result"), tuned = getObject(getObject(after, key), "result");
    if (result.empty() || ++rows > 40)
      continue;
    all +=
        text("%-28s %10.1f %10.1f %12.1f %14.2f %9.1f\n", key.c_str(), result.value("run_us", 0.0),
             result.value("as_used_us", 0.0), result.value("in_commands_us", 0.0),
             result.value("fraction", 0.0), tuned.value("run_us", 0.0));
    for (const Json &kernel : (tuned.empty() ? result : tuned).value("slowest", Json::array())) {
      double us = kernel.value("us", 0.0), fraction = kernel.value("fraction", 0.0);
      slow.push_back(
          {kernel.value("share", 0.0) * (1 - std::min(fraction, 1.0)),
           text("%4.0f %%  %5.2f of %s  %9.1f us  %s: %s %s\n", 100 * kernel.value("share", 0.0),
                fraction, kernel.value("limit", "?").c_str(), us, key.c_str(),
                joinLines(kernel.value("kernel", ""), 30).c_str(),
                joinLines(kernel.value("name", ""), 40).c_str())});
    }
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const Slow &a, const Slow &b) { return a.lost > b.lost; });
  if (!slow.empty())
    all += "what loses most (share of its run, fraction of its limit):\n";
  for (size_t i = 0; i < slow.size() && i < kShown; ++i)
    all += slow[i].text;
  return all;
}

std::string summarizeTorch(const Json &json) {
  std::string all = sectionHeader("torch", json);
  Json script = getObject(json, "script");
  if (!script.empty() && script.value("status", "ok") != "ok")
    all += text("the script: %s: %s\n", script.value("status", "?").c_str(),
                joinLines(truncateStart(script.value("said", ""), 400), 400).c_str());
  if (json.is_object() && json.contains("error"))
    all += "error: " + joinLines(json["error"].dump(), 400) + "\n";
  Json peaks = getObject(json, "torch");
  if (!peaks.empty())
    all +=
        text("torch %s on %s: copies %.0f GB/s, products %.1f TFLOP/s bf16, %.1f tf32, %.1f f32\n",
             peaks.value("version", "?").c_str(), peaks.value("device", "?").c_str(),
             peaks.value("copy_gb_s", 0.0), peaks.value("bf16", 0.0), peaks.value("tf32", 0.0),
             peaks.value("f32", 0.0));
  struct Row {
    double ratio;
    std::string text;
  };
  std::vector<Row> rows;
  for (const auto &[key, each] : getEntries(json, "cases")) {
    if (!each.contains("ratio")) {
      all +=
          text("%s: %s\n", key.c_str(), joinLines(each.value("error", each.dump()), 160).c_str());
      continue;
    }
    rows.push_back({each.value("ratio", 0.0),
                    text("%5.2f (%.2f to %.2f, %d pairs)  %s  dlc %.3f ms, torch %.3f ms\n",
                         each.value("ratio", 0.0), each.value("low", 0.0), each.value("high", 0.0),
                         each.value("pairs", 0), key.c_str(), each.value("dlc_ms", 0.0),
                         each.value("torch_ms", 0.0))});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row &a, const Row &b) { return a.ratio < b.ratio; });
  if (!rows.empty())
    all += "torch's time over dlc's (above 1: dlc is faster), the worst first:\n";
  for (size_t i = 0; i < rows.size() && i < 2 * kShown; ++i)
    all += rows[i].text;
  if (rows.size() > 2 * kShown)
    all += text("... and %zu better ones\n", rows.size() - 2 * kShown);
  return all;
}

std::string summarizeSanitizer(const Json &json) {
  std::string all = sectionHeader("sanitizer", json);
  Json cases = getObject(json, "cases");
  if (!cases.empty())
    all += statusCountText(cases) + "\n";
  size_t shown = 0;
  for (const auto &[key, each] : cases.items())
    if (each.value("status", "") != "ok" && ++shown <= 5)
      all += text("%s: %s: %s\n", key.c_str(), each.value("status", "?").c_str(),
                  joinLines(each.value("said", ""), 260).c_str());
  return all;
}

} // namespace

std::string makeSummary(const Settings &settings) {
  const std::pair<const char *, std::string (*)(const Json &)> parts[] = {
      {"machine", summarizeMachine},   {"conformance", summarizeConformance},
      {"networks", summarizeNetworks}, {"tune", summarizeTune},
      {"torch", summarizeTorch},       {"sanitizer", summarizeSanitizer}};
  std::string all;
  std::vector<std::string> texts;
  size_t size = 0;
  for (auto [name, make] : parts) {
    texts.push_back(make(readJson(settings.state + "/" + name + ".json")));
    size += texts.back().size();
  }
  // Cuts lines from the end of the longest section until the summary fits in kMax bytes.
  while (size > kMax) {
    auto longest = std::max_element(
        texts.begin(), texts.end(),
        [](const std::string &a, const std::string &b) { return a.size() < b.size(); });
    size_t cut = std::min(longest->size() - 200, size - kMax + 40);
    size -= longest->size();
    *longest = longest->substr(0, longest->rfind('\n', longest->size() - cut)) + "\n[cut]\n";
    size += longest->size();
  }
  for (const std::string &each : texts)
    all += each;
  return all;
}

} // namespace dlc::gpu
