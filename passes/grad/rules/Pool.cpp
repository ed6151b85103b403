//===- Pool.cpp - gradients of pools --------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

/// Maximum window size for which an 8-bit index represents the position of the maximum in the
/// window.
static constexpr int64_t largestWindow = 256;

template <typename Op> static Operation *createMaxPoolPositions(OpBuilder &here, Op op) {
  return MaxPoolPositionsOp::create(here, op.getLoc(), op.getX(), op.getWindow(), op.getStrides(),
                                    op.getDilations(), op.getLow(), op.getHigh());
}

template <typename Op>
static Value maxPoolGrad(BackwardPass &g, Op op, Value dy, Value position,
                         ArrayRef<int64_t> spatial) {
  return g.build().make<MaxPoolGradOp>(dy, position, spatial, op.getWindow(), op.getStrides(),
                                       op.getDilations(), op.getLow(), op.getHigh());
}

/// Builds dx of a max pool by adding dy at the flat indices of the maxima. A window that contains
/// only padding has a negative index and adds nothing.
static Value scatterToMaxima(BackwardPass &g, Expr dy, Expr indices, Value x) {
  int64_t count = product(dy.shape());
  Expr places = indices.reshape(count);
  Expr values = drop(compare(Predicate::lt, places, places.scalar(0)), dy.reshape(count));
  auto type = makeTensorType(product(shapeOf(x)), dy.element(), deviceOf(x.getType()));
  Value sum = g.build().make<ScatterElementsOp>(Value(zeros(g.build(), type)), Value(places),
                                                Value(values), /*axis=*/0, ScatterReduction::add);
  return g.build().reshape(sum, shapeOf(x));
}

// Gradient of a max pool. The forward operation is replaced by one that saves the position of each
// maximum: dx = dy at these positions
template <typename Op> static void differentiateMaxPool(Op op, BackwardPass &g) {
  Expr dy = g.of(op->getResult(0));
  if (!g.needsGradient(op.getX()))
    return;
  OpBuilder here(op);
  if (product(op.getWindow()) > largestWindow) {
    auto whole = MaxPoolIndicesOp::create(here, op.getLoc(), op.getX(), op.getWindow(),
                                          op.getStrides(), op.getDilations(), op.getLow(),
                                          op.getHigh(), /*column_major=*/false);
    g.add(op.getX(), [&] { return scatterToMaxima(g, dy, g(whole.getIndices()), op.getX()); });
    return;
  }
  Operation *positions = createMaxPoolPositions(here, op);
  g.add(op.getX(), [&] {
    return maxPoolGrad(g, op, dy, positions->getResult(1), shapeOf(op.getX()).drop_front(2));
  });
  SmallVector<Value> values{positions->getResult(0)};
  if (op->getNumResults() == 1)
    g.replace(op, values);
}

/// Returns, for each element of dy, the flat spatial index of its maximum in x, [N, C, pixels].
static Expr computeMaxPixelIndex(BackwardPass &g, MaxPoolGradOp op) {
  Expr position = g(op.getPosition()).cast(IntegerType::get(op.getContext(), 64));
  ArrayRef<int64_t> window = op.getWindow(), spatial = op.getSpatial();
  Expr pixel;
  for (size_t d = 0; d < spatial.size(); ++d) {
    int64_t after = product(window.drop_front(d + 1));
    Expr place = position.with<DivOp>(position.scalar(double(after)));
    place = Expr(g.build(),
                 g.build().make<RemOp>(Value(place), Value(place.scalar(double(window[d]))), true));
    Expr out = iota(g.build(), position.shape(), int64_t(d) + 2, position);
    Expr at = double(op.getStrides()[d]) * out + double(op.getDilations()[d]) * place -
              double(op.getLow()[d]);
    pixel = pixel ? double(spatial[d]) * pixel + at : at;
  }
  return pixel;
}

// Second derivative of a max pool: for dx = max_pool_grad(dy) with v the gradient of dx: ddy = v at
// the positions of the maxima
static void differentiate(MaxPoolGradOp op, BackwardPass &g) {
  g.add(op.getDy(), [&] {
    Expr v = g.of(op.getDx()), pixel = computeMaxPixelIndex(g, op);
    SmallVector<int64_t> planes{v.dim(0), v.dim(1), product(op.getSpatial())};
    SmallVector<int64_t> places{v.dim(0), v.dim(1), product(pixel.shape().drop_front(2))};
    Value taken = g.build().make<GatherElementsOp>(Value(v.reshape(planes)),
                                                   Value(pixel.reshape(places)), /*axis=*/2);
    return g.build().reshape(taken, shapeOf(op.getDy()));
  });
}

void addPoolGradients(GradientRules &rules) {
  rules.add<MaxPoolOp>([](MaxPoolOp op, BackwardPass &g) { differentiateMaxPool(op, g); });
  rules.add<MaxPoolIndicesOp>(
      [](MaxPoolIndicesOp op, BackwardPass &g) { differentiateMaxPool(op, g); });
  rules.add<MaxPoolPositionsOp>([](MaxPoolPositionsOp op, BackwardPass &g) {
    // max_pool_positions: dx = dy at the positions of the maxima
    g.add(op.getX(), [&] {
      return maxPoolGrad(g, op, g.of(op.getY()), op.getPosition(),
                         shapeOf(op.getX()).drop_front(2));
    });
  });
  rules.add<MaxPoolGradOp>([](MaxPoolGradOp op, BackwardPass &g) { differentiate(op, g); });
  // avg_pool: dx = dy / count at all positions of the window
  rules.add<AvgPoolOp>([](AvgPoolOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      return g.build().make<AvgPoolGradOp>(
          Value(g.of(op.getY())), shapeOf(op.getX()).drop_front(2), op.getWindow(), op.getStrides(),
          op.getDilations(), op.getLow(), op.getHigh(), op.getCountedHigh(), op.getIncludePad());
    });
  });
  // Second derivative of avg_pool: for dx = avg_pool_grad(dy) with v the gradient of dx: ddy =
  // avg_pool(v)
  rules.add<AvgPoolGradOp>([](AvgPoolGradOp op, BackwardPass &g) {
    g.add(op.getDy(), [&] {
      return g.build().make<AvgPoolOp>(Value(g.of(op.getDx())), op.getWindow(), op.getStrides(),
                                       op.getDilations(), op.getLow(), op.getHigh(),
                                       op.getCountedHigh(), op.getIncludePad());
    });
  });
}

} // namespace dlc::grad
