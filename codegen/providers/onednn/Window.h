//===- Window.h - parameters of sliding windows as oneDNN descriptions ----===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H

#include "codegen/providers/LibraryCall.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::onednn_desc {

using nlohmann::json;

/// Adds the parameters that all operations with a sliding window have (strides, dilations, padding)
/// to a oneDNN description. oneDNN counts a dilation of 1 as 0.
template <typename Op> void addWindowParameters(json &desc, Op op) {
  std::vector<int64_t> dilations = list(op.getDilations());
  for (int64_t &dilation : dilations)
    --dilation;
  desc["strides"] = list(op.getStrides());
  desc["dilations"] = dilations;
  desc["pads_l"] = list(op.getLow());
  desc["pads_r"] = list(op.getHigh());
}

/// Adds the parameters of a pool to a oneDNN description. Returns false if padding is as wide as
/// the window: such windows contain no element, which oneDNN does not support.
template <typename Op> bool addPoolParameters(json &desc, Op op) {
  addWindowParameters(desc, op);
  desc["kernel"] = list(op.getWindow());
  for (auto [low, high, window] : llvm::zip(op.getLow(), op.getHigh(), op.getWindow()))
    if (low >= window || high >= window)
      return false;
  return true;
}

/// Returns oneDNN's algorithm for an average pool (including or excluding padding), or nullopt if
/// only a part of the padding is counted in the average.
template <typename Op> std::optional<std::string> getAvgPoolAlgorithm(Op op) {
  auto isZero = [](int64_t size) { return size == 0; };
  // Padding that only completes the last window (`ceil_mode`) is not counted in the average.
  bool countsNone = !op.getIncludePad() || (llvm::all_of(op.getLow(), isZero) &&
                                            llvm::all_of(op.getCountedHigh(), isZero));
  if (countsNone)
    return "avg_exclude";
  if (op.getCountedHigh() != op.getHigh())
    return std::nullopt;
  return "avg_include";
}

} // namespace dlc::onednn_desc

#endif // DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H
