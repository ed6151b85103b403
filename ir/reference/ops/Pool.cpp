//===- Pool.cpp - reference evaluation of pooling operations --------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/ops/Window.h"

using namespace mlir;

namespace dlc {
using namespace ref;

/// Returns the shape of a pool's result. Fails if a window is larger than the padded operand.
static FailureOr<Shape> computePooledShape(Operation *op, const Tensor &x, const Window &window) {
  Shape shape(x.getShape().take_front(2));
  shape.append(window.outputShape(x.getShape().drop_front(2)));
  for (int64_t size : shape)
    if (size < 0)
      return op->emitOpError("(C3) has a window larger than the padded operand");
  return shape;
}

/// Computes max pooling. If requested, also stores the index of each maximum in x (-1 if the window
/// covers only padding) and its index in the window (0 if the window covers only padding).
static void maxima(const Tensor &x, const Window &window, Tensor &y, int64_t *indices,
                   uint8_t *places = nullptr) {
  ArrayRef<int64_t> image = x.getShape().drop_front(2), spatial = y.getShape().drop_front(2);
  const int64_t pixels = multiplyDims(image), positions = multiplyDims(spatial);
  const int64_t planes = multiplyDims(x.getShape().take_front(2));
  dispatchComputeType(x.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> values = loadAll<C>(x);
    std::vector<C> best(y.size(), getLowest<C>(x.getElement()));
    window.forEachOutput(image, spatial, [&](int64_t position, ArrayRef<Window::Tap> taps) {
      for (int64_t plane = 0; plane < planes; ++plane) {
        int64_t where = -1, place = 0;
        for (Window::Tap tap : taps) {
          const int64_t at = plane * pixels + tap.input;
          // The first of equal elements is the maximum. NaN counts as larger than every number.
          if (where < 0 || values[at] > values[where] ||
              (values[at] != values[at] && values[where] == values[where])) {
            where = at;
            place = tap.place;
          }
        }
        if (where >= 0)
          best[plane * positions + position] = values[where];
        if (indices)
          indices[plane * positions + position] = where;
        if (places)
          places[plane * positions + position] = uint8_t(place);
      }
    });
    storeAll<C>(y, best);
  });
}

LogicalResult MaxPoolOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  FailureOr<Shape> shape = computePooledShape(*this, x, window);
  if (failed(shape))
    return failure();
  Tensor y = makeResult(getY(), *shape, x.getElementType());
  maxima(x, window, y, nullptr);
  outputs.push_back(y);
  return success();
}

LogicalResult MaxPoolPositionsOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  FailureOr<Shape> shape = computePooledShape(*this, x, window);
  if (failed(shape))
    return failure();
  Tensor y = makeResult(getY(), *shape, x.getElementType());
  Tensor position =
      makeResult(getPosition(), *shape, IntegerType::get(getContext(), 8, IntegerType::Unsigned));
  maxima(x, window, y, nullptr, reinterpret_cast<uint8_t *>(position.mutableData()));
  outputs.push_back(y);
  outputs.push_back(position);
  return success();
}

LogicalResult MaxPoolIndicesOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  FailureOr<Shape> shape = computePooledShape(*this, x, window);
  if (failed(shape))
    return failure();
  Tensor y = makeResult(getY(), *shape, x.getElementType());
  Tensor indices = makeResult(getIndices(), *shape, IntegerType::get(getContext(), 64));
  int64_t *places = reinterpret_cast<int64_t *>(indices.mutableData());
  maxima(x, window, y, places);
  if (getColumnMajor()) {
    ArrayRef<int64_t> image = x.getShape().drop_front(2);
    const int64_t pixels = multiplyDims(image);
    for (int64_t i = 0; i < indices.size(); ++i) {
      if (places[i] < 0)
        continue;
      // Converts the row-major index of the pixel to a column-major index.
      int64_t pixel = places[i] % pixels, step = pixels, columnMajor = 0;
      for (int64_t size : llvm::reverse(image)) {
        step /= size;
        columnMajor += pixel % size * step;
        pixel /= size;
      }
      places[i] = places[i] / pixels * pixels + columnMajor;
    }
  }
  outputs.push_back(y);
  outputs.push_back(indices);
  return success();
}

