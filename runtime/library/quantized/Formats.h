//===- Formats.h - properties of the block formats that have kernels ------===//
//
// A weight is scale * (code - offset), plus or minus a minimum. Each format is a row of a table,
// which the templates of kernels and the packing functions read.
//
// Packed weights are stored in panels of V rows, with a record for each block of a format:
//
//   factor     [V] of f16, or of E8M0 exponents
//   minimum    [V] of f16
//   scales     [block / group][V] bytes
//              Packed6: [8][V] bytes with the low four bits of two groups,
//                       and [4][V] bytes with the high two bits of four groups
//   minimums   [block / group][V] bytes
//   codes      for each 32 elements: a plane of the low bits, and a plane of the high bits
//
// A plane of `bits` bits per code has `bits` vectors of V lanes of 32 bits, one lane for each row.
// Elements 4 j to 4 j + 3 of a row (quad j) are stored in vector `j % bits`, one element in each
// byte of the row's lane, from bit `j / bits * bits` of the byte on.
//
// Files compiled for different instruction sets include this header. It must not define functions
// with external linkage: the linker keeps one copy, whose instructions a processor may not have.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_QUANTIZED_FORMATS_H
#define DLC_RUNTIME_LIBRARY_QUANTIZED_FORMATS_H

#include <stdint.h>

namespace dlc::quantized {

/// Number of elements that share a factor of the activations.
constexpr int kGroup = 32;
/// Number of quads (four consecutive elements of a row) in kGroup elements.
constexpr int kQuads = kGroup / 4;

/// Storage of the scales of groups in a packed record. Nibbles stores a scale in the low four bits
/// of a byte and the minimum in the high four bits. Packed6 stores scales of 6 bits.
enum class Scales : uint8_t { None, Bytes, Nibbles, Packed6 };
/// Source of minimums: none, an f16 value that is added, or integers with a factor that are
/// subtracted.
enum class Minimums : uint8_t { None, Added, Subtracted };
/// Mapping of codes to values: the code itself, or an entry of kIq4Values or kFp4Values.
enum class Values : uint8_t { Linear, Iq4, Fp4 };

/// Properties of a block format.
struct Format {
  int block;       ///< elements of a block
  int group;       ///< elements with the same scale: 16 or 32
  int low, high;   ///< bits of a code in each of the planes
  int offset;      ///< integer subtracted from a code, or from its value in the table
  Values values;   ///< mapping of codes to values
  Scales scales;   ///< storage of the integer scales
  int scaleOffset; ///< integer subtracted from a scale
  Minimums minimums;
  bool hasExponents; ///< whether factors are E8M0 exponents instead of f16
};

constexpr int kFormats = 13;

// clang-format off
/// The formats from Q4_0 on, in the order of runtime::BlockFormat.
constexpr Format kTable[kFormats] = {
  //        block group low high offset values          scales        offset minimums        exponents
  /*Q4_0*/   {32, 32, 4, 0,   8, Values::Linear, Scales::None,      0, Minimums::None,       false},
  /*Q4_1*/   {32, 32, 4, 0,   0, Values::Linear, Scales::None,      0, Minimums::Added,      false},
  /*Q5_0*/   {32, 32, 4, 1,  16, Values::Linear, Scales::None,      0, Minimums::None,       false},
  /*Q5_1*/   {32, 32, 4, 1,   0, Values::Linear, Scales::None,      0, Minimums::Added,      false},
  /*Q8_0*/   {32, 32, 8, 0, 128, Values::Linear, Scales::None,      0, Minimums::None,       false},
  /*Q2_K*/  {256, 16, 2, 0,   0, Values::Linear, Scales::Nibbles,   0, Minimums::Subtracted, false},
  /*Q3_K*/  {256, 16, 2, 1,   4, Values::Linear, Scales::Packed6,  32, Minimums::None,       false},
  /*Q4_K*/  {256, 32, 4, 0,   0, Values::Linear, Scales::Bytes,     0, Minimums::Subtracted, false},
  /*Q5_K*/  {256, 32, 4, 1,   0, Values::Linear, Scales::Bytes,     0, Minimums::Subtracted, false},
  /*Q6_K*/  {256, 16, 4, 2,  32, Values::Linear, Scales::Bytes,   128, Minimums::None,       false},
  /*IQ4_NL*/ {32, 32, 4, 0, 127, Values::Iq4,    Scales::None,      0, Minimums::None,       false},
  /*IQ4_XS*/{256, 32, 4, 0, 127, Values::Iq4,    Scales::Bytes,    32, Minimums::None,       false},
  /*MXFP4*/  {32, 32, 4, 0,  12, Values::Fp4,    Scales::None,      0, Minimums::None,       true},
};
// clang-format on

/// Values of the codes of IQ4_NL and IQ4_XS plus 127, and values of E2M1 floats times 2 plus 12.
constexpr uint8_t kIq4Values[16] = {0,   23,  44,  62,  78,  92,  105, 117,
                                    128, 140, 152, 165, 180, 196, 216, 240};
constexpr uint8_t kFp4Values[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// Byte offsets in a packed record of `lanes` rows.
struct Layout {
  int minimum, scales, minimums, codes;
  int high;  ///< offset of the high plane in the codes of 32 elements
  int group; ///< bytes of the codes of 32 elements
  int bytes; ///< bytes of the record
};

namespace {

constexpr Layout makeLayout(const Format &format, int lanes) {
  const int groups = format.block / format.group;
  Layout at = {};
  at.minimum = lanes * (format.hasExponents ? 1 : 2);
  at.scales = at.minimum + (format.minimums == Minimums::None ? 0 : 2 * lanes);
  at.minimums = at.scales + (format.scales == Scales::None      ? 0
                             : format.scales == Scales::Packed6 ? 12 * lanes
                                                                : groups * lanes);
  const bool hasOwnMinimums =
      format.minimums == Minimums::Subtracted && format.scales == Scales::Bytes;
  at.codes = at.minimums + (hasOwnMinimums ? groups * lanes : 0);
  at.high = 4 * format.low * lanes;
  at.group = 4 * (format.low + format.high) * lanes;
  at.bytes = at.codes + format.block / kGroup * at.group;
  return at;
}

} // namespace

} // namespace dlc::quantized

#endif // DLC_RUNTIME_LIBRARY_QUANTIZED_FORMATS_H
