//===- Numbers.h - loads and stores elements of tensors of the emulated libraries -===//
#ifndef DLC_TEST_EMULATOR_NUMBERS_H
#define DLC_TEST_EMULATOR_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace dlc_emulated {

enum class Number { F32, F64, F16, Bf16, I8, I32 };

inline uint64_t bytesOf(Number type) {
  return type == Number::F64                          ? 8
         : type == Number::F32 || type == Number::I32 ? 4
         : type == Number::I8                         ? 1
                                                      : 2;
}

inline double load(const char *memory, Number type, uint64_t i) {
  switch (type) {
  case Number::F64:
    return reinterpret_cast<const double *>(memory)[i];
  case Number::F32:
    return static_cast<double>(reinterpret_cast<const float *>(memory)[i]);
  case Number::F16:
    return static_cast<double>(reinterpret_cast<const _Float16 *>(memory)[i]);
  case Number::I8:
    return static_cast<double>(reinterpret_cast<const int8_t *>(memory)[i]);
  case Number::I32:
    return static_cast<double>(reinterpret_cast<const int32_t *>(memory)[i]);
  case Number::Bf16:
    break;
  }
  uint32_t bits = static_cast<uint32_t>(reinterpret_cast<const uint16_t *>(memory)[i]) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

inline void store(char *memory, Number type, uint64_t i, double value) {
  switch (type) {
  case Number::F64:
    reinterpret_cast<double *>(memory)[i] = value;
    return;
  case Number::F32:
    reinterpret_cast<float *>(memory)[i] = static_cast<float>(value);
    return;
  case Number::F16:
    reinterpret_cast<_Float16 *>(memory)[i] = static_cast<_Float16>(value);
    return;
  case Number::I8:
    reinterpret_cast<int8_t *>(memory)[i] = static_cast<int8_t>(value);
    return;
  case Number::I32: // integer sums wrap around
    reinterpret_cast<int32_t *>(memory)[i] = static_cast<int32_t>(static_cast<int64_t>(value));
    return;
  case Number::Bf16:
    break;
  }
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  if (!std::isnan(narrow))
    bits += 0x7fff + ((bits >> 16) & 1);
  reinterpret_cast<uint16_t *>(memory)[i] = static_cast<uint16_t>(bits >> 16);
}

/// Rounds to tf32, which has a mantissa of 10 bits.
inline double roundedToTf32(double value) {
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  if (std::isfinite(narrow))
    bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu;
  std::memcpy(&narrow, &bits, sizeof narrow);
  return static_cast<double>(narrow);
}

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_NUMBERS_H
