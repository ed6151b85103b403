//===- Packed.h - 4-bit integers, packed and one per byte ---------------------===//
#ifndef DLC_RUNTIME_PROGRAM_PACKED_H
#define DLC_RUNTIME_PROGRAM_PACKED_H

#include "dlc/DType.h"

namespace dlc::runtime {

/// Calls `f(element, byte, shift)` for each element of a packed tensor: its index in row-major
/// order, the index of its byte, and the position of its bits in that byte.
template <typename F> void forEachPacked(const std::vector<int64_t> &shape, F f) {
  const uint64_t bytes = tensorBytes(DType::U4, shape),
                 columns = shape.empty() ? 1 : static_cast<uint64_t>(shape.back()),
                 rowBytes = (columns + 1) / 2;
  for (uint64_t row = 0, element = 0; row * rowBytes < bytes; ++row)
    for (uint64_t column = 0; column < columns; ++column)
      f(element++, row * rowBytes + column / 2, static_cast<int>(column % 2 * 4));
}

/// Writes packed elements as integers of 8 bits.
inline void unpack(DType type, const std::vector<int64_t> &shape, const void *from, void *to) {
  const auto *packed = static_cast<const uint8_t *>(from);
  auto *values = static_cast<uint8_t *>(to);
  forEachPacked(shape, [&](uint64_t element, uint64_t byte, int shift) {
    const int bits = packed[byte] >> shift & 15;
    values[element] = static_cast<uint8_t>(type == DType::I4 ? (bits ^ 8) - 8 : bits);
  });
}

/// Packs the low 4 bits of integers of 8 bits.
inline void pack(const std::vector<int64_t> &shape, const void *from, void *to) {
  const auto *values = static_cast<const uint8_t *>(from);
  auto *packed = static_cast<uint8_t *>(to);
  forEachPacked(shape, [&](uint64_t element, uint64_t byte, int shift) {
    const int bits = (values[element] & 15) << shift;
    packed[byte] = static_cast<uint8_t>(shift ? packed[byte] | bits : bits);
  });
}

/// Index of the first integer of 8 bits, signed for I4 and unsigned for U4, that 4 bits cannot
/// hold; `count` if there is none.
inline uint64_t findUnpackable(DType type, const void *values, uint64_t count) {
  const auto *bytes = static_cast<const uint8_t *>(values);
  for (uint64_t i = 0; i < count; ++i)
    if (static_cast<uint8_t>(bytes[i] + (type == DType::I4 ? 8 : 0)) > 15)
      return i;
  return count;
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PACKED_H