/// Returns the divisor of each window in average pooling: the number of its elements inside the
/// input, or inside the padded input if `include_pad` is set.
static std::vector<int64_t> countsOf(const Window &window, ArrayRef<int64_t> image,
                                     ArrayRef<int64_t> spatial, bool includePad,
                                     ArrayRef<int64_t> countedHigh) {
  std::vector<int64_t> counts(multiplyDims(spatial));
  Shape counted(image), offset(window.low);
  for (size_t d = 0; d < counted.size() && includePad; ++d) {
    counted[d] += window.low[d] + countedHigh[d];
    offset[d] = 0;
  }
  Window counter = window;
  counter.low = offset;
  counter.forEachOutput(counted, spatial, [&](int64_t position, ArrayRef<Window::Tap> taps) {
    counts[position] = int64_t(taps.size());
  });
  return counts;
}

LogicalResult AvgPoolOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  FailureOr<Shape> shape = computePooledShape(*this, x, window);
  if (failed(shape))
    return failure();
  Tensor y = makeResult(getY(), *shape, x.getElementType());
  ArrayRef<int64_t> image = x.getShape().drop_front(2), spatial = y.getShape().drop_front(2);
  const int64_t pixels = multiplyDims(image), positions = multiplyDims(spatial);
  const int64_t planes = multiplyDims(x.getShape().take_front(2));

  const std::vector<int64_t> counts =
      countsOf(window, image, spatial, getIncludePad(), getCountedHigh());
  const std::vector<double> values = loadAll<double>(x);
  std::vector<double> means(y.size());
  window.forEachOutput(image, spatial, [&](int64_t position, ArrayRef<Window::Tap> taps) {
    for (int64_t plane = 0; plane < planes && counts[position]; ++plane) {
      double sum = 0;
      for (Window::Tap tap : taps)
        sum += values[plane * pixels + tap.input];
      means[plane * positions + position] = sum / double(counts[position]);
    }
  });
  storeAll<double>(y, means);
  outputs.push_back(y);
  return success();
}

/// Computes a pool's gradient: scatters dy over all windows into a tensor of the forward operand's
/// shape. `share(position, from, tap)` is the contribution of element `from` of dy, at output
/// position `position`, to the input element of `tap`.
template <typename Share>
static FailureOr<Tensor> spread(Operation *op, const Tensor &dy, const Window &window,
                                ArrayRef<int64_t> image, Share share) {
  Shape shape(dy.getShape().take_front(2)), forward = window.outputShape(image);
  if (ArrayRef<int64_t>(forward) != dy.getShape().drop_front(2))
    return op->emitOpError("(C3) does not match dy's spatial dimensions");
  shape.append(image.begin(), image.end());
  Tensor dx = makeResult(op->getResult(0), shape, dy.getElementType());
  const int64_t pixels = multiplyDims(image), positions = multiplyDims(forward);
  const int64_t planes = multiplyDims(dy.getShape().take_front(2));
  std::vector<double> sums(dx.size());
  window.forEachOutput(image, forward, [&](int64_t position, ArrayRef<Window::Tap> taps) {
    for (int64_t plane = 0; plane < planes; ++plane)
      for (Window::Tap tap : taps)
        sums[plane * pixels + tap.input] += share(position, plane * positions + position, tap);
  });
  storeAll<double>(dx, sums);
  return dx;
}

LogicalResult MaxPoolGradOp::evaluate(Inputs inputs, Outputs outputs) {
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  const std::vector<double> values = loadAll<double>(inputs[0]);
  const std::vector<int64_t> places = loadAll<int64_t>(inputs[1]);
  FailureOr<Tensor> dx =
      spread(*this, inputs[0], window, getSpatial(), [&](int64_t, int64_t from, Window::Tap tap) {
        return places[from] == tap.place ? values[from] : 0.0;
      });
  if (failed(dx))
    return failure();
  outputs.push_back(*dx);
  return success();
}

LogicalResult AvgPoolGradOp::evaluate(Inputs inputs, Outputs outputs) {
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  const std::vector<double> values = loadAll<double>(inputs[0]);
  const std::vector<int64_t> counts = countsOf(
      window, getSpatial(), window.outputShape(getSpatial()), getIncludePad(), getCountedHigh());
  FailureOr<Tensor> dx = spread(
      *this, inputs[0], window, getSpatial(), [&](int64_t position, int64_t from, Window::Tap) {
        return counts[position] ? values[from] / double(counts[position]) : 0.0;
      });
  if (failed(dx))
    return failure();
  outputs.push_back(*dx);
  return success();
}

} // namespace dlc
