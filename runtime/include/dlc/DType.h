//===- DType.h - element types of tensors and their names --------------------===//
#ifndef DLC_DTYPE_H
#define DLC_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dlc {

/// Element types. Two I4 or U4 elements are packed into one byte, the first in the low 4 bits. Each
/// row (the last dimension) starts at a byte boundary.
enum class DType : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool,
  I4,
  U4
};

inline constexpr int kDTypeCount = 15;

constexpr std::string_view dtypeName(DType type) {
  constexpr std::string_view names[kDTypeCount] = {"f32", "f16", "bf16", "f64", "i8",
                                                   "u8",  "i16", "u16",  "i32", "u32",
                                                   "i64", "u64", "bool", "i4",  "u4"};
  return names[static_cast<int>(type)];
}

/// Returns whether two elements of the type are packed into one byte.
constexpr bool isPacked(DType type) { return type == DType::I4 || type == DType::U4; }

/// Size in bytes of one element, or of one packed pair of 4-bit elements.
constexpr size_t dtypeBytes(DType type) {
  constexpr size_t bytes[kDTypeCount] = {4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 1, 1};
  return bytes[static_cast<int>(type)];
}

constexpr int dtypeBits(DType type) {
  return isPacked(type) ? 4 : 8 * static_cast<int>(dtypeBytes(type));
}

/// Returns the shape of a tensor in storage units of dtypeBytes() bytes: for 4-bit types, the last
/// dimension is halved and rounded up.
inline std::vector<int64_t> storedShape(DType type, std::vector<int64_t> shape) {
  if (isPacked(type) && !shape.empty())
    shape.back() = (shape.back() + 1) / 2;
  return shape;
}

/// Returns the size in bytes of a compact (contiguous, row-major) tensor.
inline uint64_t tensorBytes(DType type, const std::vector<int64_t> &shape) {
  uint64_t bytes = dtypeBytes(type);
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto size = static_cast<uint64_t>(shape[d]);
    bytes *= isPacked(type) && d + 1 == shape.size() ? (size + 1) / 2 : size;
  }
  return bytes;
}

constexpr std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtypeName(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace dlc

#endif // DLC_DTYPE_H
