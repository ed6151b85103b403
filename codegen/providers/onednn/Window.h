//===- Window.h - parameters of sliding windows in oneDNN descriptions ----===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H

#include "codegen/providers/LibraryCall.h"
#include "runtime/library/schema/Schema.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <vector>

namespace dlc::onednn_desc {

/// Sets the parameters that all operations with a sliding window have: strides, dilations, padding.
/// oneDNN counts a dilation of 1 as 0.
template <typename Op> void setWindow(schema::StepFields &window, Op op) {
  std::vector<int64_t> dilations = list(op.getDilations());
  for (int64_t &dilation : dilations)
    --dilation;
  window.strides = list(op.getStrides());
  window.dilations = dilations;
  window.low = list(op.getLow());
  window.high = list(op.getHigh());
}

/// Sets the window of a pool. Returns false if padding is as wide as the window: such windows
/// contain no element, which oneDNN does not support.
template <typename Op> bool setPoolWindow(schema::KernelFields &pool, Op op) {
  setWindow(pool, op);
  pool.kernel = list(op.getWindow());
  for (auto [low, high, window] : llvm::zip(op.getLow(), op.getHigh(), op.getWindow()))
    if (low >= window || high >= window)
      return false;
  return true;
}

/// Returns oneDNN's algorithm for an average pool (including or excluding padding), or nullopt if
/// only a part of the padding is counted in the average.
template <typename Op> std::optional<schema::PoolAlgorithm> getAvgPoolAlgorithm(Op op) {
  auto isZero = [](int64_t size) { return size == 0; };
  // Padding that only completes the last window (`ceil_mode`) is not counted in the average.
  bool countsNone = !op.getIncludePad() || (llvm::all_of(op.getLow(), isZero) &&
                                            llvm::all_of(op.getCountedHigh(), isZero));
  if (countsNone)
    return schema::PoolAlgorithm::AverageExclude;
  if (op.getCountedHigh() != op.getHigh())
    return std::nullopt;
  return schema::PoolAlgorithm::AverageInclude;
}

} // namespace dlc::onednn_desc

#endif // DLC_CODEGEN_PROVIDERS_ONEDNN_WINDOW_H
