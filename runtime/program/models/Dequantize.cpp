//===- Dequantize.cpp - reference dequantization of block formats ------------===//
//
// One function per format dequantizes a block. The order of the f32 operations is that of the
// `gguf` package, so that results are equal bit for bit. Contraction to fused multiply-adds would
// change the results. It cannot occur, because the runtime is compiled for baseline x86-64, which
// has no such instructions.
//
//===---------------------------------------------------------------------------===//
#include "runtime/program/Numeric.h"
#include "runtime/program/models/BlockFormat.h"

#include <cstring>

namespace dlc::runtime {

namespace {

/// Values of the codes of IQ4_NL and IQ4_XS.
constexpr int8_t iq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};
/// Values of E2M1 floats, doubled so that they are integers.
constexpr int8_t fp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

uint16_t readU16(const uint8_t *p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
uint32_t readU32(const uint8_t *p) { return readU16(p) | uint32_t(readU16(p + 2)) << 16; }
float readF16(const uint8_t *p) { return Float16{readU16(p)}; }

/// Returns 2^(e - 128): half of the value of an E8M0 scale, because fp4Values are doubled.
float readHalfE8M0(uint8_t e) {
  return bitsToFloat(e < 2 ? 0x00200000u << e : uint32_t(e - 1) << 23);
}

/// Returns element i of 32 4-bit values. Elements 0 to 15 are stored in the low four bits of 16
/// bytes, elements 16 to 31 in the high four bits.
int nibble(const uint8_t *q, int i) { return i < 16 ? q[i] & 15 : q[i - 16] >> 4; }

void dequantizeF32(const uint8_t *b, float *y) { std::memcpy(y, b, 4); }
void dequantizeF16(const uint8_t *b, float *y) { *y = readF16(b); }
void dequantizeBF16(const uint8_t *b, float *y) { *y = BFloat16{readU16(b)}; }

void dequantizeQ4_0(const uint8_t *b, float *y) {
  float d = readF16(b);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float(nibble(b + 2, i) - 8);
}

void dequantizeQ4_1(const uint8_t *b, float *y) {
  float d = readF16(b), m = readF16(b + 2);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float(nibble(b + 4, i)) + m;
}

void dequantizeQ5_0(const uint8_t *b, float *y) {
  float d = readF16(b);
  uint32_t high = readU32(b + 2);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float((nibble(b + 6, i) | int(high >> i & 1) << 4) - 16);
}

void dequantizeQ5_1(const uint8_t *b, float *y) {
  float d = readF16(b), m = readF16(b + 2);
  uint32_t high = readU32(b + 4);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float(nibble(b + 8, i) | int(high >> i & 1) << 4) + m;
}

void dequantizeQ8_0(const uint8_t *b, float *y) {
  float d = readF16(b);
  for (int i = 0; i < 32; ++i)
    y[i] = float(int8_t(b[2 + i])) * d;
}

void dequantizeQ2_K(const uint8_t *b, float *y) {
  const uint8_t *scales = b, *q = b + 16;
  float d = readF16(b + 80), minimum = readF16(b + 82);
  for (int i = 0; i < 256; ++i) {
    uint8_t scale = scales[i / 16];
    int value = q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    y[i] = d * float(scale & 15) * float(value) - minimum * float(scale >> 4);
  }
}

void dequantizeQ3_K(const uint8_t *b, float *y) {
  const uint8_t *mask = b, *q = b + 32, *scales = b + 96;
  float d = readF16(b + 108);
  for (int i = 0; i < 256; ++i) {
    int group = i / 16;
    int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
    int scale = (low | (scales[8 + group % 4] >> (group / 4 * 2) & 3) << 4) - 32;
    int value = q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    // A bit of the mask is the high bit of a value plus 4: a bit of 0 subtracts 4.
    value -= (mask[i % 32] >> (i / 32) & 1) ? 0 : 4;
    y[i] = d * float(scale) * float(value);
  }
}

struct ScaleAndMinimum {
  int scale, minimum;
};
/// Unpacks the 6-bit scale and minimum of one of the 8 groups of Q4_K and Q5_K.
ScaleAndMinimum unpackScale(const uint8_t *s, int group) {
  if (group < 4)
    return {s[group] & 63, s[group + 4] & 63};
  return {(s[group + 4] & 15) | (s[group - 4] >> 6) << 4, (s[group + 4] >> 4) | (s[group] >> 6)
                                                                                    << 4};
}

/// Dequantizes Q4_K, and Q5_K if `high` is not null.
void dequantizeWithMinimums(const uint8_t *b, const uint8_t *high, const uint8_t *q, float *y) {
  float d = readF16(b), minimum = readF16(b + 2);
  for (int i = 0; i < 256; ++i) {
    int group = i / 32;
    ScaleAndMinimum s = unpackScale(b + 4, group);
    int value = q[i / 64 * 32 + i % 32] >> (group % 2 * 4) & 15;
    if (high)
      value |= (high[i % 32] >> group & 1) << 4;
    y[i] = d * float(s.scale) * float(value) - minimum * float(s.minimum);
  }
}
void dequantizeQ4_K(const uint8_t *b, float *y) { dequantizeWithMinimums(b, nullptr, b + 16, y); }
void dequantizeQ5_K(const uint8_t *b, float *y) { dequantizeWithMinimums(b, b + 16, b + 48, y); }

void dequantizeQ6_K(const uint8_t *b, float *y) {
  const uint8_t *low = b, *high = b + 128, *scales = b + 192;
  float d = readF16(b + 208);
  for (int i = 0; i < 256; ++i) {
    int half = i / 128, in = i % 128;
    int value = low[half * 64 + in % 64] >> (in / 64 * 4) & 15;
    value |= (high[half * 32 + in % 32] >> (in / 32 * 2) & 3) << 4;
    y[i] = d * float(int8_t(scales[i / 16])) * float(value - 32);
  }
}

void dequantizeIQ4_NL(const uint8_t *b, float *y) {
  float d = readF16(b);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float(iq4Values[nibble(b + 2, i)]);
}

void dequantizeIQ4_XS(const uint8_t *b, float *y) {
  float d = readF16(b);
  uint16_t high = readU16(b + 2);
  for (int group = 0; group < 8; ++group) {
    int low = b[4 + group / 2] >> (group % 2 * 4) & 15;
    float scale = d * float((low | (high >> (2 * group) & 3) << 4) - 32);
    for (int i = 0; i < 32; ++i)
      y[group * 32 + i] = scale * float(iq4Values[nibble(b + 8 + group * 16, i)]);
  }
}

void dequantizeMXFP4(const uint8_t *b, float *y) {
  float d = readHalfE8M0(b[0]);
  for (int i = 0; i < 32; ++i)
    y[i] = d * float(fp4Values[nibble(b + 1, i)]);
}

using BlockFunction = void (*)(const uint8_t *block, float *values);
/// One function per format, in the order of BlockFormat.
constexpr BlockFunction functions[] = {
    dequantizeF32,  dequantizeF16,    dequantizeBF16,   dequantizeQ4_0,
    dequantizeQ4_1, dequantizeQ5_0,   dequantizeQ5_1,   dequantizeQ8_0,
    dequantizeQ2_K, dequantizeQ3_K,   dequantizeQ4_K,   dequantizeQ5_K,
    dequantizeQ6_K, dequantizeIQ4_NL, dequantizeIQ4_XS, dequantizeMXFP4};

} // namespace

void dequantize(BlockFormat format, const void *blocks, uint64_t count, float *values) {
  const BlockFormatInfo &info = blockFormatInfo(format);
  const auto *block = static_cast<const uint8_t *>(blocks);
  if (format == BlockFormat::F32) {
    if (count)
      std::memcpy(values, block, count * 4);
    return;
  }
  BlockFunction function = functions[static_cast<size_t>(format)];
  for (uint64_t i = 0; i < count; ++i, block += info.bytes, values += info.elements)
    function(block, values);
}

} // namespace dlc::runtime
