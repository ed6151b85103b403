//===- Product.cpp - matmuls with weights in block formats ----------------===//
#include "runtime/library/quantized/Product.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/quantized/Kernels.h"

#include <algorithm>

namespace dlc::quantized {

using runtime::parallelFor;

namespace {

/// Maximum size in bytes of the quantized columns that are multiplied with all panels before the
/// next columns are quantized, so that these columns remain in the L2 cache.
constexpr int64_t kColumnBytes = int64_t(768) << 10;
/// Minimum number of panels of each thread.
constexpr int64_t kPanels = 2;
/// Maximum number of elements that one thread quantizes alone.
constexpr int64_t kAlone = 1 << 15;

const Kernels &selectKernels(int64_t lanes) {
  return *runtime::selectKernels(
      lanes, [] { return &scalarKernels; }, [] { return &avx2Kernels; },
      [] { return &avx512Kernels; });
}

int64_t roundUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Calls body(first column, index of the width) for each tile of `count` columns.
template <typename Body> void forTiles(int64_t count, const Body &body) {
  int64_t column = 0;
  for (int width = 0; width < kWidths; ++width)
    for (; count - column >= kColumns[width]; column += kColumns[width])
      body(column, width);
}

/// Arguments of a call of multiply().
struct Call {
  const Weights &weights;
  const Format &format;
  const Kernels &kernels;
  const FormatKernels &tiles;
  const uint8_t *packed;
  float *y;
  int64_t yStride;
  int threads;

  int64_t groups() const { return weights.depth / kGroup; }
  int64_t records() const { return weights.depth / format.block; }
  int64_t panels() const { return (weights.rows + weights.lanes - 1) / weights.lanes; }
  int64_t panelBytes() const {
    return records() * makeLayout(format, static_cast<int>(weights.lanes)).bytes;
  }

  /// Calls body(panel's data, its first row, its number of rows) for all panels in parallel.
  template <typename Body> void forPanels(const Body &body) const {
    parallelFor(threads, panels(), kPanels, [&](int64_t begin, int64_t end, int) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t row = panel * weights.lanes;
        body(packed + panel * panelBytes(), row, std::min(weights.lanes, weights.rows - row));
      }
    });
  }

  /// Multiplies all columns in f32.
  void strict(const Columns &columns) const {
    forPanels([&](const uint8_t *panel, int64_t row, int64_t rows) {
      forTiles(columns.count, [&](int64_t column, int width) {
        tiles.strict[width](panel, records(), columns.x + column * columns.stride, columns.stride,
                            y + column * yStride + row, yStride, rows);
      });
    });
  }

  /// Quantizes and multiplies columns [begin, begin + count).
  void quantized(const Columns &columns, int64_t begin, int64_t count, int8_t *values,
                 ActivationFactors *factors) const {
    auto quantize = [&](int64_t first, int64_t last, int) {
      // Quantizes the columns of each tile that are in [first, last).
      forTiles(count, [&](int64_t column, int width) {
        for (int64_t c = std::max(column, first); c < std::min(column + kColumns[width], last); ++c)
          kernels.quantize(format, columns.x + (begin + c) * columns.stride, groups(),
                           kColumns[width], values + column * weights.depth + (c - column) * kGroup,
                           factors + column * groups() + (c - column));
      });
    };
    parallelFor(count * weights.depth <= kAlone ? 1 : threads, count, 1, quantize);
    forPanels([&](const uint8_t *panel, int64_t row, int64_t rows) {
      forTiles(count, [&](int64_t column, int width) {
        const Tile tile = {values + column * weights.depth, factors + column * groups()};
        tiles.tiles[width](panel, records(), tile, y + (begin + column) * yStride + row, yStride,
                           rows);
      });
    });
  }
};

/// Returns the number of columns that are quantized together.
int64_t getColumnsAtOnce(const Weights &weights, int64_t columns) {
  const int64_t fitting = kColumnBytes / weights.depth / kColumns[0] * kColumns[0];
  return std::min(columns, std::max<int64_t>(fitting, kColumns[0]));
}

} // namespace

int64_t getKernelLanes() { return runtime::hostByteLanes(); }

int64_t getScratchBytes(const Weights &weights, int64_t columns, Activations activations) {
  checkWeights(weights);
  if (activations == Activations::F32)
    return 0;
  const int64_t count = getColumnsAtOnce(weights, columns);
  return roundUp(count * weights.depth) +
         roundUp(count * (weights.depth / kGroup) * int64_t(sizeof(ActivationFactors)));
}

void multiply(const Weights &weights, const void *packed, const Columns &columns, float *y,
              int64_t yStride, Activations activations, void *scratch, int threads) {
  checkWeights(weights);
  const int row = static_cast<int>(weights.format) - static_cast<int>(runtime::BlockFormat::Q4_0);
  const Kernels &kernels = selectKernels(weights.lanes);
  const Call call = {weights,
                     kTable[row],
                     kernels,
                     kernels.formats[row],
                     static_cast<const uint8_t *>(packed),
                     y,
                     yStride,
                     std::max(1, threads)};
  if (activations == Activations::F32)
    return call.strict(columns);
  const int64_t atOnce = getColumnsAtOnce(weights, columns.count);
  auto *values = static_cast<int8_t *>(scratch);
  auto *factors = reinterpret_cast<ActivationFactors *>(values + roundUp(atOnce * weights.depth));
  for (int64_t begin = 0; begin < columns.count; begin += atOnce)
    call.quantized(columns, begin, std::min(atOnce, columns.count - begin), values, factors);
}

} // namespace dlc::quantized
