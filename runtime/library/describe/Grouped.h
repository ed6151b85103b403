//===- Grouped.h - parsed description of a grouped matmul -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/schema/Schema.h"

namespace dlc::describe {

/// Parsed and checked description of a grouped matmul (schema/Product.def).
struct DLC_EXPORT Grouped {
  using Matrices = schema::Matrices;

  bool isGradient = false;
  int64_t rows = 0, groups = 0, k = 0, n = 0;
  DType dtype = DType::F32, index = DType::I32;
  Matrices matrices = Matrices::Rows;

  static Grouped of(const schema::Grouped &fields, bool canBePacked);

  /// Checks the call's buffers. If the matrices are packed, each takes `packedBytes` bytes.
  void check(BufferChecker &given, uint64_t packedBytes) const;
  /// Returns the first row of each group, followed by the end of the last group.
  std::vector<int64_t> borders(const void *ends) const;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
