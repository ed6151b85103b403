//===- Placement.h - reports the devices of operations and the transfers between them ---------===//
#ifndef DLC_TOOLS_DLC_REPORT_PLACEMENT_H
#define DLC_TOOLS_DLC_REPORT_PLACEMENT_H

#include "tools/dlc/report/Graph.h"

namespace dlc::cli {

/// A copy of a value between two devices.
struct DeviceTransfer {
  size_t command;
  std::string value, from, to;
  double bytes;
  /// Time of the copy in microseconds; `measured` is negative if the program was not run.
  double estimated, measured;
};

std::vector<DeviceTransfer> collectTransfers(const CommandGraph &graph);
nlohmann::ordered_json placementJson(const runtime::Session &session, const CommandGraph &graph);
void printPlacement(const runtime::Session &session, const CommandGraph &graph);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_REPORT_PLACEMENT_H
