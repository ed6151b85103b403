//===- Combine.h - element-wise reductions -----------------------------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_COMBINE_H
#define DLC_RUNTIME_COLLECTIVE_COMBINE_H

#include "dlc/DType.h"

#include <cstdint>
#include <string_view>

namespace dlc::runtime {

enum class Reduction : uint8_t { Sum, Max };

constexpr std::string_view reductionName(Reduction how) {
  return how == Reduction::Sum ? "sum" : "max";
}

/// Computes into[i] = into[i] + from[i], or max(into[i], from[i]), as `how` specifies. f16 and bf16
/// are computed in f32. The maximum propagates NaN.
void combine(Reduction how, DType type, void *into, const void *from, uint64_t count);

/// Computes to[i] = parts[0][i] + parts[1][i] + ..., added in this order. f16 and bf16 are added in
/// f32 and rounded once. Part p begins at element p * count of `parts`. `to` may be one of the
/// parts.
void sumInOrder(DType type, void *to, const void *parts, uint64_t partCount, uint64_t count);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_COMBINE_H
