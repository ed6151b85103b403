//===- Request.h - a described attention ---------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_REQUEST_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_REQUEST_H

#include "runtime/library/Library.h"

#include <optional>
#include <vector>

namespace dlc::attention {

/// Where an operand's or result's elements lie in its buffer.
struct View {
  int64_t offset = 0;
  std::vector<int64_t> strides; ///< [batch.., row, element]

  /// Of one of the batch.
  int64_t start(const std::vector<int64_t> &batch, int64_t index) const {
    int64_t at = offset;
    for (size_t d = batch.size(); d-- > 0; index /= batch[d])
      at += index % batch[d] * strides[d];
    return at;
  }
  int64_t row() const { return strides[strides.size() - 2]; }
};

enum class MaskKind { None, Bool, F32, BF16 };

struct Request {
  bool isGradient = false, hasSums = false, causal = false, narrow = false;
  int lanes = 16;
  /// bf16 parts of which products on tiles are made; 0: products are made in vectors.
  int parts = 0;
  float scale = 1;
  std::vector<int64_t> batch;
  int64_t heads = 1; ///< of the whole batch
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
  View q, k, v, y, dy, dq, dk, dv, mask;
  MaskKind maskKind = MaskKind::None;

  /// Throws dlc::Error.
  static Request parse(const nlohmann::json &desc);
  /// That buffers in the order of Desc.md are there, large enough and writable.
  void check(std::span<const runtime::BufferInfo> buffers) const;

  int64_t bytes() const { return narrow ? 2 : 4; }
  /// Keys that the query sees, by causality.
  int64_t seen(int64_t query) const { return causal && query + 1 < keys ? query + 1 : keys; }
};

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_REQUEST_H
