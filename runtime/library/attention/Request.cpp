//===- Request.cpp - reading and checking an attention's description ------------------===//
#include "runtime/library/attention/Request.h"

#include "runtime/program/Message.h"

namespace dlc::attention {

using nlohmann::json;
using runtime::fail;

namespace {

constexpr int64_t kMost = int64_t(1) << 40;

int64_t sizeOf(const json &value, const char *name) {
  auto size = value.get<int64_t>();
  if (size < 1 || size > kMost)
    fail("attention: '", name, "' must be from 1 to 2^40, found ", size);
  return size;
}

View viewOf(const json &desc, const char *name, size_t rank) {
  const json &from = desc.at(name);
  View view{from.value("offset", int64_t(0)), from.at("strides").get<std::vector<int64_t>>()};
  if (view.strides.size() != rank)
    fail("attention: ", rank, " strides expected for '", name, "', found ", view.strides.size());
  for (int64_t stride : view.strides)
    if (stride < 0 || stride > kMost)
      fail("attention: strides of '", name, "' must be from 0 to 2^40, found ", stride);
  if (view.offset < 0 || view.offset > kMost)
    fail("attention: 'offset' of '", name, "' must be from 0 to 2^40, found ", view.offset);
  return view;
}

/// Elements of a buffer that the view reaches.
int64_t reach(const View &view, std::vector<int64_t> dims) {
  int64_t last = view.offset;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t step = 0;
    if (__builtin_mul_overflow(dims[d] - 1, view.strides[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      fail("attention: an operand reaches too far");
  }
  return last + 1;
}

} // namespace

Request Request::parse(const json &desc) {
  try {
    Request r;
    std::string kind = desc.value("kind", "");
    if (kind != "attention" && kind != "attention_grad")
      fail("attention: unknown kind '", kind, "': attention or attention_grad expected");
    r.isGradient = kind == "attention_grad";
    std::string type = desc.value("dtype", "");
    if (type != "f32" && type != "bf16")
      fail("attention: f32 or bf16 expected, found '", type, "'");
    r.narrow = type == "bf16";
    r.lanes = desc.at("lanes").get<int>();
    r.parts = desc.value("parts", 0);
    if ((r.lanes != 8 && r.lanes != 16) || r.parts < 0 || r.parts > 3)
      fail("attention: 8 or 16 lanes and up to 3 parts expected, found ", r.lanes, " and ",
           r.parts);
    r.scale = desc.at("scale").get<float>();
    r.causal = desc.value("causal", false);
    r.hasSums = desc.value("sums", false);
    for (const json &size : desc.at("batch")) {
      r.batch.push_back(sizeOf(size, "batch"));
      r.heads = sizeOf(r.heads * r.batch.back(), "batch");
    }
    r.queries = sizeOf(desc.at("queries"), "queries");
    r.keys = sizeOf(desc.at("keys"), "keys");
    r.depth = sizeOf(desc.at("depth"), "depth");
    r.width = sizeOf(desc.at("width"), "width");
    size_t rank = r.batch.size() + 2;
    auto rows = [&](const char *name) {
      View view = viewOf(desc, name, rank);
      if (view.strides.back() != 1)
        fail("attention: '", name, "' must have rows whose elements lie together");
      return view;
    };
    r.q = rows("q"), r.k = rows("k"), r.v = rows("v"), r.y = rows("y");
    if (r.isGradient)
      r.dy = rows("dy"), r.dq = rows("dq"), r.dk = rows("dk"), r.dv = rows("dv");
    if (desc.contains("mask")) {
      std::string element = desc["mask"].value("dtype", "");
      r.maskKind =
          element == "bool"  ? MaskKind::Bool
          : element == "f32" ? MaskKind::F32
          : element == "bf16"
              ? MaskKind::BF16
              : (fail("attention: a mask of bool, f32 or bf16 expected, found '", element, "'"),
                 MaskKind::None);
      r.mask = viewOf(desc, "mask", rank);
    }
    return r;
  } catch (const json::exception &error) {
    fail("attention: wrong description: ", error.what());
  }
}

void Request::check(std::span<const runtime::BufferInfo> buffers) const {
  size_t next = 0;
  auto need = [&](const char *name, int64_t elements, int64_t each, bool written) {
    if (next >= buffers.size())
      fail("attention: no buffer for '", name, "': ", buffers.size(), " given");
    const runtime::BufferInfo &buffer = buffers[next++];
    if (static_cast<uint64_t>(elements) > buffer.bytes / static_cast<uint64_t>(each))
      fail("attention: '", name, "' needs ", elements, " elements of ", each, " bytes, found ",
           buffer.bytes, " bytes");
    if (written && !buffer.writable)
      fail("attention: '", name, "' must be writable");
  };
  auto rows = [&](const char *name, const View &view, int64_t count, int64_t size, bool written) {
    std::vector<int64_t> dims = batch;
    dims.insert(dims.end(), {count, size});
    need(name, reach(view, dims), bytes(), written);
  };
  int64_t sums = heads > kMost / queries ? kMost : heads * queries;
  rows("q", q, queries, depth, false);
  rows("k", k, keys, depth, false);
  rows("v", v, keys, width, false);
  if (isGradient) {
    rows("y", y, queries, width, false);
    need("lse", sums, 4, false);
    rows("dy", dy, queries, width, false);
  }
  if (maskKind != MaskKind::None) {
    std::vector<int64_t> dims = batch;
    dims.insert(dims.end(), {queries, keys});
    int64_t each = maskKind == MaskKind::Bool ? 1 : maskKind == MaskKind::BF16 ? 2 : 4;
    need("mask", reach(mask, dims), each, false);
  }
  if (isGradient) {
    rows("dq", dq, queries, depth, true);
    rows("dk", dk, keys, depth, true);
    rows("dv", dv, keys, width, true);
  } else {
    rows("y", y, queries, width, true);
    if (hasSums)
      need("lse", sums, 4, true);
  }
  if (next != buffers.size())
    fail("attention: ", next, " buffers expected, ", buffers.size(), " given");
}

} // namespace dlc::attention
