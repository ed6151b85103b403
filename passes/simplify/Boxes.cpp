//===- Boxes.cpp - scatters and gathers whose indices form a box ----------===//
//
// Exporters write an assignment to a slice as a scatter with constant indices: all indices of a
// box, in order. The patterns rewrite these to slices and concatenations.
//
//===-------------------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc {
namespace {

/// Integer tensor that counts along one dimension: its elements are `first` plus their index along
/// the dimension `dim`, or are all equal to `first` if there is no `dim`.
struct IotaPattern {
  int64_t first = 0;
  std::optional<int64_t> dim;
};

/// Matches a constant whose elements count along one dimension. The constant may be large because
/// exporters fold whole grids. If `only` is given, only this index of the last dimension is read,
/// and the last dimension is treated as a dimension of size 1.
std::optional<IotaPattern> countIn(const ref::Tensor &tensor, ArrayRef<int64_t> shape,
                                   std::optional<int64_t> only) {
  SmallVector<int64_t> seen(shape);
  int64_t last = only ? seen.back() : 1, at = only.value_or(0);
  if (only)
    seen.back() = 1;
  auto strides = ref::rowMajorStrides(seen);
  int64_t elements = tensor.size() / last;
  auto element = [&](int64_t i) { return tensor.getInt(i * last + at); };
  IotaPattern count{element(0), std::nullopt};
  for (auto [d, size] : llvm::enumerate(seen))
    if (size > 1 && element(strides[d]) != count.first)
      count.dim = count.dim ? -1 : int64_t(d);
  if (count.dim == -1)
    return std::nullopt;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t step = count.dim ? i / strides[*count.dim] % seen[*count.dim] : 0;
    if (element(i) != count.first + step)
      return std::nullopt;
  }
  return count;
}

/// Returns the dimension of a reshape's result that has the size and the stride of dimension `dim`
/// of its operand, or nullopt if there is none.
std::optional<int64_t> findReshapedDim(ArrayRef<int64_t> from, int64_t dim, ArrayRef<int64_t> to) {
  auto after = [](ArrayRef<int64_t> shape, int64_t d) {
    int64_t elements = 1;
    for (int64_t size : shape.drop_front(d + 1))
      elements *= size;
    return elements;
  };
  for (auto [d, size] : llvm::enumerate(to))
    if (size == from[dim] && after(to, int64_t(d)) == after(from, dim))
      return int64_t(d);
  return std::nullopt;
}

std::optional<IotaPattern> matchIotaPattern(Value value) {
  RankedTensorType type = typeOf(value);
  if (!type.hasStaticShape() || staticElements(type) == 0)
    return std::nullopt;
  if (std::optional<double> splat = splatValue(value))
    return IotaPattern{int64_t(*splat), std::nullopt};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<ConstantOp>(op)) {
    std::optional<ref::Tensor> tensor = constantTensor(value);
    return tensor ? countIn(*tensor, staticShape(type), std::nullopt) : std::nullopt;
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return IotaPattern{0, int64_t(iota.getAxis())};
  if (auto cast = dyn_cast<CastOp>(op))
    return isa<IntegerType>(typeOf(cast.getX()).getElementType()) ? matchIotaPattern(cast.getX())
                                                                  : std::nullopt;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    std::optional<IotaPattern> count = matchIotaPattern(broadcast.getX());
    if (count && count->dim)
      *count->dim += type.getRank() - typeOf(broadcast.getX()).getRank();
    return count;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<IotaPattern> count = matchIotaPattern(reshape.getX());
    if (count && count->dim) {
      count->dim = findReshapedDim(shapeOf(reshape.getX()), *count->dim, staticShape(type));
      if (!count->dim)
        return std::nullopt;
    }
    return count;
  }
  return std::nullopt;
}

/// Box (hyperrectangle) of elements that a grid of index tuples covers in row-major order.
struct Box {
  SmallVector<int64_t> start, size;
};

/// Returns the box in a tensor of `shape` that the index tuples cover, or nullopt if they do not
/// cover a box in row-major order.
std::optional<Box> matchIndexBox(Value indices, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(indices);
  if (!type.hasStaticShape() || type.getRank() == 0 || staticElements(type) == 0)
    return std::nullopt;
  ArrayRef<int64_t> grid = staticShape(type).drop_back();
  int64_t components = staticShape(type).back();
  std::vector<std::optional<IotaPattern>> counts;
  auto concat = indices.getDefiningOp<ConcatOp>();
  if (concat && int64_t(concat.getAxis()) == type.getRank() - 1) {
    for (Value part : concat.getXs()) {
      if (shapeOf(part).back() != 1)
        return std::nullopt;
      counts.push_back(matchIotaPattern(part));
    }
  } else if (components == 1) {
    counts.push_back(matchIotaPattern(indices));
  } else if (std::optional<ref::Tensor> tensor = constantTensor(indices)) {
    for (int64_t k = 0; k < components; ++k) {
      counts.push_back(countIn(*tensor, staticShape(type), k));
      if (!counts.back())
        return std::nullopt;
    }
  }
  if (int64_t(counts.size()) != components || components > int64_t(shape.size()))
    return std::nullopt;
  Box box;
  int64_t next = 0;
  for (auto [k, count] : llvm::enumerate(counts)) {
    if (!count)
      return std::nullopt;
    int64_t first = count->first < 0 ? count->first + shape[k] : count->first, size = 1;
    if (count->dim) {
      // The grid's dimensions must be in the order of the tensor's dimensions. Grid dimensions
      // along which no component counts must have size 1.
      int64_t dim = *count->dim;
      if (dim < next || dim >= int64_t(grid.size()))
        return std::nullopt;
      for (; next < dim; ++next)
        if (grid[next] != 1)
          return std::nullopt;
      size = grid[next++];
    }
    if (first < 0 || first + size > shape[k])
      return std::nullopt;
    box.start.push_back(first);
    box.size.push_back(size);
  }
  for (; next < int64_t(grid.size()); ++next)
    if (grid[next] != 1)
      return std::nullopt;
  for (int64_t size : shape.drop_front(components)) {
    box.start.push_back(0);
    box.size.push_back(size);
  }
  return box;
}

