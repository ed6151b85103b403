//===- Pack.cpp - parameters and packing of block-quantized weights -------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/library/blocks/Describe.h"
#include "runtime/library/blocks/OnTiles.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace dlc::blocks {

using products::blocksOf;

int64_t getKernelLanes() { return runtime::hostByteLanes(); }

bool supportsTiles(int64_t depth) {
  return getKernelLanes() == kPanel && tiles::isAvailable() && depth % tiles::kDepth == 0;
}

int64_t maxRows() {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max(), kWide = 64, kNarrow = 8;
  if (supportsTiles(tiles::kDepth))
    return kAny;
  return getKernelLanes() == 16 ? kWide : kNarrow;
}

std::optional<int64_t> BlockQuantizedWeights::sharedZero() const {
  if (!zeros)
    return 0;
  if (std::any_of(zeros, zeros + n * blocks, [&](float zero) { return zero != *zeros; }))
    return std::nullopt;
  return static_cast<int64_t>(*zeros);
}

/// Returns the smallest signed weight, which the unsigned value 0 represents.
static int64_t leastOf(int64_t bits) { return -(int64_t(1) << (bits - 1)); }

/// Returns true if the combined sums of two digits fit 32 bits.
static bool canJoinDigits(const Shape &shape) {
  constexpr int64_t kLargest = 129 * 256;
  const int64_t unsignedMost = (int64_t(1) << shape.bits) - 1;
  const int64_t most = shape.hasZeros
                           ? unsignedMost
                           : std::max(std::abs(shape.shift), std::abs(unsignedMost + shape.shift));
  return shape.depth * most * kLargest < INT32_MAX;
}

schema::BlocksKernel buildParameters(const BlockQuantizedWeights &plain, int64_t lanes,
                                     int64_t digits) {
  schema::BlocksKernel parameters;
  parameters.lanes = lanes;
  parameters.bits = plain.bits;
  parameters.block = plain.depth;
  parameters.digits = digits;
  if (const auto zero = plain.sharedZero())
    parameters.shift = leastOf(plain.bits) - *zero;
  else
    parameters.zeros = true;
  return parameters;
}

Shape makeShape(const schema::BlocksKernel &kernel, int64_t n, int64_t k) {
  if (!kernel.zeros && !kernel.shift)
    kernel.complain("'shift' is missing");
  Shape shape;
  shape.n = n, shape.k = k;
  shape.depth = kernel.block;
  shape.bits = kernel.bits;
  shape.digits = kernel.digits;
  shape.hasZeros = kernel.zeros;
  shape.shift = kernel.zeros ? 0 : int64_t(*kernel.shift);
  shape.joins = canJoinDigits(shape);
  shape.blocks = blocksOf(k, shape.depth);
  shape.panels = blocksOf(n, kernel.lanes);
  shape.record = kernel.lanes * (shape.depth * shape.bits / 8 + int64_t(sizeof(float)));
  return shape;
}

products::KernelConfig makeKernelConfig(const Shape &shape, int64_t lanes) {
  products::KernelConfig config;
  config.name = "blocks:" + std::string(runtime::getKernelSetName(lanes));
  config.columns = lanes;
  config.depth = shape.depth;
  config.rightBytes = shape.record + (shape.hasZeros ? lanes : 0);
  config.isHere = lanes == 16 ? [] { return blocks::getKernelLanes() == 16; } : [] { return true; };
  return config;
}

static Shape makeShape(const BlockQuantizedWeights &plain, const schema::BlocksKernel &kernel) {
  return makeShape(kernel, plain.n, plain.blocks * plain.depth);
}

uint64_t packedBytes(const BlockQuantizedWeights &plain, const schema::BlocksKernel &parameters) {
  return makeKernelConfig(makeShape(plain, parameters), parameters.lanes)
      .packedBytes(plain.blocks * plain.depth, plain.n);
}

/// Packs `depth` weights of one column as unsigned integers, in groups of four bytes with a stride
/// of `step` bytes.
static void packColumn(const int8_t *from, int64_t depth, int64_t bits, uint8_t *to, int64_t step) {
  for (int64_t k = 0; k < depth; k += 32 / bits, to += step) {
    uint32_t four[2];
    std::memcpy(four, from + k, static_cast<size_t>(32 / bits));
    // Flipping the sign bit in two's complement adds 2^(bits - 1), which maps the smallest number
    // to 0.
    const uint32_t word = bits == 8 ? four[0] ^ 0x80808080
                                    : ((four[0] & 0x0f0f0f0f) ^ 0x08080808) |
                                          ((four[1] & 0x0f0f0f0f) ^ 0x08080808) << 4;
    std::memcpy(to, &word, sizeof word);
  }
}

void packWeights(const BlockQuantizedWeights &plain, const schema::BlocksKernel &parameters,
                 void *packed) {
  const Shape shape = makeShape(plain, parameters);
  const int64_t lanes = parameters.lanes;
  auto *to = static_cast<uint8_t *>(packed);
  uint8_t *zeros = to + shape.panels * shape.blocks * shape.record;
  std::memset(packed, 0, packedBytes(plain, parameters));
  for (int64_t column = 0; column < shape.n; ++column) {
    const int64_t panel = column / lanes, lane = column % lanes;
    for (int64_t g = 0; g < shape.blocks; ++g) {
      const int64_t from = column * shape.blocks + g, at = panel * shape.blocks + g;
      uint8_t *record = to + at * shape.record;
      packColumn(plain.numbers + from * shape.depth, shape.depth, shape.bits, record + lane * 4,
                 lanes * 4);
      uint8_t *scales = record + shape.record - lanes * int64_t(sizeof(float));
      std::memcpy(scales + lane * int64_t(sizeof(float)), plain.scales + from, sizeof(float));
      if (shape.hasZeros)
        zeros[at * lanes + lane] = static_cast<uint8_t>(plain.zeros[from] - leastOf(shape.bits));
    }
  }
}

} // namespace dlc::blocks
