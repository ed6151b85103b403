//===- Convolution.cpp - f32 convolution on tiles: description and call ---===//
//
// Pixels are split into bf16 parts once, with a row of 64 bytes for each 32 channels. A tile's rows
// are then adjacent pixels, and another tap of the window is the same tile at an offset of some
// rows, so there is no im2col. With strides, the pixels that a tap reads for adjacent results are
// packed together in an image of their own (a phase). The packed images are padded: positions after
// a row's last result are computed and discarded. Rows share this padding where possible.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/tiles/Convolution.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstring>

namespace dlc::tiles {

using nlohmann::json;
using runtime::fail;

namespace {

/// Capacity for packed pixels in the L2 cache of each thread, in bytes.
constexpr int64_t kSlabBytes = 1 << 20;

} // namespace

Convolution Convolution::parse(const json &desc) {
  return of(schema::TilesConvolution::read(desc, "tiles"));
}

Convolution Convolution::of(const schema::TilesConvolution &fields) {
  auto images = describe::SlidingWindow::of(fields, fields.src, fields.dst);
  images.slide(fields, describe::Window::of(fields, images.rank()));
  Convolution c;
  static_cast<describe::Convolution &>(c) = {fields, std::move(images)};
  if (c.rank() != 2 || c.window.low[0] < 0 || c.window.low[1] < 0)
    fields.complain("required: two spatial dimensions and no negative padding");
  c.parts = static_cast<int>(fields.parts);
  c.isTransposed = fields.isTransposed;
  c.isPacked = fields.weights == schema::WeightsForm::Packed;
  c.hasBias = fields.bias;
  c.posts = describe::PostOps::of(fields, fields.postOps, 1, 2);
  return c;
}

bool Convolution::unfoldsRows() const {
  return window.sizes[1] > 1 && window.dilations[1] == 1 && !isTransposed &&
         window.sizes[1] * channels <= kDepth;
}

int64_t Convolution::reach(int dim) const {
  return (taps(dim) - 1) * window.dilations[dim] / window.strides[dim];
}

int64_t Convolution::sharedPlaces() const {
  if (unfoldsRows() || window.strides[1] != 1)
    return 0;
  int64_t behind = dst[1] + reach(1) - window.low[1] - src[1];
  return std::max<int64_t>(0, std::min({window.low[1], behind, reach(1)}));
}

Convolution::Range Convolution::liveTaps(int dim, int64_t first, int64_t last) const {
  if (dim == 1 && unfoldsRows())
    return {0, 1};
  int64_t dilation = window.dilations[dim], from = first * window.strides[dim] - window.low[dim],
          to = last * window.strides[dim] - window.low[dim];
  Range live;
  // Tap t reads the pixels from `from` + t · dilation to `to` + t · dilation.
  while (live.begin < taps(dim) && to + live.begin * dilation < 0)
    ++live.begin;
  live.end = live.begin;
  while (live.end < taps(dim) && from + live.end * dilation < src[dim])
    ++live.end;
  return live;
}

uint64_t Convolution::packedBytes() const {
  return static_cast<uint64_t>(taps()) * tiles::packedBytes(depth(), features, parts);
}

void Convolution::packWeights(const float *weights, void *packed, int threads) const {
  int64_t area = window.taps(), n = features;
  int64_t bytes = blocks(depth()) * parts * kPartBytes;
  runtime::parallelFor(threads, taps() * blocks(n), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t tap = unit / blocks(n), first = unit % blocks(n) * kBlock;
      int64_t lanes = std::min(kBlock, n - first);
      char *to = static_cast<char *>(packed) + (first / kBlock * taps() + tap) * bytes;
      if (unfoldsRows()) {
        float row[kDepth * kBlock];
        for (int64_t s = 0; s < window.sizes[1]; ++s)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t o = 0; o < lanes; ++o)
              row[(s * channels + c) * kBlock + o] =
                  weights[((first + o) * channels + c) * area + tap * window.sizes[1] + s];
        packRight(row, 1, kBlock, lanes, depth(), parts, to);
      } else if (isTransposed) {
        packRight(weights + first * area + (area - 1 - tap), area, n * area, lanes, channels, parts,
                  to);
      } else {
        packRight(weights + first * channels * area + tap, channels * area, area, lanes, channels,
                  parts, to);
      }
    }
  });
}