Value createSlice(TensorBuilder &b, Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> size) {
  SmallVector<int64_t> stride(start.size(), 1);
  return b.make<SliceOp>(x, start, size, stride);
}

/// Returns x with the box replaced by `inside`, by concatenations along one dimension after the
/// other, from the last to the first.
Value replaceBox(TensorBuilder &b, Value x, Value inside, const Box &box) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> start(box.start), size(box.size);
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    int64_t end = box.start[d] + box.size[d];
    SmallVector<Value> parts;
    auto keep = [&](int64_t from, int64_t count) {
      if (count == 0)
        return;
      start[d] = from;
      size[d] = count;
      parts.push_back(createSlice(b, x, start, size));
    };
    keep(0, box.start[d]);
    parts.push_back(inside);
    keep(end, shape[d] - end);
    if (parts.size() > 1)
      inside = b.make<ConcatOp>(parts, d);
    start[d] = 0;
    size[d] = shape[d];
  }
  return inside;
}

Value met(TensorBuilder &b, ScatterReduction how, Value before, Value update) {
  switch (how) {
  case ScatterReduction::none:
    return update;
  case ScatterReduction::add:
    return b.make<AddOp>(before, update);
  case ScatterReduction::mul:
    return b.make<MulOp>(before, update);
  case ScatterReduction::min:
    return b.make<MinOp>(before, update);
  case ScatterReduction::max:
    return b.make<MaxOp>(before, update);
  }
  llvm_unreachable("all reductions are named");
}

Value scattered(OpBuilder &builder, Location loc, Value x, Value updates, ScatterReduction how,
                const Box &box) {
  TensorBuilder b(builder, loc);
  Value update = b.reshape(updates, box.size);
  if (how != ScatterReduction::none)
    update = met(b, how, createSlice(b, x, box.start, box.size), update);
  return replaceBox(b, x, update, box);
}

// scatter_nd(x, all indices of a box, u) -> x with the box replaced by u
struct ScatterNdToBox : OpRewritePattern<ScatterNdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterNdOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getX()).hasStaticShape() || !typeOf(op.getUpdates()).hasStaticShape())
      return failure();
    std::optional<Box> box = matchIndexBox(op.getIndices(), shapeOf(op.getX()));
    if (!box)
      return failure();
    rewriter.replaceOp(
        op, scattered(rewriter, op.getLoc(), op.getX(), op.getUpdates(), op.getReduction(), *box));
    return success();
  }
};

// scatter_elements(x, first + i along the axis, u) -> x with the box replaced by u
struct ScatterElementsToBox : OpRewritePattern<ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterElementsOp op, PatternRewriter &rewriter) const override {
    auto axis = int64_t(op.getAxis());
    if (!typeOf(op.getX()).hasStaticShape() || !typeOf(op.getUpdates()).hasStaticShape())
      return failure();
    std::optional<IotaPattern> count = matchIotaPattern(op.getIndices());
    ArrayRef<int64_t> shape = shapeOf(op.getX()), size = shapeOf(op.getUpdates());
    if (!count || (count->dim ? *count->dim != axis : size[axis] != 1))
      return failure();
    Box box{SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(size)};
    box.start[axis] = count->first < 0 ? count->first + shape[axis] : count->first;
    if (box.start[axis] < 0 || box.start[axis] + size[axis] > shape[axis])
      return failure();
    rewriter.replaceOp(
        op, scattered(rewriter, op.getLoc(), op.getX(), op.getUpdates(), op.getReduction(), box));
    return success();
  }
};

// gather_nd(x, all indices of a box) -> slice of x
struct GatherNdToBox : OpRewritePattern<GatherNdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherNdOp op, PatternRewriter &rewriter) const override {
    if (op.getBatchDims() != 0 || !typeOf(op.getX()).hasStaticShape() ||
        !typeOf(op.getY()).hasStaticShape())
      return failure();
    std::optional<Box> box = matchIndexBox(op.getIndices(), shapeOf(op.getX()));
    if (!box)
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, b.reshape(createSlice(b, op.getX(), box->start, box->size), shapeOf(op.getY())));
    return success();
  }
};

} // namespace

void addBoxPatterns(RewritePatternSet &patterns) {
  patterns.add<ScatterNdToBox, ScatterElementsToBox, GatherNdToBox>(patterns.getContext());
}

} // namespace dlc
