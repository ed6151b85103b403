//===- Shared.cpp - reports the collectives of a step and their overlap with computation ------===//
#include "tools/dlc/report/Shared.h"

#include "dlc/Error.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdio>

namespace dlc::cli {

using runtime::CollectiveTimes;

namespace {

struct Unit {
  const char *name;
  double factor;
};

constexpr Unit kSeconds[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}},
               kRates[] = {{"Gbit/s", 1e9 / 8}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}};

/// Parses a number with a unit, such as "20us". Returns a negative number if the text is invalid.
double parseQuantity(llvm::StringRef text, llvm::ArrayRef<Unit> units) {
  for (const Unit &unit : units) {
    llvm::StringRef number = text.trim();
    double value = 0;
    if (number.consume_back(unit.name) && !number.trim().getAsDouble(value) && value >= 0)
      return value * unit.factor;
  }
  return -1;
}

runtime::Collective getCollectiveKind(const runtime::Command &command) {
  const std::string kind = command.desc.value("kind", std::string());
  for (runtime::Collective what :
       {runtime::Collective::AllGather, runtime::Collective::ReduceScatter,
        runtime::Collective::Broadcast, runtime::Collective::OrderedSum})
    if (kind == collectiveName(what))
      return what;
  return runtime::Collective::AllReduce;
}

class CollectiveReporter {
public:
  CollectiveReporter(const runtime::Session &session, const CommandGraph &graph,
                     CollectiveReport &report)
      : plan(session.plan()), report(report) {
    for (const CommandNode &node : graph.nodes)
      if (node.depth == 0)
        work.push_back(std::max(0.0, node.microseconds >= 0 ? node.microseconds : node.estimate) *
                       1e-6);
    for (size_t i = 0; i < plan.commands.size(); ++i)
      if (isCollective(plan.commands[i])) {
        places.push_back(i);
        report.members.push_back({plan.commands[i].desc.value("kind", std::string()),
                                  getCollectiveBytes(plan, plan.commands[i])});
      }
  }

  bool isEmpty() const { return places.empty(); }

  runtime::Timeline timeline(int ranks) {
    for (size_t place : places)
      work[place] = costOf(place, ranks).seconds;
    return runtime::buildTimeline(plan, work);
  }

  ScalingPrediction predict(int ranks) {
    runtime::Timeline predicted = timeline(ranks);
    runtime::Overlap overlap = computeOverlap(plan, predicted);
    size_t largest = *std::max_element(places.begin(), places.end(), [&](size_t a, size_t b) {
      return getCollectiveBytes(plan, plan.commands[a]) <
             getCollectiveBytes(plan, plan.commands[b]);
    });
    return {ranks,           report.network.machines(ranks), predicted.end, overlap.seconds,
            overlap.exposed, costOf(largest, ranks).how};
  }

private:
  runtime::CollectiveCost costOf(size_t place, int ranks) const {
    const runtime::Command &command = plan.commands[place];
    return computeCollectiveCost(report.network, getCollectiveKind(command),
                                 getCollectiveBytes(plan, command), ranks);
  }

  const runtime::Plan &plan;
  CollectiveReport &report;
  std::vector<double> work; ///< execution time in seconds of each top-level command of the program
  std::vector<size_t> places;
};

std::string linkText(const runtime::MessageCost &link) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g us", link.latency * 1e6);
  std::string all = text;
  if (link.secondsPerByte > 0) {
    std::snprintf(text, sizeof text, " and %.3g GB/s", 1e-9 / link.secondsPerByte);
    all += text;
  }
  return all;
}

nlohmann::ordered_json jsonOf(const runtime::MessageCost &link) {
  nlohmann::ordered_json json = {{"latency_us", link.latency * 1e6}};
  if (link.secondsPerByte > 0)
    json["gigabytes_per_s"] = 1e-9 / link.secondsPerByte;
  return json;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void printCollectiveTimes(const CollectiveReport &report) {
  std::printf("  %-14s %10s %11s %11s %11s %11s   ms, %s\n", "", "bytes", "written", "reduced",
              "needed", "exposed", report.about.c_str());
  const runtime::Overlap &overlap = report.overlap;
  for (size_t i = 0; i < overlap.collectives.size(); ++i) {
    const CollectiveTimes &each = overlap.collectives[i];
    std::printf("  %-14s %10s %11.3f %11.3f %11.3f %11.3f\n", report.members[i].kind.c_str(),
                bytesText(each.bytes).c_str(), each.written * 1e3, each.reduced * 1e3,
                each.needed * 1e3, each.exposed * 1e3);
  }
  std::printf("  of %.3f ms of communication %.3f are exposed; before the last collective %.3f of "
              "%.3f (%.1f %%); the step takes %.3f ms\n",
              overlap.seconds * 1e3, overlap.exposed * 1e3, overlap.exposedBefore * 1e3,
              overlap.secondsBefore * 1e3, percent(overlap.exposedBefore, overlap.secondsBefore),
              report.seconds * 1e3);
  if (report.predictions.empty())
    return;
  std::printf("  %6s %9s %11s %15s %11s   predicted\n", "ranks", "machines", "step ms",
              "communication", "exposed");
  for (const ScalingPrediction &each : report.predictions)
    std::printf("  %6d %9d %11.3f %15.3f %11.3f   %.*s\n", each.ranks, each.machines,
                each.seconds * 1e3, each.communication * 1e3, each.exposed * 1e3,
                int(each.how.size()), each.how.data());
}

} // namespace

