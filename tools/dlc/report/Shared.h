//===- Shared.h - reports the collectives of a step and their overlap with computation --------===//
#ifndef DLC_TOOLS_DLC_REPORT_SHARED_H
#define DLC_TOOLS_DLC_REPORT_SHARED_H

#include "runtime/collective/Network.h"
#include "runtime/session/Overlap.h"
#include "tools/dlc/Options.h"
#include "tools/dlc/report/Graph.h"

namespace dlc::cli {

/// Parses the latency and bandwidth of a link, such as "20us,10GB/s". Throws dlc::Error that names
/// the option.
runtime::MessageCost parseLink(const std::string &option, const std::string &text);

/// Returns a simulated world of `ranks` ranks, in which each collective takes the time that the
/// link implies.
std::unique_ptr<runtime::World> createSimulatedWorld(const runtime::MessageCost &link, int ranks);

/// Predicted times of a training step in a world of `ranks` ranks.
struct ScalingPrediction {
  int ranks = 1, machines = 1;
  double seconds = 0, communication = 0, exposed = 0;
  std::string_view how; ///< collective algorithm of the largest collective, such as a ring
};

struct CollectiveReport {
  struct Member {
    std::string kind;
    double bytes = 0;
  };
  std::vector<Member> members; ///< the collectives of a step, in execution order
  /// Whether the report has times, which require a measured or specified link.
  bool hasTimes = false;
  std::string about; ///< text that says how the times were determined
  runtime::Network network;
  /// Whether the times are measured, with collectives that took their time; otherwise predicted.
  bool wasRun = false;
  double seconds = 0; ///< duration of the step in seconds
  runtime::Overlap overlap;
  std::vector<ScalingPrediction> predictions;
};

/// Creates the collectives report of `dlc inspect` in the session's world. `run` is the timeline of
/// a measured run, or null.
CollectiveReport reportOf(const runtime::Session &session, const CommandGraph &graph,
                          const InspectArguments &arguments, runtime::World &world,
                          const runtime::Timeline *run);
void printCollectives(const CollectiveReport &report);
nlohmann::ordered_json jsonOf(const CollectiveReport &report);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_REPORT_SHARED_H
