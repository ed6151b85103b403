//===- Attention.cpp - parsed description of an attention call ------------===//
#include "runtime/library/describe/Attention.h"

namespace dlc::describe {

/// Returns the MaskKind of a mask's elements.
static MaskKind maskKindOf(const schema::MaskView &mask) {
  switch (mask.dtype) {
  case DType::Bool:
    return MaskKind::Bool;
  case DType::F32:
    return MaskKind::F32;
  case DType::BF16:
    return MaskKind::BF16;
  default:
    mask.complain("required: a mask of bool, f32 or bf16; found: '", dtypeName(mask.dtype), "'");
  }
}

Attention Attention::of(const schema::Attention &fields) {
  Attention a;
  a.isGradient = fields.kind == schema::AttentionKind::Gradient;
  if (fields.dtype != DType::F32 && fields.dtype != DType::BF16)
    fields.complain("required: f32 or bf16; found: '", dtypeName(fields.dtype), "'");
  a.narrow = fields.dtype == DType::BF16;
  a.scale = static_cast<float>(fields.scale);
  a.causal = fields.causal;
  a.hasSums = fields.sums.value_or(false);
  a.batch = fields.batch;
  for (int64_t size : a.batch)
    a.heads *= size;
  a.queries = fields.queries, a.keys = fields.keys;
  a.depth = fields.depth, a.width = fields.width;
  if (__int128(a.heads) * a.queries > schema::kMaxSize)
    fields.complain(a.heads, " heads of ", a.queries, " queries exceed the limit");
  auto view = [&](const char *name, const schema::View &given) -> View {
    if (given.strides.size() != a.batch.size() + 2)
      fields.complain("'", name, "' must have ", a.batch.size() + 2, " strides");
    return {given.offset, given.strides};
  };
  auto rows = [&](const char *name, const schema::Maybe<schema::View> &given) {
    if (!given)
      fields.complain("'", name, "' is missing");
    if (given->strides.empty() || given->strides.back() != 1)
      fields.complain("'", name, "' must have contiguous rows");
    return view(name, *given);
  };
  a.q = rows("q", fields.q), a.k = rows("k", fields.k), a.v = rows("v", fields.v);
  a.y = rows("y", fields.y);
  if (a.isGradient) {
    a.dy = rows("dy", fields.dy), a.dq = rows("dq", fields.dq);
    a.dk = rows("dk", fields.dk), a.dv = rows("dv", fields.dv);
  }
  if (fields.mask) {
    a.maskKind = maskKindOf(*fields.mask);
    a.mask = view("mask", *fields.mask);
  }
  return a;
}

void Attention::check(BufferChecker &given) const {
  auto need = [&](const char *name, const View &view, int64_t rows, int64_t columns, int64_t each,
                  bool written) {
    std::vector<int64_t> dims = batch;
    dims.insert(dims.end(), {rows, columns});
    given.need(name, view.offset + computeExtent(dims, view.strides), static_cast<uint64_t>(each),
               written);
  };
  auto read = [&](const char *name, const View &view, int64_t rows, int64_t columns) {
    need(name, view, rows, columns, bytes(), false);
  };
  auto write = [&](const char *name, const View &view, int64_t rows, int64_t columns) {
    need(name, view, rows, columns, bytes(), true);
  };
  read("q", q, queries, depth);
  read("k", k, keys, depth);
  read("v", v, keys, width);
  if (isGradient) {
    read("y", y, queries, width);
    given.need("lse", heads * queries, sizeof(float));
    read("dy", dy, queries, width);
  }
  if (maskKind != MaskKind::None)
    need("mask", mask, queries, keys,
         maskKind == MaskKind::Bool   ? 1
         : maskKind == MaskKind::BF16 ? 2
                                      : 4,
         false);
  if (isGradient) {
    write("dq", dq, queries, depth);
    write("dk", dk, keys, depth);
    write("dv", dv, keys, width);
    return;
  }
  write("y", y, queries, width);
  if (hasSums)
    given.need("lse", heads * queries, sizeof(float), true);
}

} // namespace dlc::describe
