//===- All.td - all operations of the dialect, for the generated reference ---===//
//
// Dialect.h includes the headers generated from Ops.td. Those of Collective.td and CustomGradient.td have headers of their own,
// which only few files include.
//
//===----------------------------------------------------------------------===//
include "ir/dlc/Ops.td"
include "ir/dlc/Collective.td"
include "ir/dlc/CustomGradient.td"
