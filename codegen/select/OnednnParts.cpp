//===- OnednnParts.cpp - products of f32 as longer products of bf16 --------===//
//
// Tiles multiply bf16 sixteen times as fast as vectors multiply f32. With x = h + l (m between them where 24 bits are to be
// kept), a sum over K products of f32 is one over 3 K (6 K) products of bf16, added in f32. What is left out of three is l·l,
// at most 2^-16 of |x||y|, and the rest of l; of six what is below 2^-24.
//
//===---------------------------------------------------------------------------===//
#include "codegen/select/OnednnDesc.h"

#include <numeric>

using namespace mlir;

namespace dlc::onednn_desc {

ArrayRef<PartsForm> partsForms() {
  static const PartsForm forms[] = {{"bf16x3", "hhl", "hlh"}, {"bf16x6", "hhmmhl", "hmhmlh"}};
  return forms;
}

namespace {

std::vector<int64_t> integers(const json &values) { return values.get<std::vector<int64_t>>(); }

std::vector<int64_t> stridesOf(const json &argument) {
  if (argument.contains("strides"))
    return integers(argument["strides"]);
  auto dims = integers(argument["dims"]);
  return std::vector<int64_t>(ref::rowMajorStrides(dims));
}

/// The argument in parts along `axis`, dense in the order of its memory; false where it repeats elements.
bool splitArgument(json &argument, size_t axis, StringRef order) {
  std::vector<int64_t> dims = integers(argument["dims"]), strides = stridesOf(argument), parts(dims.size());
  std::vector<size_t> byStride(dims.size());
  std::iota(byStride.begin(), byStride.end(), 0);
  // Dimensions of one element stay outside, where they cannot come between a run and its parts.
  llvm::stable_sort(byStride, [&](size_t a, size_t b) {
    auto key = [&](size_t d) { return std::make_pair(dims[d] == 1 && d != axis, strides[d]); };
    return key(a) > key(b);
  });
  argument["parts"] = {{"axis", axis}, {"order", order.str()}, {"strides", strides}};
  dims[axis] *= int64_t(order.size());
  int64_t next = 1;
  for (size_t d : llvm::reverse(byStride)) {
    if (strides[d] == 0 && dims[d] > 1)
      return false;
    parts[d] = next;
    next *= dims[d];
  }
  argument["dims"] = dims;
  argument["dtype"] = "bf16";
  argument["strides"] = parts;
  argument.erase("tag");
  return true;
}

} // namespace

std::optional<Pending> inParts(Pending call, const PartsForm &form, std::string *why) {
  auto no = [&](const char *reason) {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  json &src = call.desc["src"], &weights = call.desc["weights"];
  if (src["dtype"] != "f32" || weights["dtype"] != "f32")
    return no("only products of f32 come in parts");
  size_t rank = src["dims"].size();
  if (!splitArgument(src, rank - 1, form.lhs))
    return no("an operand in parts must not repeat elements");
  if (call.packs.empty() || call.packs.front().name != "weights") {
    if (!splitArgument(weights, rank - 2, form.rhs))
      return no("an operand in parts must not repeat elements");
  } else {
    auto dims = integers(weights["dims"]);
    dims[rank - 2] *= int64_t(form.rhs.size());
    weights["dims"] = dims;
    weights["dtype"] = "bf16";
    call.packs.front().parts = {{"axis", rank - 2}, {"order", form.rhs.str()}};
  }
  call.form = (form.name + "/").str();
  return call;
}

} // namespace dlc::onednn_desc
