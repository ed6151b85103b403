//===- Combine.h - what is reduced, element by element ------------------------===//
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

/// into[i] = into[i] + from[i], or the greater of both; halves by way of f32. The greater of
/// anything and what is not a number is not a number.
void combine(Reduction how, DType type, void *into, const void *from, uint64_t count);

/// to[i] = parts[0][i] + parts[1][i] + ..., added in this order, halves in f32 and rounded once;
/// part p begins `count` elements behind part p - 1. `to` may be one of the parts.
void sumInOrder(DType type, void *to, const void *parts, uint64_t partCount, uint64_t count);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_COMBINE_H
