//===- Shared.h - what ranks share in a step, and when ---------------------------------===//
#ifndef DLC_TOOLS_DLC_SHARED_H
#define DLC_TOOLS_DLC_SHARED_H

#include "runtime/collective/Network.h"
#include "runtime/session/Overlap.h"
#include "tools/dlc/Graph.h"
#include "tools/dlc/Options.h"

namespace dlc::cli {

/// "20us,10GB/s". Throws dlc::Error, which names the option.
runtime::MessageCost parseLink(const std::string &option, const std::string &text);

/// A world in which an all-reduce takes what the link says.
std::unique_ptr<runtime::World> worldOf(const runtime::MessageCost &link, int ranks);

/// What a step is predicted to take in a world.
struct Prediction {
  int ranks = 1, machines = 1;
  double seconds = 0, communication = 0, exposed = 0;
  std::string_view how; ///< of the largest collective
};

struct SharedReport {
  struct Member {
    std::string kind;
    double bytes = 0;
  };
  std::vector<Member> members; ///< the collectives, in their order
  /// Without a link there are no times.
  bool hasTimes = false;
  std::string about; ///< where the times are from
  runtime::Network network;
  bool wasRun = false; ///< with collectives that took their time; else it is a prediction
  double seconds = 0;  ///< of the step
  runtime::Overlap overlap;
  std::vector<Prediction> predictions;
};

/// What `dlc inspect` was asked for, in the world that the session meets. `run`: of the session,
/// where there was one.
SharedReport reportOf(const runtime::Session &session, const Graph &graph,
                      const InspectArguments &arguments, runtime::World &world,
                      const runtime::Timeline *run);
void printShared(const SharedReport &report);
nlohmann::ordered_json jsonOf(const SharedReport &report);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_SHARED_H
