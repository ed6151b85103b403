//===- WeightGradient.cpp - weight gradient of a convolution in bf16 on tiles -===//
//
// Positions are the pixels of diff_dst in row-major order, with padding after each row where
// diff_dst is 0. The rows of src are padded to the same length, so another tap of the window reads
// src at an offset of some positions. Tiles take the positions of src in pairs. Taps with an odd
// offset therefore have their own packed image, whose pairs begin one position later, and so has
// each phase of the strides. A group of positions is an image of the batch; if the window is one
// pixel, it is a run of pixels of any length.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/tiles/WeightGradient.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/tiles/Pairs.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstring>

namespace dlc::tiles {

using nlohmann::json;
using products::upTo;
using runtime::fail;

WeightGradient WeightGradient::parse(const json &desc) {
  const auto fields = schema::TilesWeightGradient::read(desc, "tiles");
  auto images = describe::SlidingWindow::of(fields, fields.src, fields.diffDst, "diff_dst");
  images.slide(fields, describe::Window::of(fields, images.rank()));
  WeightGradient g;
  static_cast<describe::Convolution &>(g) = {fields, std::move(images)};
  const describe::Window &window = g.window;
  if (g.rank() != 2 || window.low[0] < 0 || window.low[1] < 0)
    fields.complain("required: two spatial dimensions and no negative padding");
  // Position numbers must fit in 32 bits.
  __int128 most = (__int128(g.dst[0]) + window.sizes[0] * __int128(window.dilations[0])) *
                  (__int128(g.dst[1]) + window.sizes[1] * __int128(window.dilations[1]));
  if (std::max<__int128>(most, g.pixels()) > (__int128(1) << 28))
    fields.complain("images are too large");
  return g;
}

namespace {

/// kRun is the number of positions in a group if the window is one pixel. kMinSteps is the
/// minimum number of steps in a slab, since loading and storing the sums costs as much as a few
/// steps.
constexpr int64_t kRun = 512, kMinSteps = 16;
/// Capacity for packed pixels in the L2 cache of each thread, in bytes.
constexpr int64_t kSlabBytes = 1 << 20;
constexpr int64_t kSums = kBlock * kBlock, kPairs = kDepth / 2;

class WeightGradientCall : public runtime::LibraryCall {
public:
  WeightGradientCall(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return "tiles:gradient:bf16"; }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(sumBytes + slab * (leftGroup + rightGroup));
  }

private:
  /// Pixels of src that are packed in pairs for some taps of the window: those with the same
  /// position (y, x) modulo the strides, and with an even or an odd offset (`odd`).
  struct Picture {
    int64_t y, x, odd;
    std::vector<int32_t> pixels;
  };

  /// Returns the number of work items that pack one group.
  int64_t packs() const {
    return static_cast<int64_t>(pictures.size()) * ((pairs + kPairs - 1) / kPairs) +
           places / kDepth;
  }
  void checkBuffers(std::span<const runtime::BufferInfo> buffers) const;
  void planPlaces();
  void planPictures();
  void planSlab();
  void pack(int64_t index, int64_t first, const uint16_t *src, const uint16_t *diff, char *left,
            char *right) const;
  void sumUp(int64_t unit, int64_t first, const char *left, const char *right, float *sums) const;
  void write(int64_t feature, const float *sums, float *dst) const;

