//===- LaneGrad.cpp - weight gradient of a depthwise convolution in vectors of channels -===//
//
// Kind lane_weight_grad of schema/Builtin.def:
//   of f32; x and dy are stored as [N, C / group, H, W, group] (nChw16c), or channels last if one
//   group has all channels.
//   buffers: x, dy, dw [C, 1, kernel...]
//
// If there are few vectors of channels, the rows of dy are split among the threads, and their
// partial sums are added.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/LaneGrad.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"

#include <algorithm>

namespace dlc::runtime::builtin {

std::unique_ptr<LibraryCall> makeLaneGrad(KernelRequest &request) {
  const auto fields = request.read<schema::LaneWeightGrad>();
  auto given = describe::SlidingWindow::of(fields);
  LaneGrad grad;
  const int64_t channels = fields.group; // number of adjacent channels
  if (given.rank() != 2 || given.features != given.channels || given.channels % channels != 0)
    fields.complain("lanes are of [N, C, H, W] whose channels are whole groups, one feature for "
                    "each");
  if (channels < 8)
    fields.complain("the vector kernel requires groups of at least 8 channels");
  const int64_t lanes = channels >= 16 ? hostLanes() : 8;
  const LaneGradKernels *kernels = selectKernels(
      lanes, [] { return &laneGradScalar; }, [] { return &laneGradAvx2; },
      [] { return &laneGradAvx512; });
  for (int d = 0; d < 2; ++d) {
    grad.size[d] = given.src[d];
    grad.outSize[d] = given.dst[d];
    grad.kernel[d] = given.window.sizes[d];
    grad.stride[d] = given.window.strides[d];
    grad.dilation[d] = given.window.dilations[d];
    grad.low[d] = given.window.low[d];
  }
  const int64_t groups = given.channels / channels;
  grad.src = lanePitches(groups, channels, grad.size);
  grad.dst = lanePitches(groups, channels, grad.outSize);
  request.need("x", given.sourceElements(), DType::F32, false);
  request.need("dy", given.resultElements(), DType::F32, false);
  request.need("dw", given.channels * given.window.taps(), DType::F32, true);
  request.end();
  const int64_t taps = given.window.taps(), perGroup = (channels + lanes - 1) / lanes,
                vectors = groups * perGroup, rows = given.batch * given.dst[0];
  // First channel of a vector in its group. The last vector ends at the group's end, so it may
  // overlap the previous vector.
  auto firstOf = [=](int64_t vector) {
    return std::min(vector % perGroup * lanes, channels - lanes);
  };
  constexpr int64_t kPerThread = 4;
  const int64_t parts = std::clamp<int64_t>(
      kPerThread * request.threads / std::max<int64_t>(1, vectors), 1, std::max<int64_t>(1, rows));
  auto run = [=](void *const *buffers, const CallContext &context) {
    auto *x = static_cast<const float *>(buffers[0]), *dy = static_cast<const float *>(buffers[1]);
    auto *dw = static_cast<float *>(buffers[2]), *sums = static_cast<float *>(context.scratch);
    const int64_t each = taps * lanes;
    parallelFor(context.threads, vectors * parts, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t item = begin; item < end; ++item) {
        int64_t part = item % parts, vector = item / parts;
        int64_t group = vector / perGroup, first = firstOf(vector);
        kernels->sum(grad, x + group * grad.src.group + first, dy + group * grad.dst.group + first,
                     sums + item * each, part * rows / parts, (part + 1) * rows / parts);
      }
    });
    parallelFor(context.threads, vectors, 64, [&](int64_t begin, int64_t end, int) {
      for (int64_t vector = begin; vector < end; ++vector) {
        const float *from = sums + vector * parts * each;
        int64_t first = firstOf(vector);
        // Skips channels that are also in the group's previous vector, which writes them: the last
        // vector of a group may overlap it.
        for (int64_t lane = vector % perGroup * lanes - first; lane < lanes; ++lane) {
          float *to = dw + (vector / perGroup * channels + first + lane) * taps;
          for (int64_t tap = 0; tap < taps; ++tap) {
            float sum = 0;
            for (int64_t part = 0; part < parts; ++part)
              sum += from[part * each + tap * lanes + lane];
            to[tap] = sum;
          }
        }
      }
    });
  };
  return makeCall("lane_weight_grad:" + std::string(getKernelSetName(lanes)), run,
                  uint64_t(vectors * parts * taps * lanes) * sizeof(float));
}

} // namespace dlc::runtime::builtin
