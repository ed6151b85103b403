//===- Shape.cpp - reshapes and casts -------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

void same(Node &n, Build &) { n.set(n.tensor("self")); }

void convert(Node &n, Build &b) {
  n.set(b.cast(n.tensor(n.has("a") ? "a" : "self"), n.resultElement()));
}

/// view and reshape. One size may be -1, which is inferred from the number of elements.
void view(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims shape = n.has("shape") ? n.ints("shape") : n.ints("size");
  int64_t known = 1, open = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == -1)
      open = int64_t(i);
    else
      known *= size;
  }
  if (open >= 0)
    shape[size_t(open)] = known ? b.count(x) / known : 0;
  n.set(b.reshape(x, shape));
}

void permute(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims order = n.ints("dims");
  for (int64_t &d : order)
    d = b.axis(d, b.rank(x), "argument 'dims'");
  n.set(b.transpose(x, order));
}

void transposeDims(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (b.rank(x) == 0)
    return n.set(x);
  int64_t first = n.axis("dim0", b.rank(x)), second = n.axis("dim1", b.rank(x));
  Dims order;
  for (int64_t i = 0; i < b.rank(x); ++i)
    order.push_back(i == first ? second : i == second ? first : i);
  n.set(b.transpose(x, order));
}

void transposeMatrix(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.rank(x) < 2 ? x : b.swapLast(x));
}

/// expand: broadcasts x to a shape. A size of -1 keeps the size of x.
Value expandTo(Build &b, Value x, Dims shape) {
  int64_t added = int64_t(shape.size()) - b.rank(x);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == -1 && int64_t(i) >= added)
      shape[i] = b.dim(x, int64_t(i) - added);
  return b.broadcast(x, shape);
}

void expand(Node &n, Build &b) { n.set(expandTo(b, n.tensor("self"), n.ints("size"))); }

void copy(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(expandTo(b, b.cast(n.tensor("src"), b.elem(x)), b.dims(x)));
}

void unsqueeze(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.expandDims(x, n.axis("dim", b.rank(x) + 1)));
}

void squeeze(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims axes = n.axes("dim", b.rank(x), /*emptyIsAll=*/false), shape;
  for (int64_t i = 0; i < b.rank(x); ++i)
    if (b.dim(x, i) != 1 || !llvm::is_contained(axes, i))
      shape.push_back(b.dim(x, i));
  n.set(b.reshape(x, shape));
}

void flatten(Node &n, Build &b) {
  Value x = n.tensor("self");
  if (b.rank(x) == 0)
    return n.set(b.reshape(x, {1}));
  int64_t first = n.axis("start_dim", b.rank(x)), last = n.axis("end_dim", b.rank(x));
  Dims shape;
  for (int64_t i = 0; i < b.rank(x); ++i) {
    if (i > first && i <= last)
      shape.back() *= b.dim(x, i);
    else
      shape.push_back(b.dim(x, i));
  }
  n.set(b.reshape(x, shape));
}

void repeat(Node &n, Build &b) {
  Value x = n.tensor("self");
  Dims times = n.ints("repeats"), apart, wide, shape;
  int64_t added = int64_t(times.size()) - b.rank(x);
  if (!b.require(added >= 0, "argument 'repeats': required: an entry for each dimension"))
    return;
  for (auto [i, factor] : llvm::enumerate(times)) {
    int64_t size = int64_t(i) < added ? 1 : b.dim(x, int64_t(i) - added);
    apart.insert(apart.end(), {1, size});
    wide.insert(wide.end(), {factor, size});
    shape.push_back(factor * size);
  }
  n.set(b.reshape(b.broadcast(b.reshape(x, apart), wide), shape));
}

/// pixel_shuffle: moves groups of r * r channels to blocks of r x r pixels. pixel_unshuffle moves
/// the blocks back to channels.
template <bool toPlaces> void pixelShuffle(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t r = toPlaces ? n.integer("upscale_factor") : n.integer("downscale_factor"),
          rank = b.rank(x);
  if (!b.require(rank >= 3 && r >= 1, "required: x [.., C, H, W] and a positive factor"))
    return;
  Dims outer(b.shape(x).begin(), b.shape(x).end() - 3);
  int64_t N = 1, C = b.dim(x, -3), H = b.dim(x, -2), W = b.dim(x, -1);
  for (int64_t d : outer)
    N *= d;
  Value y;
  if (toPlaces) {
    y = b.transpose(b.reshape(x, {N, C / (r * r), r, r, H, W}), {0, 1, 4, 2, 5, 3});
    outer.insert(outer.end(), {C / (r * r), H * r, W * r});
  } else {
    y = b.transpose(b.reshape(x, {N, C, H / r, r, W / r, r}), {0, 1, 3, 5, 2, 4});
    outer.insert(outer.end(), {C * r * r, H / r, W / r});
  }
  n.set(b.reshape(y, outer));
}

const Operator table[] = {
    {"view.default", view},
    {"view_copy.default", view},
    {"_unsafe_view.default", view},
    {"reshape.default", view},
    {"_reshape_copy.default", view},
    {"permute.default", permute},
    {"permute_copy.default", permute},
    {"transpose.int", transposeDims},
    {"transpose_copy.int", transposeDims},
    {"t.default", transposeMatrix},
    {"t_copy.default", transposeMatrix},
    {"expand.default", expand},
    {"expand_copy.default", expand},
    {"unsqueeze.default", unsqueeze},
    {"unsqueeze_copy.default", unsqueeze},
    {"squeeze.default", squeeze},
    {"squeeze.dim", squeeze},
    {"squeeze.dims", squeeze},
    {"squeeze_copy.default", squeeze},
    {"squeeze_copy.dim", squeeze},
    {"squeeze_copy.dims", squeeze},
    {"flatten.using_ints", flatten},
    {"repeat.default", repeat},
    {"pixel_shuffle.default", pixelShuffle<true>},
    {"pixel_unshuffle.default", pixelShuffle<false>},
    {"copy.default", copy},
    {"clone.default", same},
    {"alias.default", same},
    {"alias_copy.default", same},
    {"detach.default", same},
    {"contiguous.default", same},
    {"lift.default", same},
    {"lift_fresh.default", same},
    {"lift_fresh_copy.default", same},
    {"_to_copy.default", convert},
    {"to.dtype", convert},
    {"prims::convert_element_type.default", convert},
};

} // namespace

ArrayRef<Operator> shapeOperators() { return table; }

} // namespace dlc::aten