  WeightGradient g;
  int threads;
  int64_t groups = 0, groupPixels = 0, groupDiff = 0; ///< strides between two groups, in pixels
  int64_t places = 0, pitch = 0, reach[2] = {};
  std::vector<int32_t> diffPixels;
  std::vector<Picture> pictures;
  /// For each tap: its picture, and its first pixel pair in the picture.
  std::vector<int64_t> tapPicture, tapPair;
  int64_t pairs = 0; ///< number of pairs in a picture
  int64_t rightRow = 0, leftStep = 0, leftBlock = 0, rightBlock = 0; ///< strides in bytes
  int64_t leftGroup = 0, rightGroup = 0, slab = 1, sumBytes = 0;
};

WeightGradientCall::WeightGradientCall(const json &desc,
                                       std::span<const runtime::BufferInfo> buffers, int threads)
    : g(WeightGradient::parse(desc)), threads(std::max(1, threads)) {
  if (!isAvailable())
    fail("tiles: this processor has no AMX tiles for bf16; compile the model on this machine");
  checkBuffers(buffers);
  planPlaces();
  planPictures();
  planSlab();
}

void WeightGradientCall::checkBuffers(std::span<const runtime::BufferInfo> buffers) const {
  describe::BufferChecker given(buffers, "tiles");
  given.need("src", g.sourceElements(), 2);
  given.need("diff_dst", g.resultElements(), 2);
  given.need("dst", g.weightElements(), sizeof(float), true);
  given.end();
}

void WeightGradientCall::planPlaces() {
  if (g.isPoint()) {
    int64_t all = g.batch * g.src[0] * g.src[1];
    places = std::min(kRun, upTo(all, kDepth));
    groups = (all + places - 1) / places;
    groupPixels = groupDiff = places;
    pitch = places;
    for (int64_t place = 0; place < places; ++place)
      diffPixels.push_back(static_cast<int32_t>(place));
    return;
  }
  groups = g.batch;
  groupPixels = g.src[0] * g.src[1];
  groupDiff = g.dst[0] * g.dst[1];
  for (int d : {0, 1})
    reach[d] = (g.window.sizes[d] - 1) * g.window.dilations[d] / g.window.strides[d];
  // Number of padding positions that adjacent rows share: the trailing padding of a row is also the
  // leading padding of the next row.
  int64_t shared = 0;
  if (g.window.strides[1] == 1)
    shared = std::max<int64_t>(
        0, std::min({g.window.low[1], g.dst[1] + reach[1] - g.window.low[1] - g.src[1], reach[1]}));
  pitch = g.dst[1] + reach[1] - shared;
  places = upTo(g.dst[0] * pitch, kDepth);
  for (int64_t place = 0; place < places; ++place) {
    int64_t y = place / pitch, x = place % pitch;
    diffPixels.push_back(y < g.dst[0] && x < g.dst[1] ? static_cast<int32_t>(y * g.dst[1] + x)
                                                      : -1);
  }
}

void WeightGradientCall::planPictures() {
  int64_t last = 0;
  for (int64_t r = 0; r < g.window.sizes[0]; ++r)
    for (int64_t s = 0; s < g.window.sizes[1]; ++s) {
      int64_t y = r * g.window.dilations[0], x = s * g.window.dilations[1];
      int64_t away = y / g.window.strides[0] * pitch + x / g.window.strides[1];
      Picture picture{y % g.window.strides[0], x % g.window.strides[1], away % 2, {}};
      auto found = std::find_if(pictures.begin(), pictures.end(), [&](const Picture &known) {
        return known.y == picture.y && known.x == picture.x && known.odd == picture.odd;
      });
      tapPicture.push_back(found - pictures.begin());
      tapPair.push_back(away / 2);
      last = std::max(last, away / 2);
      if (found == pictures.end())
        pictures.push_back(picture);
    }
  pairs = places / 2 + last;
  for (Picture &picture : pictures)
    for (int64_t place = picture.odd; place < 2 * pairs + picture.odd; ++place) {
      int64_t y = place / pitch * g.window.strides[0] + picture.y - g.window.low[0];
      int64_t x = place % pitch * g.window.strides[1] + picture.x - g.window.low[1];
      bool inside = y >= 0 && y < g.src[0] && x >= 0 && x < g.src[1];
      picture.pixels.push_back(g.isPoint() ? static_cast<int32_t>(place)
                               : inside    ? static_cast<int32_t>(y * g.src[1] + x)
                                           : -1);
    }
}

void WeightGradientCall::planSlab() {
  int64_t steps = places / kDepth;
  rightRow = g.channels > kBlock / 2 ? 128 : 64;
  leftStep = g.features > kBlock / 2 ? kPartBytes : kPartBytes / 2;
  leftBlock = steps * leftStep;
  rightBlock = pairs * rightRow;
  leftGroup = blocks(g.features) * leftBlock;
  rightGroup = static_cast<int64_t>(pictures.size()) * blocks(g.channels) * rightBlock;
  int64_t least = (kMinSteps + steps - 1) / steps;
  slab = std::min(groups, std::max(least, kSlabBytes * threads / (leftGroup + rightGroup)));
  sumBytes = blocks(g.features) * blocks(g.channels) * g.window.taps() * kSums * 4;
}

/// Packs 16 pixel pairs of a group of positions, from one picture of src or from diff_dst.
void WeightGradientCall::pack(int64_t index, int64_t first, const uint16_t *src,
                              const uint16_t *diff, char *left, char *right) const {
  int64_t group = index / packs(), which = index % packs();
  int64_t each = (pairs + kPairs - 1) / kPairs, source = first + group;
  int64_t picture = which / each, block = which % each;
  PixelPairs run;
  if (picture < static_cast<int64_t>(pictures.size())) {
    run.from = src + source * groupPixels * g.channels;
    run.channels = g.channels;
    run.pixels = pictures[static_cast<size_t>(picture)].pixels.data() + 2 * block * kPairs;
    run.limit = g.batch * g.src[0] * g.src[1] - source * groupPixels;
    run.pairs = std::min(kPairs, pairs - block * kPairs);
    run.more = (block + 2) * kPairs <= pairs;
    packPairs(run, rightRow, rightBlock,
              right + group * rightGroup + picture * blocks(g.channels) * rightBlock +
                  block * kPairs * rightRow);
    return;
  }
  block = which - static_cast<int64_t>(pictures.size()) * each;
  run.from = diff + source * groupDiff * g.features;
  run.channels = g.features;
  run.pixels = diffPixels.data() + 2 * block * kPairs;
  run.limit = g.batch * g.dst[0] * g.dst[1] - source * groupDiff;
  run.pairs = kPairs;
  run.more = (block + 1) * kDepth < places;
  packTransposed(run, leftStep == kPartBytes, leftBlock,
                 left + group * leftGroup + block * leftStep);
}

/// Computes the sums over all positions of a slab, for one tap, one block of features and one block
/// of channels.
void WeightGradientCall::sumUp(int64_t unit, int64_t first, const char *left, const char *right,
                               float *sums) const {
  int64_t columns = blocks(g.channels), tap = unit % g.window.taps(),
          column = unit / g.window.taps() % columns, row = unit / g.window.taps() / columns;
  auto at = static_cast<size_t>(tap);
  PixelSums product;
  product.left = left + row * leftBlock;
  product.right = right + (tapPicture[at] * columns + column) * rightBlock + tapPair[at] * rightRow;
  product.leftStep = leftStep;
  product.leftGroup = leftGroup;
  product.rightRow = rightRow;
  product.rightGroup = rightGroup;
  product.groups = std::min(slab, groups - first);
  product.steps = places / kDepth;
  product.isFirst = first == 0;
  product.tall = g.features - row * kBlock > kBlock / 2;
  product.wide = g.channels - column * kBlock > kBlock / 2;
  sumPixels(product, sums + unit * kSums);
}

void WeightGradientCall::write(int64_t feature, const float *sums, float *dst) const {
  int64_t columns = blocks(g.channels), taps = g.window.taps();
  const float *row = sums + feature / kBlock * columns * taps * kSums + feature % kBlock * kBlock;
  float *to = dst + feature * g.channels * taps;
  for (int64_t column = 0; column < columns; ++column, row += taps * kSums) {
    int64_t channels = std::min(kBlock, g.channels - column * kBlock);
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        *to++ = row[tap * kSums + c];
  }
}

void WeightGradientCall::execute(void *const *buffers, const runtime::CallContext &context) {
  const auto *src = static_cast<const uint16_t *>(buffers[0]);
  const auto *diff = static_cast<const uint16_t *>(buffers[1]);
  auto *scratch = static_cast<char *>(context.scratch);
  auto *sums = reinterpret_cast<float *>(scratch);
  char *left = scratch + sumBytes, *right = left + slab * leftGroup;
  int64_t units = blocks(g.channels) * blocks(g.features) * g.window.taps();
  for (int64_t first = 0; first < groups; first += slab) {
    int64_t some = std::min(slab, groups - first);
    runtime::parallelFor(threads, some * packs(), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t index = begin; index < end; ++index)
        pack(index, first, src, diff, left, right);
    });
    runtime::parallelFor(threads, units, 1, [&](int64_t begin, int64_t end, int) {
      configureTiles();
      for (int64_t unit = begin; unit < end; ++unit)
        sumUp(unit, first, left, right, sums);
      releaseTiles();
    });
  }
  auto *dst = static_cast<float *>(buffers[2]);
  runtime::parallelFor(threads, g.features, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t feature = begin; feature < end; ++feature)
      write(feature, sums, dst);
  });
}

} // namespace

std::unique_ptr<runtime::LibraryCall>
makeWeightGradient(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads) {
  return std::make_unique<WeightGradientCall>(desc, buffers, threads);
}

} // namespace dlc::tiles
