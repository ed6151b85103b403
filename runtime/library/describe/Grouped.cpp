//===- Grouped.cpp - parsed description of a grouped matmul ---------------===//
#include "runtime/library/describe/Grouped.h"

#include "runtime/program/Numeric.h"

#include <algorithm>

namespace dlc::describe {

Grouped Grouped::of(const schema::Grouped &fields, bool canBePacked) {
  Grouped g;
  g.isGradient = fields.kind == schema::GroupedKind::Gradient;
  g.rows = fields.rows, g.groups = fields.groups, g.k = fields.k, g.n = fields.n;
  g.dtype = fields.dtype;
  if (!runtime::isFloating(g.dtype))
    fields.complain("the element type must be floating-point");
  g.index = fields.index;
  if (g.index != DType::I32 && g.index != DType::I64)
    fields.complain("'index' must be i32 or i64; found: ", dtypeName(g.index));
  if (!g.isGradient) {
    if (!fields.b || (*fields.b == Matrices::Packed && !canBePacked))
      fields.complain("'b' must be ", canBePacked ? "rows, columns or packed" : "rows or columns");
    g.matrices = *fields.b;
  }
  const int64_t most = schema::kMaxSize / std::max<int64_t>(1, g.k) / std::max<int64_t>(1, g.n);
  if (most == 0 || g.groups > most || g.rows > most)
    fields.complain("the number of elements overflows");
  return g;
}

void Grouped::check(BufferChecker &given, uint64_t packedBytes) const {
  const auto size = dtypeBytes(dtype);
  given.need("a", rows * k, size);
  if (isGradient)
    given.need("dy", rows * n, size);
  else if (matrices == Matrices::Packed)
    given.need("b", groups, packedBytes);
  else
    given.need("b", groups * k * n, size);
  given.need("ends", groups, dtypeBytes(index));
  given.need("dst", isGradient ? groups * k * n : rows * n, size, true);
  given.end();
}

std::vector<int64_t> Grouped::borders(const void *ends) const {
  std::vector<int64_t> found = {0};
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t end = index == DType::I32 ? static_cast<const int32_t *>(ends)[i]
                                            : static_cast<const int64_t *>(ends)[i];
    found.push_back(std::clamp(end, found.back(), rows));
  }
  return found;
}

} // namespace dlc::describe
