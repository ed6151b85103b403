//===- Shape.cpp - gradients of operations that move elements -------------===//
#include "ir/dlc/Shape.h"
#include "passes/Dimensions.h"
#include "passes/grad/Rules.h"
#include "passes/grad/rules/Scatter.h"

using namespace mlir;

namespace dlc::grad {

/// Dilates x: inserts stride - 1 zeros after each element along the axis.
static Expr dilateWithZeros(Expr x, int64_t axis, int64_t stride) {
  if (stride == 1)
    return x;
  SmallVector<int64_t> split(x.shape()), joined(x.shape());
  split.insert(split.begin() + axis + 1, 1);
  joined[axis] *= stride;
  SmallVector<int64_t> low(split.size(), 0), high(split.size(), 0);
  high[axis + 1] = stride - 1;
  return x.reshape(split).pad(low, high).reshape(joined);
}

// slice: dx = dy at the elements that the slice selects, 0 elsewhere
static void differentiate(SliceOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  ArrayRef<int64_t> whole = shapeOf(op.getX());
  SmallVector<int64_t> start(op.getStart());
  if (llvm::all_of(op.getStride(), [](int64_t stride) { return stride == 1; }))
    return g.addPart(op.getX(), start, [&] { return dy; });
  g.add(op.getX(), [&]() -> Value {
    if (product(dy.shape()) == 0)
      return zeros(g.build(), op.getX().getType());
    Expr dx = dy;
    SmallVector<int64_t> high;
    for (auto [d, stride] : llvm::enumerate(op.getStride())) {
      if (stride < 0) {
        start[d] += (dy.dim(d) - 1) * stride;
        dx = dx.reversed(d);
      }
      dx = dilateWithZeros(dx, d, std::abs(stride));
      high.push_back(whole[d] - start[d] - dx.dim(d));
    }
    return dx.pad(start, high);
  });
}

/// Returns, for each index along an axis of a pad's result, the index of the operand's element.
static SmallVector<int64_t> computePadSourceIndices(PadMode mode, int64_t size, int64_t low,
                                                    int64_t high) {
  SmallVector<int64_t> from;
  for (int64_t i = -low; i < size + high; ++i) {
    int64_t at = i;
    if (mode == PadMode::edge)
      at = std::clamp<int64_t>(i, 0, size - 1);
    else if (mode == PadMode::wrap)
      at = (i % size + size) % size;
    else
      at = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    from.push_back(at);
  }
  return from;
}

static void differentiate(PadOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY());
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  auto negative = [](ArrayRef<int64_t> sizes) {
    return llvm::map_to_vector(sizes, [](int64_t size) { return -size; });
  };
  if (op.getMode() == PadMode::constant) {
    // pad with a constant: dx = dy without the padding, dvalue = sum of dy over the padding
    Expr dx = dy.pad(negative(low), negative(high));
    g.add(op.getX(), [&] { return dx; });
    g.add(op.getValue(), [&] {
      auto all = range(0, dy.rank());
      return dy.sum(all).reshape({}) - dx.sum(all).reshape({});
    });
    return;
  }
  // pad with operand elements: dx[from[i]] += dy[i], one dimension at a time
  g.add(op.getX(), [&]() -> Value {
    Expr dx = dy;
    for (auto [d, size] : llvm::enumerate(shapeOf(op.getX()))) {
      if (low[d] == 0 && high[d] == 0)
        continue;
      SmallVector<int64_t> from = computePadSourceIndices(op.getMode(), size, low[d], high[d]);
      Builder attributes(op.getContext());
      auto type = makeTensorType({int64_t(from.size())}, attributes.getI64Type(),
                                 deviceOf(op.getX().getType()));
      auto attr = DenseElementsAttr::get(type, ArrayRef<int64_t>(from));
      Value indices = g.build().make<ConstantOp>(llvm::cast<ElementsAttr>(attr));
      SmallVector<int64_t> shape(dx.shape());
      shape[d] = size;
      dx = scatterAddAlongAxis(dx, g(indices), shape, d);
    }
    return dx;
  });
}

void addShapeOpGradients(GradientRules &rules) {
  // reshape: dx = dy in x's shape
  rules.unary<ReshapeOp>([](Expr dy, Expr x, Expr) { return dy.reshape(x.shape()); });
  // broadcast: dx = dy summed over the broadcast dimensions
  rules.unary<BroadcastOp>([](Expr dy, Expr x, Expr) { return dy.fit(x.shape()); });
  // transpose: dx = dy, transposed by the inverse permutation
  rules.add<TransposeOp>([](TransposeOp op, BackwardPass &g) {
    g.add(op.getX(),
          [&] { return g.of(op.getY()).transpose(invertPermutation(op.getPermutation())); });
  });
  rules.add<SliceOp>([](SliceOp op, BackwardPass &g) { differentiate(op, g); });
  rules.add<PadOp>([](PadOp op, BackwardPass &g) { differentiate(op, g); });
  // concat: the gradient of each operand is the corresponding slice of dy
  rules.add<ConcatOp>([](ConcatOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    int64_t axis = op.getAxis(), from = 0;
    for (Value x : op.getXs()) {
      int64_t size = shapeOf(x)[axis];
      g.add(x, [&] { return dy.part(axis, from, size); });
      from += size;
    }
  });
}

} // namespace dlc::grad
