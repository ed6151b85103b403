//===- Curve.h - plots the loss of each step as SVG -----------------------===//
#ifndef DLC_TOOLS_DLC_CURVE_H
#define DLC_TOOLS_DLC_CURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

/// Plots the losses of the steps `first`, first + 1, ... as an SVG document: a thin line for the
/// losses, and a thick one for their moving mean.
std::string lossCurve(const std::vector<double> &losses, int64_t first, const std::string &title);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_CURVE_H
