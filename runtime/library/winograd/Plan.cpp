//===- Plan.cpp - how a Winograd convolution is cut up --------------------------===//
#include "runtime/library/winograd/Plan.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/library/describe/Fields.h"
#include "runtime/program/Message.h"

#include <algorithm>

namespace dlc::winograd {

using nlohmann::json;
using runtime::fail;

namespace {

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Parts of equal size, at most `limit`, as many as `multiple` divides where that is possible.
int64_t evenPart(int64_t count, int64_t limit, int64_t multiple) {
  int64_t parts = (count + limit - 1) / limit;
  parts = std::min(roundUp(parts, multiple), count);
  return (count + parts - 1) / parts;
}

} // namespace

Request Request::parse(const json &desc) {
  Request request;
  const describe::Fields fields(desc, "winograd");
  std::string kind = fields.kind();
  if (kind != "convolution" && kind != "convolution_weights")
    fail("winograd: 'kind' must be convolution or convolution_weights, found ", kind);
  request.isGradient = kind == "convolution_weights";
  request.lanes = static_cast<int>(fields.integer("block", 8, 16));
  request.outputs = static_cast<int>(fields.integer("tile", 2, 4));
  request.window = static_cast<int>(fields.integer("window", 3, 5));
  if (request.lanes % 8 != 0 || request.outputs % 2 != 0 || request.window % 2 != 1)
    fail("winograd: 'block' must be 8 or 16, 'tile' 2 or 4, 'window' 3 or 5");
  std::vector<int64_t> src = fields.integers("src", 4, 1), dst = fields.integers("dst", 4, 1),
                       pads = fields.integers("pads", 2, -describe::kMaxSize);
  if (src[0] != dst[0] || src[1] % request.lanes != 0 || dst[1] % request.lanes != 0)
    fail("winograd: one batch and whole blocks of ", request.lanes, " channels required, found ",
         runtime::listed(src), " and ", runtime::listed(dst));
  Shape &shape = request.shape;
  shape.batch = src[0];
  shape.inBlocks = src[1] / request.lanes;
  shape.outBlocks = dst[1] / request.lanes;
  shape.inHeight = src[2], shape.inWidth = src[3];
  shape.outHeight = dst[2], shape.outWidth = dst[3];
  shape.top = pads[0], shape.left = pads[1];
  shape.tileRows = (dst[2] + request.outputs - 1) / request.outputs;
  shape.tileCols = (dst[3] + request.outputs - 1) / request.outputs;
  shape.channelsLast = fields.flag("channels_last");
  request.turned = fields.flag("turned");
  request.packed = fields.flag("packed");
  request.hasBias = fields.flag("bias");
  request.hasStatistics = fields.flag("statistics");
  if (request.hasStatistics && request.isGradient)
    fail("winograd: 'statistics' are those of a convolution's results, not of a gradient of "
         "weights");
  request.steps = fields.steps();
  return request;
}

int64_t Request::sourceElements() const {
  return shape.batch * channels() * shape.inHeight * shape.inWidth;
}

int64_t Request::resultElements() const {
  return shape.batch * results() * shape.outHeight * shape.outWidth;
}

int64_t pointStep(int64_t vectors, int lanes) { return (vectors | 1) * lanes; }

PointWeights Request::weightsAt(float *memory) const {
  if (isGradient)
    return {memory, pointStep(shape.outBlocks * channels(), lanes), 2 * channels() * lanes};
  int64_t point = pointStep((shape.outBlocks > 1 ? 2 : 1) * channels(), lanes);
  return {memory, point, points() * point};
}

int64_t Request::pointWeightElements() const {
  PointWeights steps = weightsAt(nullptr);
  return isGradient ? points() * steps.point : (shape.outBlocks + 1) / 2 * steps.pair;
}

Plan::Plan(const Request &request, int threads) {
  const Shape &shape = request.shape;
  int64_t near = runtime::nearBytes() / 4, lanes = request.lanes, points = request.points();
  int64_t all = shape.tiles(), weightElements = request.pointWeightElements();
  int64_t blocks = shape.inBlocks + (request.isGradient ? shape.outBlocks : 0);
  int64_t perTile = points * blocks * lanes;
  constexpr int64_t kFew = 14, kSome = 28, kShared = 64, kMany = 112;
  // Of data: weights, and products or the gradient, pass through the same cache.
  int64_t limit = std::clamp(near * 5 / 32 / perTile, kSome, kMany);
  if (request.isGradient) {
    sharesTiles = weightElements * threads > 4 * near;
    tiles = sharesTiles ? evenPart(all, kShared, 1) : evenPart(all, limit, threads);
  } else {
    sharesTiles = threads > 1 && all < threads * kSome && shape.outBlocks >= 2 * threads &&
                  (weightElements > near || all < threads * kFew);
    tiles = sharesTiles ? all : evenPart(all, limit, threads);
    int64_t perBlock = points * tiles * lanes;
    // Two have their weights at all points in one piece, as memory likes to be read.
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
  weights = take(request.packed ? 0 : weightElements, weightParts);
  int64_t dataElements = points * pointStep(tiles * shape.inBlocks, request.lanes);
  int64_t otherBlocks = request.isGradient ? shape.outBlocks : outBlocks;
  int64_t otherElements = points * pointStep(tiles * otherBlocks, request.lanes);
  dataStep = roundUp(dataElements, 16);
  otherStep = roundUp(otherElements, 16);
  data = take(dataElements, users);
  other = take(otherElements, request.isGradient ? users : threads);
  sumsStep = kSums * request.results();
  sums = take(request.hasStatistics ? parts(shape) * sumsStep : 0, 1);
  scratch = end;
}

} // namespace dlc::winograd
