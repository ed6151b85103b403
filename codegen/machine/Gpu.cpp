//===- Gpu.cpp - cost-model parameters of a GPU ---------------------------===//
#include "codegen/machine/Gpu.h"

#include <algorithm>
#include <cmath>

namespace dlc {
namespace {

struct Row {
  int version;
  const char *name;
  int multiprocessors;
  double gigahertz, f32, f64, tensor16, tensor32, tensor8, gigabytes;
};

constexpr Row kRows[] = {
#define GPU(...) {__VA_ARGS__},
#include "codegen/machine/Gpus.def"
#undef GPU
};

const Row &findGpuRow(int version) {
  const Row *last = &kRows[0];
  for (const Row &row : kRows)
    if (row.version <= version)
      last = &row;
  return *last;
}

} // namespace

GpuCostParameters getGpuParameters(int version, const GpuDeviceProperties &found) {
  const Row &row = findGpuRow(version);
  GpuCostParameters gpu;
  gpu.multiprocessors = found.multiprocessors ? found.multiprocessors : row.multiprocessors;
  double clocks = gpu.multiprocessors * (found.gigahertz > 0 ? found.gigahertz : row.gigahertz);
  gpu.f32 = clocks * row.f32;
  gpu.f64 = clocks * row.f64;
  gpu.tensor16 = clocks * row.tensor16;
  gpu.tensor32 = clocks * row.tensor32;
  gpu.tensor8 = clocks * row.tensor8;
  gpu.gigabytes =
      (found.gigabytes > 0 ? found.gigabytes : row.gigabytes) * GpuEfficiencies().memory;
  return gpu;
}

double GpuMatmulSizes::time(const GpuCostParameters &gpu) const {
  // Tile of the result that a thread block computes, and its relative speed. kShortest is the
  // minimum reduction (K) length per block if K is split over several blocks.
  struct Tile {
    double rows, columns, rate;
  };
  constexpr Tile kTiles[] = {
      {128, 256, 1}, {256, 128, 1}, {128, 128, 0.9}, {64, 64, 0.55}, {64, 128, 0.7}};
  constexpr double kShortest = 256;
  double best = 0;
  for (const Tile &tile : kTiles) {
    double across = std::ceil(rows / tile.rows), along = std::ceil(columns / tile.columns);
    double blocks = batches * across * along, units = gpu.multiprocessors;
    if (blocks * 2 <= units)
      blocks *=
          std::max(1.0, std::min(std::floor(units / blocks), std::floor(contracted / kShortest)));
    double waves = blocks / units, busy = waves / std::ceil(waves);
    double inside = rows * columns / (across * tile.rows * along * tile.columns);
    best = std::max(best, busy * inside * tile.rate);
  }
  return flops() / (gigaflops * best) * 1e-3;
}

} // namespace dlc
