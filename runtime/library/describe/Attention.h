//===- Attention.h - parsed description of an attention call --------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_ATTENTION_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_ATTENTION_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/schema/Schema.h"

namespace dlc::describe {

/// Offset and strides of an operand's or result's elements in its buffer.
struct View {
  int64_t offset = 0;
  std::vector<int64_t> strides; ///< strides in elements, in the order [batch.., row, element]

  /// Returns the offset of the first element of head `index`. Heads are numbered across the whole
  /// batch.
  int64_t start(const std::vector<int64_t> &batch, int64_t index) const {
    int64_t at = offset;
    for (size_t d = batch.size(); d-- > 0; index /= batch[d])
      at += index % batch[d] * strides[d];
    return at;
  }
  int64_t row() const { return strides[strides.size() - 2]; }
};

enum class MaskKind { None, Bool, F32, BF16 };

/// Parsed and checked description of attention or its gradients (schema/Attention.def).
struct DLC_EXPORT Attention {
  bool isGradient = false, hasSums = false, causal = false, narrow = false;
  float scale = 1;
  std::vector<int64_t> batch;
  int64_t heads = 1; ///< product of the batch sizes
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
  View q, k, v, y, dy, dq, dk, dv, mask;
  MaskKind maskKind = MaskKind::None;

  static Attention of(const schema::Attention &fields);
  /// Checks that the call's buffers exist, are large enough and, if written, writable.
  void check(BufferChecker &given) const;

  int64_t bytes() const { return narrow ? 2 : 4; }
  /// Returns the number of keys that query number `query` attends to. If the attention is causal, a
  /// query attends only to keys up to its own index.
  int64_t seen(int64_t query) const { return causal && query + 1 < keys ? query + 1 : keys; }
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_ATTENTION_H
