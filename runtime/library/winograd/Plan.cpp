//===- Plan.cpp - work partition of a Winograd convolution ----------------===//
#include "runtime/library/winograd/Plan.h"

#include "runtime/device/cpu/Features.h"

#include <algorithm>

namespace dlc::winograd {

using nlohmann::json;

namespace {

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Returns the size of equal parts of at most `limit` items. The number of parts is a multiple of
/// `multiple` if there are enough items.
int64_t computePartSize(int64_t count, int64_t limit, int64_t multiple) {
  int64_t parts = (count + limit - 1) / limit;
  parts = std::min(roundUp(parts, multiple), count);
  return (count + parts - 1) / parts;
}

} // namespace

Convolution Convolution::parse(const json &desc) {
  const auto fields = schema::WinogradConvolution::read(desc, "winograd");
  schema::WindowFields square;
  square.library = fields.library;
  square.window = {fields.window, fields.window};
  square.pads = fields.pads;
  auto images = describe::SlidingWindow::of(fields, fields.src, fields.dst);
  images.slide(fields, describe::Window::of(square, images.rank()));
  Convolution request;
  static_cast<describe::Convolution &>(request) = {fields, std::move(images)};
  request.isGradient = fields.kind == schema::WinogradKind::WeightGradient;
  request.lanes = static_cast<int>(fields.block);
  request.outputs = static_cast<int>(fields.tile);
  request.side = static_cast<int>(fields.window);
  if (request.side % 2 != 1)
    fields.complain("'window' must be 3 or 5");
  if (request.rank() != 2 || request.channels % request.lanes != 0 ||
      request.features % request.lanes != 0)
    fields.complain("required: two spatial dimensions and channels that are a multiple of ",
                    request.lanes, "; found: ", request.channels, " and ", request.features);
  request.channelsLast = fields.channelsLast;
  request.isTransposed = fields.isTransposed;
  request.isPacked = fields.packed;
  request.hasBias = fields.bias;
  request.steps = describe::parseSteps(fields.steps);
  Shape &shape = request.shape;
  shape.batch = request.batch;
  shape.inBlocks = request.channels / request.lanes;
  shape.outBlocks = request.features / request.lanes;
  shape.inHeight = request.src[0], shape.inWidth = request.src[1];
  shape.outHeight = request.dst[0], shape.outWidth = request.dst[1];
  shape.top = request.window.low[0], shape.left = request.window.low[1];
  shape.tileRows = (shape.outHeight + request.outputs - 1) / request.outputs;
  shape.tileCols = (shape.outWidth + request.outputs - 1) / request.outputs;
  shape.channelsLast = request.channelsLast;
  request.hasStatistics = fields.statistics;
  if (request.hasStatistics && request.isGradient)
    fields.complain("'statistics' are only valid for a convolution, not for a gradient of weights");
  return request;
}

int64_t pointStep(int64_t vectors, int lanes) { return (vectors | 1) * lanes; }

PointWeights Convolution::weightsAt(float *memory) const {
  if (isGradient)
    return {memory, pointStep(shape.outBlocks * channels, lanes), 2 * channels * lanes};
  int64_t point = pointStep((shape.outBlocks > 1 ? 2 : 1) * channels, lanes);
  return {memory, point, points() * point};
}

int64_t Convolution::pointWeightElements() const {
  PointWeights steps = weightsAt(nullptr);
  return isGradient ? points() * steps.point : (shape.outBlocks + 1) / 2 * steps.pair;
}

WorkPartition::WorkPartition(const Convolution &request, int threads) {
  const Shape &shape = request.shape;
  int64_t near = runtime::getPrivateCacheBytes() / 4, lanes = request.lanes,
          points = request.points();
  int64_t all = shape.tiles(), weightElements = request.pointWeightElements();
  int64_t blocks = shape.inBlocks + (request.isGradient ? shape.outBlocks : 0);
  int64_t perTile = points * blocks * lanes;
  constexpr int64_t kFew = 14, kSome = 28, kShared = 64, kMany = 112;
  // Maximum number of tiles whose data fits in the cache together with the weights and the products
  // (or the gradient).
  int64_t limit = std::clamp(near * 5 / 32 / perTile, kSome, kMany);
  if (request.isGradient) {
    sharesTiles = weightElements * threads > 4 * near;
    tiles = sharesTiles ? computePartSize(all, kShared, 1) : computePartSize(all, limit, threads);
  } else {
    sharesTiles = threads > 1 && all < threads * kSome && shape.outBlocks >= 2 * threads &&
                  (weightElements > near || all < threads * kFew);
    tiles = sharesTiles ? all : computePartSize(all, limit, threads);
    int64_t perBlock = points * tiles * lanes;
    // The weights of two output blocks are contiguous for all points, which is the best order to
    // read them from memory.
    outBlocks = sharesTiles || weightElements > near
                    ? 2
                    : std::clamp(near / 8 / perBlock & ~int64_t(1), int64_t(2),
                                 roundUp(shape.outBlocks, 2));
  }
  int64_t users = sharesTiles ? 1 : threads;
  int64_t end = 0;
  auto take = [&](int64_t elements, int64_t count) {
    int64_t at = end;
    end += roundUp(elements, 16) * count;
    return at;
  };
  weightParts = request.isGradient ? static_cast<int>(users) : 1;
  weightsStep = roundUp(weightElements, 16);
  weights = take(request.isPacked ? 0 : weightElements, weightParts);
  int64_t dataElements = points * pointStep(tiles * shape.inBlocks, request.lanes);
  int64_t otherBlocks = request.isGradient ? shape.outBlocks : outBlocks;
  int64_t otherElements = points * pointStep(tiles * otherBlocks, request.lanes);
  dataStep = roundUp(dataElements, 16);
  otherStep = roundUp(otherElements, 16);
  data = take(dataElements, users);
  other = take(otherElements, request.isGradient ? users : threads);
  sumsStep = kSums * request.features;
  sums = take(request.hasStatistics ? parts(shape) * sumsStep : 0, 1);
  scratch = end;
}

} // namespace dlc::winograd
