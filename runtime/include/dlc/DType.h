//===- DType.h - the element types of tensors and their names -----------------===//
#ifndef DLC_DTYPE_H
#define DLC_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlc {

enum class DType : uint8_t { F32, F16, BF16, F64, I8, U8, I16, U16, I32, U32, I64, U64, Bool };

inline constexpr int kDTypeCount = 13;

constexpr std::string_view dtypeName(DType type) {
  constexpr std::string_view names[kDTypeCount] = {"f32", "f16", "bf16", "f64", "i8",  "u8",  "i16",
                                                   "u16", "i32", "u32",  "i64", "u64", "bool"};
  return names[static_cast<int>(type)];
}

constexpr size_t dtypeBytes(DType type) {
  constexpr size_t bytes[kDTypeCount] = {4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return bytes[static_cast<int>(type)];
}

constexpr std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtypeName(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace dlc

#endif // DLC_DTYPE_H
