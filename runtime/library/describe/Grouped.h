//===- Grouped.h - parsed description of a grouped matmul -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Fields.h"

namespace dlc::describe {

/// Grouped matmul: the rows of the first operand are divided into groups, and each group is
/// multiplied by its own matrix. The group boundaries are known only at run time: ends[i] is the
/// index after the last row of group i. An end below the previous end counts as the previous end,
/// and an end above `rows` counts as `rows`.
///
///   {"kind": "grouped_product", "rows", "groups", "k", "n", "dtype", "index": i32 or i64,
///    "b": "rows", "columns" or, if the library packs the matrices, "packed"}
///     a [rows, k], b [groups, k, n] ("columns": [groups, n, k]), ends [groups], dst [rows, n],
///     rows after the last end are 0
///
///   {"kind": "grouped_gradient", "rows", "groups", "k", "n", "dtype", "index"}
///     a [rows, k], dy [rows, n], ends [groups], dst [groups, k, n]
struct DLC_EXPORT Grouped {
  enum class Matrices { Rows, Columns, Packed };

  bool isGradient = false;
  int64_t rows = 0, groups = 0, k = 0, n = 0;
  DType dtype = DType::F32, index = DType::I32;
  Matrices matrices = Matrices::Rows;

  static bool isKind(const std::string &kind);
  static Grouped read(const Fields &fields, bool canBePacked);

  /// Checks the call's buffers. If the matrices are packed, each takes `packedBytes` bytes.
  void check(BufferChecker &given, uint64_t packedBytes) const;
  /// Returns the first row of each group, followed by the end of the last group.
  std::vector<int64_t> borders(const void *ends) const;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
