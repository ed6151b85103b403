//===- Packed.h - packing and unpacking of 4-bit integers --------------------===//
#ifndef DLC_RUNTIME_PROGRAM_PACKED_H
#define DLC_RUNTIME_PROGRAM_PACKED_H

#include "dlc/DType.h"

namespace dlc::runtime {

/// Returns the 8-bit type of the unpacked elements of a 4-bit type.
constexpr DType unpackedType(DType type) { return type == DType::I4 ? DType::I8 : DType::U8; }

/// Returns the value range of a 4-bit type as text for messages.
constexpr const char *packedRange(DType type) { return type == DType::I4 ? "-8 to 7" : "0 to 15"; }

/// Calls `f(element, byte, shift)` for each element of a packed tensor: the element's index in
/// row-major order, the index of its byte, and the bit offset within this byte.
template <typename F> void forEachPacked(const std::vector<int64_t> &shape, F f) {
  const uint64_t bytes = tensorBytes(DType::U4, shape),
                 columns = shape.empty() ? 1 : static_cast<uint64_t>(shape.back()),
                 rowBytes = (columns + 1) / 2;
  for (uint64_t row = 0, element = 0; row * rowBytes < bytes; ++row)
    for (uint64_t column = 0; column < columns; ++column)
      f(element++, row * rowBytes + column / 2, static_cast<int>(column % 2 * 4));
}

/// Unpacks a tensor of packed 4-bit elements to 8-bit integers.
inline void unpack(DType type, const std::vector<int64_t> &shape, const void *from, void *to) {
  const auto *packed = static_cast<const uint8_t *>(from);
  auto *values = static_cast<uint8_t *>(to);
  forEachPacked(shape, [&](uint64_t element, uint64_t byte, int shift) {
    const int bits = packed[byte] >> shift & 15;
    values[element] = static_cast<uint8_t>(type == DType::I4 ? (bits ^ 8) - 8 : bits);
  });
}

/// Packs the low 4 bits of each 8-bit integer, two to a byte.
inline void pack(const std::vector<int64_t> &shape, const void *from, void *to) {
  const auto *values = static_cast<const uint8_t *>(from);
  auto *packed = static_cast<uint8_t *>(to);
  forEachPacked(shape, [&](uint64_t element, uint64_t byte, int shift) {
    const int bits = (values[element] & 15) << shift;
    packed[byte] = static_cast<uint8_t>(shift ? packed[byte] | bits : bits);
  });
}

/// Returns the index of the first 8-bit integer (signed for I4, unsigned for U4) that does not fit
/// into 4 bits, or `count` if all fit.
inline uint64_t findUnpackable(DType type, const void *values, uint64_t count) {
  const auto *bytes = static_cast<const uint8_t *>(values);
  for (uint64_t i = 0; i < count; ++i)
    if (static_cast<uint8_t>(bytes[i] + (type == DType::I4 ? 8 : 0)) > 15)
      return i;
  return count;
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PACKED_H
