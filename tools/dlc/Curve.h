//===- Curve.h - the loss of each step, drawn ---------------------------------------------===//
#ifndef DLC_TOOLS_DLC_CURVE_H
#define DLC_TOOLS_DLC_CURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

/// Losses of the steps `first`, first + 1, …: each as a faint line, and their moving mean.
std::string lossCurve(const std::vector<double> &losses, int64_t first, const std::string &title);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_CURVE_H