runtime::MessageCost parseLink(const std::string &option, const std::string &text) {
  auto [latency, rate] = llvm::StringRef(text).split(',');
  double seconds = parseQuantity(latency, kSeconds), bytes = parseQuantity(rate, kRates);
  if (seconds < 0 || bytes <= 0)
    throw Error(option + " '" + text +
                "': required: a latency (ns, us, ms or s) and a bandwidth (kB/s, MB/s, GB/s or "
                "Gbit/s), such as 20us,10GB/s");
  return {seconds, 1 / bytes};
}

std::unique_ptr<runtime::World> createSimulatedWorld(const runtime::MessageCost &link, int ranks) {
  return runtime::createSimulatedWorld(
      {.size = ranks, .latencySeconds = link.latency, .bytesPerSecond = 1 / link.secondsPerByte});
}

CollectiveReport reportOf(const runtime::Session &session, const CommandGraph &graph,
                          const InspectArguments &arguments, runtime::World &world,
                          const runtime::Timeline *run) {
  CollectiveReport report;
  CollectiveReporter reporter(session, graph, report);
  const bool isGiven = !arguments.link.empty();
  if (reporter.isEmpty() || (!isGiven && world.size() == 1))
    return report;
  report.hasTimes = true;
  report.network.inside = isGiven ? parseLink("--link", arguments.link)
                                  : computeMessageCost(world.link(), world.size());
  if (!arguments.between.empty())
    report.network.between = parseLink("--link-between", arguments.between);
  report.network.perMachine = arguments.ranksPerMachine;
  report.wasRun = run != nullptr;
  report.about = std::to_string(world.size()) + " ranks, " + linkText(report.network.inside) +
                 (isGiven ? "" : ", measured") +
                 (run ? "; times of a run" : "; times by estimates of kernels");
  const runtime::Timeline timeline = run ? *run : reporter.timeline(world.size());
  report.seconds = timeline.end;
  report.overlap = computeOverlap(session.plan(), timeline);
  for (int ranks : arguments.ranks)
    report.predictions.push_back(reporter.predict(ranks));
  return report;
}

void printCollectives(const CollectiveReport &report) {
  if (report.members.empty())
    return;
  // Maximum number of collectives in the text output; --json lists all of them.
  constexpr size_t kShown = 8;
  double bytes = 0;
  std::string each;
  for (size_t i = 0; i < report.members.size(); ++i) {
    const auto &[kind, here] = report.members[i];
    bytes += here;
    if (i < kShown)
      each += (i ? ", " : "") + kind + " " + bytesText(here);
  }
  std::printf("shared   %s in %zu collectives: %s%s\n", bytesText(bytes).c_str(),
              report.members.size(), each.c_str(), report.members.size() > kShown ? ", ..." : "");
  if (report.hasTimes)
    printCollectiveTimes(report);
}

nlohmann::ordered_json jsonOf(const CollectiveReport &report) {
  nlohmann::ordered_json collectives = nlohmann::json::array();
  double bytes = 0;
  for (size_t i = 0; i < report.members.size(); ++i) {
    bytes += report.members[i].bytes;
    nlohmann::ordered_json one = {{"kind", report.members[i].kind},
                                  {"bytes", report.members[i].bytes}};
    if (report.hasTimes) {
      const CollectiveTimes &each = report.overlap.collectives[i];
      one.update({{"written_us", each.written * 1e6},
                  {"start_us", each.start * 1e6},
                  {"reduced_us", each.reduced * 1e6},
                  {"needed_us", each.needed * 1e6},
                  {"exposed_us", each.exposed * 1e6}});
    }
    collectives.push_back(one);
  }
  nlohmann::ordered_json json = {{"bytes", bytes}, {"collectives", collectives}};
  if (!report.hasTimes)
    return json;
  json["times"] = report.wasRun ? "measured" : "estimated";
  json["link"] = jsonOf(report.network.inside);
  if (report.network.between)
    json["link_between"] = jsonOf(*report.network.between);
  json["step_us"] = report.seconds * 1e6;
  json["communication_us"] = report.overlap.seconds * 1e6;
  json["exposed_us"] = report.overlap.exposed * 1e6;
  json["communication_before_last_us"] = report.overlap.secondsBefore * 1e6;
  json["exposed_before_last_us"] = report.overlap.exposedBefore * 1e6;
  json["predictions"] = nlohmann::json::array();
  for (const ScalingPrediction &each : report.predictions)
    json["predictions"].push_back({{"ranks", each.ranks},
                                   {"machines", each.machines},
                                   {"step_us", each.seconds * 1e6},
                                   {"communication_us", each.communication * 1e6},
                                   {"exposed_us", each.exposed * 1e6},
                                   {"how", std::string(each.how)}});
  return json;
}

} // namespace dlc::cli
