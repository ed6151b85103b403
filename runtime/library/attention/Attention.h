//===- Attention.h - parsed description of attention, with the choice of its kernel -===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTION_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTION_H

#include "runtime/library/describe/Attention.h"

namespace dlc::attention {

using describe::MaskKind;
using describe::View;

struct Attention : describe::Attention {
  int lanes = 16;
  /// Number of bf16 parts of each operand of a matmul on tiles; 0 for matmuls in vectors.
  int parts = 0;

  /// Parses the description of an attention call. Throws dlc::Error if it is not valid.
  static Attention parse(const nlohmann::json &desc) {
    const auto fields = schema::Attention::read(desc, "attention");
    return {describe::Attention::of(fields), static_cast<int>(fields.lanes),
            static_cast<int>(fields.parts)};
  }
};

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTION_H
