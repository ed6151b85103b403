//===- RankDevices.h - assignment of a machine's devices to ranks ------------===//
#ifndef DLC_RUNTIME_SESSION_COLLECTIVES_RANKDEVICES_H
#define DLC_RUNTIME_SESSION_COLLECTIVES_RANKDEVICES_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// Assigns devices to the ranks of one machine, for device kinds that support collectives. If the
/// program uses k devices of a kind, its device n becomes device n + k * localRank. If a rank sees
/// at most k devices (because the launcher has made only its own visible), the numbers are
/// unchanged. Throws dlc::Error if more than k devices are visible but too few for all ranks of the
/// machine.
void assignRankDevices(Plan &plan, const World &world);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_COLLECTIVES_RANKDEVICES_H
