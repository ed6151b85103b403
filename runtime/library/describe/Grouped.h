//===- Grouped.h - groups of rows, each times a matrix of its own, whoever computes it ----===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Fields.h"

namespace dlc::describe {

/// What are in groups are the first operand's rows. Where they begin only a run tells: `ends` says
/// behind which row each ends; less than the end before it counts as that, more than all rows as
/// all of them.
///
///   {"kind": "grouped_product", "rows", "groups", "k", "n", "dtype", "index": i32 or i64,
///    "b": "rows", "columns" or, where the library packs them, "packed"}
///     a [rows, k], b [groups, k, n] ("columns": [groups, n, k]), ends [groups], dst [rows, n],
///     0 behind the last end
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

  /// That there are the buffers, `packedBytes` for each matrix where they are packed.
  void check(Buffers &given, uint64_t packedBytes) const;
  /// Where groups begin, and where the last one ends.
  std::vector<int64_t> borders(const void *ends) const;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_GROUPED_H
