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
    const describe::Fields fields(desc, "attention");
    int lanes = static_cast<int>(fields.integer("lanes", 8, 16));
    if (lanes % 8 != 0)
      fields.complain("required: 8 or 16 lanes; found: ", lanes);
    return {describe::Attention::read(fields), lanes,
            static_cast<int>(fields.integer("parts", 0, 3, 0))};
  }
};

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_ATTENTION_H
