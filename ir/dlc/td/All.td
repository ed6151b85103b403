//===- All.td - all operations of the dialect, for the generated reference ---===//
//
// Dialect.h includes the headers generated from Ops.td. Those of Collective.td, CustomGradient.td and Sizes.td have headers of their own,
// which only few files include.
//
//===----------------------------------------------------------------------===//
include "ir/dlc/td/Ops.td"
include "ir/dlc/td/Collective.td"
include "ir/dlc/td/CustomGradient.td"
include "ir/dlc/td/Sizes.td"
