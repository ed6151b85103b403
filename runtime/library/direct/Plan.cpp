//===- Plan.cpp - how a direct convolution is cut up ----------------------------===//
#include "runtime/library/direct/Plan.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/library/describe/Fields.h"
#include "runtime/program/Message.h"

#include <algorithm>

namespace dlc::direct {

using runtime::fail;

Request Request::parse(const nlohmann::json &desc) {
  Request request;
  const describe::Fields fields(desc, "direct");
  if (std::string kind = fields.kind(); kind != "convolution")
    fail("direct: 'kind' must be convolution, found ", kind);
  request.lanes = static_cast<int>(fields.integer("block", 8, 16));
  if (request.lanes % 8 != 0)
    fail("direct: 'block' must be 8 or 16");
  constexpr int64_t kMost = int64_t(1) << 20;
  std::vector<int64_t> src = fields.integers("src", 4, 1), dst = fields.integers("dst", 4, 1),
                       window = fields.integers("window", 2, 1),
                       strides = fields.integers("strides", 2, 1),
                       dilations = fields.integers("dilations", 2, 1),
                       pads = fields.integers("pads", 2, -kMost);
  if (src[0] != dst[0] || src[1] % request.lanes != 0 || dst[1] % request.lanes != 0)
    fail("direct: one batch and whole blocks of ", request.lanes, " channels required, found ",
         runtime::listed(src), " and ", runtime::listed(dst));
  for (const auto &list : {window, strides, dilations, pads})
    if (std::max(list[0], list[1]) > kMost)
      fail("direct: windows, strides, dilations and pads may be ", kMost, " at most, found ",
           runtime::listed(list));
  Shape &shape = request.shape;
  shape.batch = src[0];
  shape.inBlocks = src[1] / request.lanes;
  shape.outBlocks = dst[1] / request.lanes;
  shape.inHeight = src[2], shape.inWidth = src[3];
  shape.outHeight = dst[2], shape.outWidth = dst[3];
  shape.windowHeight = window[0], shape.windowWidth = window[1];
  shape.strideY = strides[0], shape.strideX = strides[1];
  shape.dilationY = dilations[0], shape.dilationX = dilations[1];
  shape.top = pads[0], shape.left = pads[1];
  shape.channelsLast = fields.flag("channels_last");
  if (int64_t elements = 0; __builtin_mul_overflow(window[0] * window[1], src[1], &elements) ||
                            __builtin_mul_overflow(elements, dst[1], &elements) ||
                            elements > describe::kMaxSize)
    fail("direct: ", window[0], "x", window[1], " weights for ", src[1], " and ", dst[1],
         " channels are too many");
  shape.depth = window[0] * window[1] * shape.inBlocks;
  request.hasBias = fields.flag("bias");
  request.steps = fields.steps();
  return request;
}

int64_t Request::sourceElements() const {
  return shape.batch * shape.inBlocks * lanes * shape.inHeight * shape.inWidth;
}

bool Request::readsInPlace() const {
  return !shape.channelsLast && shape.windowHeight == 1 && shape.windowWidth == 1 &&
         shape.strideY == 1 && shape.strideX == 1 && shape.top == 0 && shape.left == 0 &&
         shape.inHeight == shape.outHeight && shape.inWidth == shape.outWidth;
}

Plan::Plan(const Request &request, int threads) {
  const Shape &shape = request.shape;
  constexpr int64_t kMany = 112, kSome = 28, kEnough = 49;
  const int64_t near = runtime::nearBytes() / 4, perPixel = shape.depth * request.lanes;
  const int64_t all = request.pixels(), copied = request.readsInPlace() ? 0 : perPixel;
  // What is copied for a part stays near.
  const int64_t limit = copied ? std::clamp(near / 2 / copied, kSome, kMany) : kMany;
  // Where each thread has so many pixels, memory brings all weights to all of them in time.
  const bool isFew = threads > 1 && shape.batch * all < threads * kEnough;
  sharesPixels = isFew && request.pairs() >= threads && shape.batch * all * copied <= near;
  imageParts = (all + limit - 1) / limit;
  // As many pieces of work for each thread as for the others, where they are few.
  const int64_t pieces = shape.batch * (sharesPixels ? request.pairs() : 1);
  if (pieces % threads != 0 && pieces < 8 * threads)
    imageParts = std::min(all, (imageParts + threads - 1) / threads * threads);
  pixels = (all + imageParts - 1) / imageParts;
  imageParts = (all + pixels - 1) / pixels;
  parts = shape.batch * imageParts;
  partStep = pixels * copied;
  dataStep = partStep * (sharesPixels ? parts : 1);
  sums = dataStep * threads;
  sumsStep = 2 * pixels * request.lanes;
  scratch = sums + sumsStep * threads;
}

Pixels Plan::part(const Request &request, int64_t index) const {
  int64_t first = index % imageParts * pixels;
  return {index / imageParts, first, std::min(pixels, request.pixels() - first)};
}

} // namespace dlc::direct
