//===- Parts.h - f32 as sums of bf16 numbers ------------------------------------===//
//
// x = h + m + l, each of bf16 and each the rounded rest of those before it: two of them keep 16
// bits of x, three all 24. A product of f32 becomes one product of bf16 with a longer sum: (h h
// l)·(h l h) is x·y without the products of small parts, (h h m m h l)·(h m h m l h) is x·y as well
// as f32 can hold it. Units for bf16 add in f32.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_PARTS_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_PARTS_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::onednn {

/// A tensor of f32 written as bf16 parts, one behind the other along an axis.
struct DLC_EXPORT Parts {
  size_t axis = 0;
  std::string order; // "hhl": which part stands where
  /// Of the f32 tensor, in elements.
  std::vector<int64_t> dims, strides;

  /// {"axis", "order", "strides"}; `dims` are those of the parts together. Throws dlc::Error.
  static Parts parse(const nlohmann::json &parts, const std::vector<int64_t> &dims,
                     const std::string &what);

  /// Writes the parts as bf16 with these strides. Infinities and NaN stay what they are in h, with
  /// nothing behind.
  void split(const float *from, uint16_t *to, const std::vector<int64_t> &toStrides,
             int threads) const;
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_PARTS_H
