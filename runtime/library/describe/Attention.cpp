//===- Attention.cpp - parsed description of an attention call ------------===//
#include "runtime/library/describe/Attention.h"

namespace dlc::describe {

static View readView(const Fields &fields, const char *name, size_t rank) {
  const Fields view = fields.object(name);
  return {view.integer("offset", 0, kMaxSize, 0), view.integers("strides", rank, 0, kMaxSize)};
}

Attention Attention::read(const Fields &fields) {
  Attention a;
  std::string kind = fields.kind();
  if (kind != "attention" && kind != "attention_grad")
    fields.complain("required: kind attention or attention_grad; found: '", kind, "'");
  a.isGradient = kind == "attention_grad";
  DType type = fields.dtype("dtype");
  if (type != DType::F32 && type != DType::BF16)
    fields.complain("required: f32 or bf16; found: '", dtypeName(type), "'");
  a.narrow = type == DType::BF16;
  a.scale = static_cast<float>(fields.number("scale"));
  a.causal = fields.flag("causal");
  a.hasSums = fields.flag("sums");
  a.batch = fields.sizes("batch", 0, 1);
  for (int64_t size : a.batch)
    a.heads *= size;
  a.queries = fields.size("queries", 1);
  a.keys = fields.size("keys", 1);
  a.depth = fields.size("depth", 1);
  a.width = fields.size("width", 1);
  if (__int128(a.heads) * a.queries > kMaxSize)
    fields.complain(a.heads, " heads of ", a.queries, " queries exceed the limit");
  size_t rank = a.batch.size() + 2;
  auto rows = [&](const char *name) {
    View view = readView(fields, name, rank);
    if (view.strides.back() != 1)
      fields.complain("'", name, "' must have contiguous rows");
    return view;
  };
  a.q = rows("q"), a.k = rows("k"), a.v = rows("v"), a.y = rows("y");
  if (a.isGradient)
    a.dy = rows("dy"), a.dq = rows("dq"), a.dk = rows("dk"), a.dv = rows("dv");
  if (!fields.has("mask"))
    return a;
  DType element = fields.object("mask").dtype("dtype");
  a.maskKind = element == DType::Bool   ? MaskKind::Bool
               : element == DType::F32  ? MaskKind::F32
               : element == DType::BF16 ? MaskKind::BF16
                                        : MaskKind::None;
  if (a.maskKind == MaskKind::None)
    fields.complain("required: a mask of bool, f32 or bf16; found: '", dtypeName(element), "'");
  a.mask = readView(fields, "mask", rank);
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
