//===- Statistics.cpp - batch normalization statistics from the sums over channels -===//
//
// A part with n results has the sums s = sum(x - k) and q = sum((x - k)^2) with its own k. Let e =
// k - first. Like the other terms, e has the magnitude of the results' deviation and not of their
// mean:
//
//   sum(x - first) = s + n e,   sum((x - first)^2) = q + 2 e s + n e^2
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/winograd/Statistics.h"

#include "runtime/device/cpu/Parallel.h"

namespace dlc::winograd {

/// Returns the number of a channel's results in the tiles [0, tile). Positions of tiles outside of
/// dst do not count.
static int64_t countResultsBefore(const Shape &shape, int outputs, int64_t tile) {
  int64_t each = shape.tileRows * shape.tileCols, image = tile / each;
  int64_t row = tile % each / shape.tileCols * outputs, col = tile % shape.tileCols * outputs;
  int64_t height = std::min<int64_t>(outputs, shape.outHeight - row);
  return (image * shape.outHeight + row) * shape.outWidth + height * col;
}

void writeStatistics(const Convolution &request, const WorkPartition &plan, const float *sums,
                     const ChannelStatistics &to, int threads) {
  const Shape &shape = request.shape;
  constexpr int kMaxLanes = 16;
  const int lanes = request.lanes;
  const int64_t parts = plan.parts(shape), tiles = shape.tiles();
  // Starting other threads costs as much as kGrain channels of one part.
  constexpr int64_t kGrain = 4096;
  const int64_t grain = std::max<int64_t>(1, kGrain / (parts * lanes));
  runtime::parallelFor(threads, shape.outBlocks, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin; block < end; ++block) {
      double first[kMaxLanes], total[kMaxLanes] = {}, squares[kMaxLanes] = {};
      for (int64_t part = 0; part < parts; ++part) {
        const float *from = sums + part * plan.sumsStep + block * kSums * lanes;
        const auto count = static_cast<double>(
            countResultsBefore(shape, request.outputs, std::min(tiles, (part + 1) * plan.tiles)) -
            countResultsBefore(shape, request.outputs, part * plan.tiles));
        for (int i = 0; i < lanes; ++i) {
          double own = from[i], s = from[lanes + i], q = from[2 * lanes + i];
          if (part == 0)
            first[i] = own;
          double e = own - first[i];
          total[i] += s + count * e;
          squares[i] += q + e * (2 * s + count * e);
        }
      }
      const auto all = static_cast<double>(shape.batch * shape.outHeight * shape.outWidth);
      for (int i = 0; i < lanes; ++i) {
        int64_t channel = block * lanes + i;
        to.first[channel] = static_cast<float>(first[i]);
        to.shift[channel] = static_cast<float>(total[i] / all);
        to.square[channel] = static_cast<float>(squares[i] / all);
      }
    }
  });
}

} // namespace dlc::winograd
