//===- Shared.h - reports the collectives of a step and their overlap with computation --------===//
#ifndef DLC_TOOLS_DLC_SHARED_H
#define DLC_TOOLS_DLC_SHARED_H

#include "runtime/collective/Network.h"
#include "runtime/session/Overlap.h"
#include "tools/dlc/Graph.h"
#include "tools/dlc/Options.h"

namespace dlc::cli {

/// Parses a link such as "20us,10GB/s". Throws dlc::Error, naming the option.
runtime::MessageCost parseLink(const std::string &option, const std::string &text);

/// Returns a simulated world in which a collective takes as long as the link implies.
std::unique_ptr<runtime::World> worldOf(const runtime::MessageCost &link, int ranks);

/// Predicted times of a step in a world of `ranks` ranks.
struct Prediction {
  int ranks = 1, machines = 1;
  double seconds = 0, communication = 0, exposed = 0;
  std::string_view how; ///< algorithm of the largest collective
};

struct SharedReport {
  struct Member {
    std::string kind;
    double bytes = 0;
  };
  std::vector<Member> members; ///< the collectives, in execution order
  /// False if no link is known; then there are no times.
  bool hasTimes = false;
  std::string about; ///< origin of the times
  runtime::Network network;
  bool wasRun = false; ///< measured with collectives that took their time; else predicted
  double seconds = 0;  ///< duration of the step
  runtime::Overlap overlap;
  std::vector<Prediction> predictions;
};

/// Creates the report for `dlc inspect` in the session's world. `run` is the timeline of a measured
/// run, or null.
SharedReport reportOf(const runtime::Session &session, const Graph &graph,
                      const InspectArguments &arguments, runtime::World &world,
                      const runtime::Timeline *run);
void printShared(const SharedReport &report);
nlohmann::ordered_json jsonOf(const SharedReport &report);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_SHARED_H
