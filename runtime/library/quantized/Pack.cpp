//===- Pack.cpp - packing of weights in block formats ---------------------===//
//
// A block is first split into codes, scales and minimums, by one function for each layout of GGUF.
// They are then stored in the planes of a packed record, by one function for all formats.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/quantized/Formats.h"
#include "runtime/library/quantized/Product.h"
#include "runtime/program/Message.h"

#include <cstring>
#include <string>

namespace dlc::quantized {

using runtime::BlockFormat;

namespace {

constexpr int kMaxBlock = 256;

/// Parts of a block. Factors are pointers to f16 values, or to an E8M0 exponent.
struct Parts {
  const uint8_t *factor = nullptr, *minimum = nullptr;
  uint8_t codes[kMaxBlock];
  /// Bytes of scales and minimums as in a packed record. With Scales::Packed6, scales have 6 bits.
  uint8_t scales[16] = {}, minimums[16] = {};
};

/// Splits a block of 32 elements, which stores the factor, the minimum if the format has one, bit 4
/// of all codes if codes have 5 bits, and the low bits of the codes.
void split32(const Format &format, const uint8_t *block, Parts &parts) {
  parts.factor = block;
  block += format.hasExponents ? 1 : 2;
  if (format.minimums != Minimums::None) {
    parts.minimum = block;
    block += 2;
  }
  const uint8_t *high = block;
  if (format.high)
    block += 4;
  for (int i = 0; i < 32; ++i) {
    // Q8_0 has signed elements; adding the offset 128 flips the highest bit.
    if (format.low == 8) {
      parts.codes[i] = block[i] ^ 0x80;
      continue;
    }
    parts.codes[i] = i < 16 ? block[i] & 15 : block[i - 16] >> 4;
    if (format.high)
      parts.codes[i] |= (high[i / 8] >> (i % 8) & 1) << 4;
  }
}

/// Returns code i of 2-bit codes as Q2_K and Q3_K store them.
int twoBits(const uint8_t *codes, int i) {
  return codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

void splitQ2K(const uint8_t *block, Parts &parts) {
  std::memcpy(parts.scales, block, 16);
  parts.factor = block + 80;
  parts.minimum = block + 82;
  for (int i = 0; i < 256; ++i)
    parts.codes[i] = uint8_t(twoBits(block + 16, i));
}

void splitQ3K(const uint8_t *block, Parts &parts) {
  const uint8_t *mask = block, *scales = block + 96;
  parts.factor = block + 108;
  for (int i = 0; i < 256; ++i)
    parts.codes[i] = uint8_t(twoBits(block + 32, i) | (mask[i % 32] >> (i / 32) & 1) << 2);
  for (int i = 0; i < 16; ++i) {
    const int low = scales[i % 8] >> (i / 8 * 4) & 15;
    parts.scales[i] = uint8_t(low | (scales[8 + i % 4] >> (i / 4 * 2) & 3) << 4);
  }
}

/// Splits a block of Q4_K, or of Q5_K if `hasHigh` is set.
void splitQ45K(bool hasHigh, const uint8_t *block, Parts &parts) {
  const uint8_t *s = block + 4, *high = block + 16, *codes = block + (hasHigh ? 48 : 16);
  parts.factor = block;
  parts.minimum = block + 2;
  for (int i = 0; i < 4; ++i) {
    parts.scales[i] = s[i] & 63;
    parts.minimums[i] = s[i + 4] & 63;
    parts.scales[i + 4] = uint8_t((s[i + 8] & 15) | (s[i] >> 6) << 4);
    parts.minimums[i + 4] = uint8_t((s[i + 8] >> 4) | (s[i + 4] >> 6) << 4);
  }
  for (int i = 0; i < 256; ++i) {
    int code = codes[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
    if (hasHigh)
      code |= (high[i % 32] >> (i / 32) & 1) << 4;
    parts.codes[i] = uint8_t(code);
  }
}

void splitQ6K(const uint8_t *block, Parts &parts) {
  const uint8_t *low = block, *high = block + 128, *scales = block + 192;
  parts.factor = block + 208;
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, in = i % 128;
    parts.codes[i] = uint8_t((low[half * 64 + in % 64] >> (in / 64 * 4) & 15) |
                             (high[half * 32 + in % 32] >> (in / 32 * 2) & 3) << 4);
  }
  // Signed scales; adding the offset 128 flips the highest bit.
  for (int i = 0; i < 16; ++i)
    parts.scales[i] = scales[i] ^ 0x80;
}

void splitIq4Xs(const uint8_t *block, Parts &parts) {
  const int high = block[2] | block[3] << 8;
  parts.factor = block;
  for (int group = 0; group < 8; ++group) {
    const int low = block[4 + group / 2] >> (group % 2 * 4) & 15;
    parts.scales[group] = uint8_t(low | (high >> (2 * group) & 3) << 4);
    for (int i = 0; i < 16; ++i) {
      const uint8_t byte = block[8 + group * 16 + i];
      parts.codes[group * 32 + i] = byte & 15;
      parts.codes[group * 32 + 16 + i] = byte >> 4;
    }
  }
}

void split(BlockFormat name, const Format &format, const uint8_t *block, Parts &parts) {
  switch (name) {
  case BlockFormat::Q2_K:
    return splitQ2K(block, parts);
  case BlockFormat::Q3_K:
    return splitQ3K(block, parts);
  case BlockFormat::Q4_K:
    return splitQ45K(false, block, parts);
  case BlockFormat::Q5_K:
    return splitQ45K(true, block, parts);
  case BlockFormat::Q6_K:
    return splitQ6K(block, parts);
  case BlockFormat::IQ4_XS:
    return splitIq4Xs(block, parts);
  default:
    return split32(format, block, parts);
  }
}

/// Stores `bits` bits of the codes of 32 elements, from bit `from` on, as row `row` of a plane
/// whose bits of this row are zero.
void storePlane(const uint8_t *codes, int bits, int from, int lanes, int row, uint8_t *plane) {
  for (int i = 0; i < kGroup; ++i) {
    const int quad = i / 4;
    uint8_t &to = plane[(quad % bits * lanes + row) * 4 + i % 4];
    to |= uint8_t((codes[i] >> from & ((1 << bits) - 1)) << (quad / bits * bits));
  }
}

/// Stores a block as row `row` of a packed record, whose bits of this row are zero.
void storeParts(const Format &format, const Layout &at, int lanes, const Parts &parts, int row,
                uint8_t *record) {
  const int factorBytes = format.hasExponents ? 1 : 2;
  std::memcpy(record + row * factorBytes, parts.factor, size_t(factorBytes));
  if (parts.minimum)
    std::memcpy(record + at.minimum + row * 2, parts.minimum, 2);
  const int groups = format.block / format.group;
  for (int i = 0; i < groups && format.scales != Scales::None; ++i) {
    uint8_t *scales = record + at.scales + row;
    if (format.scales == Scales::Packed6) {
      scales[i % 8 * lanes] |= uint8_t((parts.scales[i] & 15) << (i / 8 * 4));
      scales[(8 + i % 4) * lanes] |= uint8_t((parts.scales[i] >> 4) << (i / 4 * 2));
    } else {
      scales[i * lanes] = parts.scales[i];
    }
    if (at.codes != at.minimums)
      record[at.minimums + i * lanes + row] = parts.minimums[i];
  }
  for (int g = 0; g < format.block / kGroup; ++g) {
    uint8_t *codes = record + at.codes + g * at.group;
    storePlane(parts.codes + g * kGroup, format.low, 0, lanes, row, codes);
    if (format.high)
      storePlane(parts.codes + g * kGroup, format.high, format.low, lanes, row, codes + at.high);
  }
}

const Format &getFormat(BlockFormat format) {
  return kTable[static_cast<int>(format) - static_cast<int>(BlockFormat::Q4_0)];
}

int64_t getPanelBytes(const Weights &weights) {
  const Format &format = getFormat(weights.format);
  return weights.depth / format.block * makeLayout(format, static_cast<int>(weights.lanes)).bytes;
}

} // namespace

bool isSupported(BlockFormat format) { return format >= BlockFormat::Q4_0; }

void checkWeights(const Weights &weights) {
  const std::string name = runtime::blockFormatInfo(weights.format).name;
  if (!isSupported(weights.format))
    runtime::fail("quantized: unsupported format of weights; required: Q4_0 to MXFP4; found: " +
                  name);
  const int64_t block = getFormat(weights.format).block;
  if (weights.rows < 1 || weights.depth < 1 || weights.depth % block)
    runtime::fail("quantized: unsupported size of " + name +
                  " weights; required: rows whose length is a multiple of " +
                  std::to_string(block) + "; found: " + std::to_string(weights.rows) + " rows of " +
                  std::to_string(weights.depth));
  const bool isLanes = weights.lanes == 8 || (weights.lanes == 16 && getKernelLanes() == 16);
  if (!isLanes)
    runtime::fail("quantized: weights are packed for another processor; required: panels of " +
                  std::to_string(getKernelLanes()) +
                  " rows; found: " + std::to_string(weights.lanes));
}

int64_t getPackedBytes(const Weights &weights) {
  checkWeights(weights);
  return (weights.rows + weights.lanes - 1) / weights.lanes * getPanelBytes(weights);
}

void pack(const Weights &weights, const void *blocks, void *packed, int threads) {
  checkWeights(weights);
  const Format &format = getFormat(weights.format);
  const int lanes = static_cast<int>(weights.lanes);
  const Layout at = makeLayout(format, lanes);
  const int64_t records = weights.depth / format.block;
  const int64_t blockBytes = runtime::blockFormatInfo(weights.format).bytes;
  const int64_t panels = (weights.rows + lanes - 1) / lanes;
  runtime::parallelFor(threads, panels, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) {
      uint8_t *to = static_cast<uint8_t *>(packed) + panel * getPanelBytes(weights);
      std::memset(to, 0, size_t(getPanelBytes(weights)));
      for (int row = 0; row < lanes && panel * lanes + row < weights.rows; ++row) {
        const auto *from =
            static_cast<const uint8_t *>(blocks) + (panel * lanes + row) * records * blockBytes;
        for (int64_t r = 0; r < records; ++r) {
          Parts parts;
          split(weights.format, format, from + r * blockBytes, parts);
          storeParts(format, at, lanes, parts, row, to + r * at.bytes);
        }
      }
    }
  });
}

} // namespace dlc::quantized
