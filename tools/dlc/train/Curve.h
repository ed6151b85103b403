//===- Curve.h - plots the loss of each step as SVG -----------------------===//
#ifndef DLC_TOOLS_DLC_TRAIN_CURVE_H
#define DLC_TOOLS_DLC_TRAIN_CURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

/// Returns an SVG plot of the losses of the training steps `first`, first + 1, ...: a thin line for
/// the losses, and a thick line for their moving mean.
std::string drawLossCurve(const std::vector<double> &losses, int64_t first,
                          const std::string &title);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAIN_CURVE_H