namespace {

class TilesConvolutionCall : public runtime::LibraryCall {
public:
  TilesConvolutionCall(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override {
    return "tiles:conv:bf16x" + std::string(c.parts == 3 ? "6" : c.parts == 2 ? "3" : "1");
  }
  uint64_t scratchBytes() const override { return weightBytes + slabBytes; }

private:
  /// Range of result rows that is packed and multiplied at a time: several complete images, or some
  /// rows of one image.
  struct Slab {
    int64_t image = 0, images = 1, row = 0, rows = 0;
  };

  void checkBuffers(std::span<const runtime::BufferInfo> buffers) const;
  void planPhases();
  void planSlabs();
  void planUnits();
  std::vector<uint8_t> liveTaps(const Slab &slab) const;
  void packRow(const float *src, const Slab &slab, int64_t index, char *left) const;
  void packSpans(const float *row, char *to) const;
  void run(const Slab &slab, const char *left, const char *right, float *dst,
           const Epilogue &epilogue) const;

  Convolution c;
  int threads;
  int64_t steps = 0, reach[2] = {}, pitch = 0, shared = 0; ///< cached values of c's methods
  struct Phase {
    int64_t y, x;
    bool operator==(const Phase &) const = default;
  };
  std::vector<Phase> phases;
  std::vector<int64_t> tapPhase, tapPlace; ///< for each tap: its phase and its offset in positions
  std::vector<int64_t> tapBytes;
  int64_t imageRows = 0; ///< packed rows of an image in a slab
  Slab most;             ///< largest slab
  int64_t places = 0, partStride = 0, phaseStride = 0;
  std::vector<int32_t> pixel; ///< result pixel of each position of the largest slab, or -1
  std::vector<std::vector<uint8_t>> slabTaps; ///< live taps, by the index of the slab in its image
  int64_t rowGroups = 1, columnGroups = 1;
  uint64_t weightBytes = 0, slabBytes = 0;
};

TilesConvolutionCall::TilesConvolutionCall(const json &desc,
                                           std::span<const runtime::BufferInfo> buffers,
                                           int threads)
    : c(Convolution::parse(desc)), threads(std::max(1, threads)) {
  if (!isAvailable())
    fail("tiles: this processor has no AMX tiles for bf16; compile the model on this machine");
  steps = blocks(c.depth());
  checkBuffers(buffers);
  planPhases();
  planSlabs();
  planUnits();
  for (int64_t row = 0; row < c.dst[0]; row += most.rows)
    slabTaps.push_back(liveTaps({0, most.images, row, std::min(most.rows, c.dst[0] - row)}));
  weightBytes = c.isPacked ? 0 : (c.packedBytes() + 63) / 64 * 64;
  slabBytes = static_cast<uint64_t>(phaseStride) * phases.size();
}

void TilesConvolutionCall::checkBuffers(std::span<const runtime::BufferInfo> buffers) const {
  describe::BufferChecker given(buffers, "tiles");
  given.need("src", c.sourceElements(), sizeof(float));
  if (c.isPacked)
    given.need("weights", 1, c.packedBytes());
  else
    given.need("weights", c.weightElements(), sizeof(float));
  if (c.hasBias)
    given.need("bias", c.features, sizeof(float));
  given.need("dst", c.resultElements(), sizeof(float), true);
  const int64_t dims[] = {c.batch * c.positions(), c.features};
  for (const auto &strides : c.posts.operandStrides)
    given.need("post_ops", describe::computeExtent(dims, strides), sizeof(float));
  given.end();
}

void TilesConvolutionCall::planPhases() {
  bool unfolds = c.unfoldsRows();
  int64_t columns = c.taps(1);
  for (int64_t r = 0; r < c.window.sizes[0]; ++r)
    for (int64_t s = 0; s < columns; ++s) {
      int64_t y = r * c.window.dilations[0], x = s * c.window.dilations[1];
      Phase phase{y % c.window.strides[0], unfolds ? 0 : x % c.window.strides[1]};
      auto found = std::find(phases.begin(), phases.end(), phase);
      tapPhase.push_back(found - phases.begin());
      if (found == phases.end())
        phases.push_back(phase);
    }
  reach[0] = c.reach(0), reach[1] = c.reach(1);
  shared = c.sharedPlaces(), pitch = c.pitch();
  for (int64_t r = 0; r < c.window.sizes[0]; ++r)
    for (int64_t s = 0; s < columns; ++s)
      tapPlace.push_back(r * c.window.dilations[0] / c.window.strides[0] * pitch +
                         s * c.window.dilations[1] / c.window.strides[1]);
}

void TilesConvolutionCall::planSlabs() {
  int64_t bytes = static_cast<int64_t>(phases.size()) * steps * c.parts * kPixelBytes;
  int64_t rows = std::max<int64_t>(1, kSlabBytes * threads / (bytes * pitch));
  int64_t whole = c.dst[0] + reach[0];
  if (rows >= whole) {
    most = {0, std::min(c.batch, rows / whole), 0, c.dst[0]};
  } else {
    // Each slab packs the rows that its window reaches again, so a slab has at least twice as many
    // result rows, or all of them.
    int64_t each = std::max({int64_t(1), rows - reach[0], std::min(2 * reach[0], c.dst[0])});
    int64_t slabs = (c.dst[0] + each - 1) / each;
    most = {0, 1, 0, (c.dst[0] + slabs - 1) / slabs};
  }
  imageRows = most.rows + reach[0];
  // Number of packed positions with padding. A tile may extend past the last position, and so may
  // the padding of the last row.
  places = most.images * imageRows * pitch + shared + reach[1] + kBlock;
  partStride = places * kPixelBytes;
  phaseStride = steps * c.parts * partStride;
  for (size_t tap = 0; tap < tapPlace.size(); ++tap)
    tapBytes.push_back(tapPhase[tap] * phaseStride + tapPlace[tap] * kPixelBytes);
  int64_t last = ((most.images - 1) * imageRows + most.rows - 1) * pitch + c.dst[1];
  pixel.assign(static_cast<size_t>(last), -1);
  for (int64_t image = 0; image < most.images; ++image)
    for (int64_t y = 0; y < most.rows; ++y)
      for (int64_t x = 0; x < c.dst[1]; ++x)
        pixel[static_cast<size_t>((image * imageRows + y) * pitch + x)] =
            static_cast<int32_t>((image * most.rows + y) * c.dst[1] + x);
}

/// Computes for each block of positions and each tap whether the tap reads anything other than
/// padding. `slab` has the maximum number of images. In a slab with fewer images, an additional
/// live tap of the last block does no harm.
std::vector<uint8_t> TilesConvolutionCall::liveTaps(const Slab &slab) const {
  int64_t last = ((slab.images - 1) * imageRows + slab.rows - 1) * pitch + c.dst[1];
  int64_t columns = c.taps(1);
  std::vector<uint8_t> live(static_cast<size_t>(blocks(last) * c.taps()), 0);
  for (int64_t block = 0; block < blocks(last); ++block) {
    int64_t place = block * kBlock, end = std::min(place + kBlock, last) - 1;
    int64_t y0 = place / pitch, y1 = end / pitch;
    Convolution::Range rows{0, c.window.sizes[0]}, across{0, columns};
    if (y0 / imageRows == y1 / imageRows) {
      int64_t first = std::min(y0 % imageRows, slab.rows - 1);
      rows = c.liveTaps(0, slab.row + first, slab.row + std::min(y1 % imageRows, slab.rows - 1));
      if (y0 == y1)
        across = c.liveTaps(1, std::min(place % pitch, c.dst[1] - 1),
                            std::min(end % pitch, c.dst[1] - 1));
    }
    uint8_t *at = live.data() + block * c.taps();
    for (int64_t r = rows.begin; r < rows.end; ++r)
      std::fill(at + r * columns + across.begin, at + r * columns + across.end, 1);
  }
  return live;
}

/// Divides the rows and columns of the matmul into groups for the threads, so that each part of the
/// larger operand is read by only one thread.
void TilesConvolutionCall::planUnits() {
  int64_t rows = blocks(static_cast<int64_t>(pixel.size())), columns = blocks(c.features);
  if (rows > columns * c.taps()) {
    rowGroups = std::min<int64_t>(threads, rows);
    columnGroups = std::clamp<int64_t>(threads / rowGroups, 1, columns);
  } else {
    columnGroups = std::min<int64_t>(threads, columns);
    rowGroups = std::clamp<int64_t>(threads / columnGroups, 1, rows);
  }
}

/// Packs the window row of each result, a span of adjacent pixels, as one packed pixel. A span that
/// crosses the image's border is first copied with zero padding.
void TilesConvolutionCall::packSpans(const float *row, char *to) const {
  int64_t span = c.window.sizes[1] * c.channels, step = c.window.strides[1];
  for (int64_t x = 0; x < c.dst[1];) {
    int64_t from = x * step - c.window.low[1], behind = from + c.window.sizes[1];
    char *at = to + x * kPixelBytes;
    if (from >= 0 && behind <= c.src[1]) {
      int64_t some = std::min(c.dst[1] - x, (c.src[1] - behind) / step + 1);
      packPixels({row + from * c.channels, step * c.channels, span, some}, c.parts, at,
                 c.parts * partStride, partStride);
      x += some;
      continue;
    }
    float copy[kDepth] = {};
    int64_t first = std::max<int64_t>(0, -from),
            last = std::min(c.window.sizes[1], c.src[1] - from);
    if (first < last)
      std::memcpy(copy + first * c.channels, row + (from + first) * c.channels,
                  static_cast<size_t>((last - first) * c.channels) * sizeof(float));
    packPixels({copy, 0, span, 1}, c.parts, at, c.parts * partStride, partStride);
    ++x;
  }
}

/// Packs one row of one phase of the source image. The last row includes the padding that other
/// rows share with their next row.
void TilesConvolutionCall::packRow(const float *src, const Slab &slab, int64_t index,
                                   char *left) const {
  int64_t all = slab.rows + reach[0];
  int64_t phase = index / (slab.images * all), image = index / all % slab.images, q = index % all;
  int64_t y =
      (slab.row + q) * c.window.strides[0] + phases[static_cast<size_t>(phase)].y - c.window.low[0];
  int64_t px = phases[static_cast<size_t>(phase)].x;
  char *to = left + phase * phaseStride + (image * imageRows + q) * pitch * kPixelBytes;
  int64_t stepStride = c.parts * partStride;
  auto zeros = [&](int64_t first, int64_t count) {
    if (count > 0)
      packPixels({nullptr, 0, steps * kDepth, count}, c.parts, to + first * kPixelBytes, stepStride,
                 partStride);
  };
  bool isLast = q + 1 == all && image + 1 == slab.images;
  int64_t length = pitch + (isLast ? shared : 0);
  if (y < 0 || y >= c.src[0])
    return zeros(0, length);
  const float *row = src + ((slab.image + image) * c.src[0] + y) * c.src[1] * c.channels;
  if (c.unfoldsRows())
    return packSpans(row, to);
  int64_t step = c.window.strides[1], before = c.window.low[1] - px;
  int64_t first = std::min(length, before <= 0 ? 0 : (before + step - 1) / step);
  int64_t x = first * step - before;
  int64_t some = x >= c.src[1] ? 0 : std::min(length - first, (c.src[1] - 1 - x) / step + 1);
  zeros(0, first);
  if (some > 0)
    packPixels({row + x * c.channels, step * c.channels, c.channels, some}, c.parts,
               to + first * kPixelBytes, stepStride, partStride);
  zeros(first + some, length - first - some);
}

void TilesConvolutionCall::run(const Slab &slab, const char *left, const char *right, float *dst,
                               const Epilogue &epilogue) const {
  int64_t last = ((slab.images - 1) * imageRows + slab.rows - 1) * pitch + c.dst[1];
  int64_t rowsEach = (blocks(last) + rowGroups - 1) / rowGroups;
  int64_t columnsEach = (blocks(c.features) + columnGroups - 1) / columnGroups;
  const std::vector<uint8_t> &live = slabTaps[static_cast<size_t>(slab.row / most.rows)];
  runtime::parallelFor(threads, rowGroups * columnGroups, 1, [&](int64_t begin, int64_t end, int) {
    configureTiles();
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t row = unit % rowGroups * rowsEach * kBlock;
      ConvolveArguments places;
      places.firstColumn = unit / rowGroups * columnsEach * kBlock;
      places.columns = std::min(columnsEach * kBlock, c.features - places.firstColumn);
      places.rows = std::min(rowsEach * kBlock, last - row);
      if (places.rows <= 0 || places.columns <= 0)
        continue;
      places.left = left + row * kPixelBytes;
      places.partStride = partStride;
      places.stepStride = c.parts * partStride;
      places.steps = steps;
      places.taps = c.taps();
      places.tapBytes = tapBytes.data();
      places.live = live.data() + row / kBlock * c.taps();
      places.rightTap = steps * c.parts * kPartBytes;
      places.rightStride = c.taps() * places.rightTap;
      places.right = right + places.firstColumn / kBlock * places.rightStride;
      places.pixel = pixel.data() + row;
      places.dst = dst;
      places.dstPixel = c.features;
      places.firstPixel = (slab.image * c.dst[0] + slab.row) * c.dst[1];
      places.parts = c.parts;
      convolve(places, epilogue);
    }
    releaseTiles();
  });
}

void TilesConvolutionCall::execute(void *const *buffers, const runtime::CallContext &context) {
  auto *scratch = static_cast<char *>(context.scratch);
  const auto *src = static_cast<const float *>(buffers[0]);
  const char *right = static_cast<const char *>(buffers[1]);
  if (!c.isPacked) {
    c.packWeights(static_cast<const float *>(buffers[1]), scratch, threads);
    right = scratch;
  }
  char *left = scratch + weightBytes;
  size_t next = 2;
  Epilogue epilogue = c.posts.epilogue;
  if (c.hasBias)
    epilogue.bias = static_cast<const float *>(buffers[next++]);
  auto *dst = static_cast<float *>(buffers[next++]);
  size_t operand = 0;
  for (int i = 0; i < epilogue.count; ++i)
    if (describe::hasOperand(epilogue.posts[i])) {
      const auto &strides = c.posts.operandStrides[operand++];
      epilogue.posts[i].operand = {static_cast<const float *>(buffers[next++]), strides[0],
                                   strides[1]};
    }
  for (int64_t image = 0; image < c.batch; image += most.images)
    for (int64_t row = 0; row < c.dst[0]; row += most.rows) {
      Slab slab{image, std::min(most.images, c.batch - image), row,
                std::min(most.rows, c.dst[0] - row)};
      int64_t rows = static_cast<int64_t>(phases.size()) * slab.images * (slab.rows + reach[0]);
      runtime::parallelFor(threads, rows, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t index = begin; index < end; ++index)
          packRow(src, slab, index, left);
      });
      run(slab, left, right, dst, epilogue);
    }
}

} // namespace

std::unique_ptr<runtime::LibraryCall>
makeConvolution(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads) {
  return std::make_unique<TilesConvolutionCall>(desc, buffers, threads);
}

} // namespace dlc::tiles
