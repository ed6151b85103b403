//===- All.td - all of the dialect, for its reference ---------------------===//
//
// The headers of Ops.td are included everywhere, those of Collective.td and CustomGradient.td where
// they are needed.
//
//===----------------------------------------------------------------------===//
include "ir/dlc/Ops.td"
include "ir/dlc/Collective.td"
include "ir/dlc/CustomGradient.td"
