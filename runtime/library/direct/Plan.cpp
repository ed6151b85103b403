//===- Plan.cpp - work partition of a direct convolution ------------------===//
#include "runtime/library/direct/Plan.h"

#include "runtime/device/cpu/Features.h"

#include <algorithm>

namespace dlc::direct {

Convolution Convolution::parse(const nlohmann::json &desc) {
  const auto fields = schema::DirectConvolution::read(desc, "direct");
  auto images = describe::SlidingWindow::of(fields, fields.src, fields.dst);
  images.slide(fields, describe::Window::of(fields, images.rank()));
  Convolution request;
  static_cast<describe::Convolution &>(request) = {fields, std::move(images)};
  request.channelsLast = fields.channelsLast;
  request.isPacked = true;
  request.hasBias = fields.bias;
  request.steps = describe::parseSteps(fields.steps);
  request.lanes = static_cast<int>(fields.block);
  if (request.rank() != 2 || request.channels % request.lanes != 0 ||
      request.features % request.lanes != 0)
    fields.complain("required: two spatial dimensions, and channels that are a multiple of the "
                    "block; found: ",
                    request.lanes, " for ", request.channels, " and ", request.features);
  const describe::Window &window = request.window;
  Shape &shape = request.shape;
  shape.batch = request.batch;
  shape.inBlocks = request.channels / request.lanes;
  shape.outBlocks = request.features / request.lanes;
  shape.inHeight = request.src[0], shape.inWidth = request.src[1];
  shape.outHeight = request.dst[0], shape.outWidth = request.dst[1];
  shape.windowHeight = window.sizes[0], shape.windowWidth = window.sizes[1];
  shape.strideY = window.strides[0], shape.strideX = window.strides[1];
  shape.dilationY = window.dilations[0], shape.dilationX = window.dilations[1];
  shape.top = window.low[0], shape.left = window.low[1];
  shape.channelsLast = request.channelsLast;
  shape.depth = window.taps() * shape.inBlocks;
  return request;
}

WorkPartition::WorkPartition(const Convolution &request, int threads) {
  const Shape &shape = request.shape;
  constexpr int64_t kMany = 112, kSome = 28, kEnough = 49;
  const int64_t near = runtime::getPrivateCacheBytes() / 4, perPixel = shape.depth * request.lanes;
  const int64_t all = request.positions(), copied = request.readsInPlace() ? 0 : perPixel;
  // Maximum number of pixels in a part: the data that is copied for a part must stay in the cache.
  const int64_t limit = copied ? std::clamp(near / 2 / copied, kSome, kMany) : kMany;
  // With kEnough pixels for each thread, the computation takes at least as long as reading all
  // weights from memory.
  const bool isFew = threads > 1 && shape.batch * all < threads * kEnough;
  sharesPixels = isFew && request.pairs() >= threads && shape.batch * all * copied <= near;
  imageParts = (all + limit - 1) / limit;
  // If there are few units of work, make their number a multiple of the number of threads.
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

PixelRange WorkPartition::part(const Convolution &request, int64_t index) const {
  const Shape &shape = request.shape;
  const int64_t first = index % imageParts * pixels,
                count = std::min(pixels, request.positions() - first);
  const int64_t top = first / shape.outWidth, bottom = (first + count - 1) / shape.outWidth;
  auto meetsImage = [&](int64_t ky) {
    for (int64_t row = top; row <= bottom; ++row)
      if (int64_t y = row * shape.strideY - shape.top + ky * shape.dilationY;
          y >= 0 && y < shape.inHeight)
        return true;
    return false;
  };
  // Keep at least one row of the window, so that the sums are set to 0.
  int64_t begin = 0, end = shape.windowHeight;
  while (begin + 1 < end && !meetsImage(begin))
    ++begin;
  while (begin + 1 < end && !meetsImage(end - 1))
    --end;
  return {index / imageParts, first, count, begin, end};
}

double WorkPartition::windowPart(const Convolution &request) const {
  double rows = 0;
  for (int64_t index = 0; index < imageParts; ++index) {
    const PixelRange part = this->part(request, index);
    rows +=
        static_cast<double>(part.windowEnd - part.windowBegin) * static_cast<double>(part.count);
  }
  return rows / static_cast<double>(request.shape.windowHeight * request.positions());
}

} // namespace dlc::direct
