//===- RankDevices.h - which devices of a machine are a rank's ----------------===//
#ifndef DLC_RUNTIME_SESSION_RANKDEVICES_H
#define DLC_RUNTIME_SESSION_RANKDEVICES_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"

namespace dlc::runtime {

/// Ranks of one machine have devices of their own, where their kind carries collectives: of a
/// program that uses k devices of it, the nth is number n + k * local rank. Where a launcher shows
/// each rank no more than k, those are its own and keep their numbers. Throws dlc::Error where
/// there are too few.
void takeOwnDevices(Plan &plan, const World &world);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_RANKDEVICES_H
