//===- Reduce.cpp - reference evaluation of reductions, sorts and NMS -----===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Number of elements that are loaded and reduced at a time.
static constexpr int64_t chunk = 4096;

/// Returns the shape after a reduction over `axes`. If `keepdims` is set, reduced dimensions have
/// size 1.
static Shape computeReducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepdims) {
  Shape result;
  for (auto [d, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, int64_t(d)))
      result.push_back(size);
    else if (keepdims)
      result.push_back(1);
  return result;
}

template <typename C> static C getInitialValue(ReduceKind kind, Element element) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return 0;
  case ReduceKind::prod:
    return 1;
  case ReduceKind::max:
    return getLowest<C>(element);
  case ReduceKind::min:
    return getHighest<C>(element);
  }
  return 0;
}

/// Calls `f` with the function that combines two values in this kind of reduction.
template <typename C, typename F> static void withCombiner(ReduceKind kind, F f) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return f([](C a, C b) { return wrapAdd(a, b); });
  case ReduceKind::prod:
    return f([](C a, C b) { return wrapMul(a, b); });
  case ReduceKind::max:
    return f([](C a, C b) { return maxOf(a, b); });
  case ReduceKind::min:
    return f([](C a, C b) { return minOf(a, b); });
  }
}

LogicalResult ReduceOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const ReduceKind kind = getKind();
  Tensor y = makeResult(getY(), computeReducedShape(x.getShape(), getAxes(), getKeepdims()),
                        x.getElementType());
  // Strides of the result along the dimensions of x, with stride 0 along reduced dimensions.
  const Shape kept = computeReducedShape(x.getShape(), getAxes(), true);
  const std::vector<int64_t> strides = broadcastStrides(kept, x.getShape());
  dispatchComputeType(x.getElement(), [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> sums(y.size(), getInitialValue<C>(kind, x.getElement())), row;
    withCombiner<C>(kind, [&](auto combine) {
      forEachRow(x.getShape(), {rowMajorStrides(x.getShape()), strides},
                 [&](ArrayRef<int64_t> at, ArrayRef<int64_t> step, int64_t count) {
                   for (int64_t i = 0; i < count; i += chunk) {
                     row.resize(std::min(chunk, count - i));
                     loadRow<C>(x, at[0] + i, 1, row.size(), row.data());
                     C *to = sums.data() + at[1] + i * step[1];
                     if (step[1] == 0)
                       *to = std::accumulate(row.begin(), row.end(), *to, combine);
                     else
                       for (size_t j = 0; j < row.size(); ++j, to += step[1])
                         *to = combine(*to, row[j]);
                   }
                 });
    });
    if (kind == ReduceKind::mean) {
      int64_t count = 1;
      for (int64_t axis : getAxes())
        count *= x.getShape()[axis];
      for (C &sum : sums)
        sum = std::is_integral_v<C> && count == 0 ? C(0) : sum / C(count);
    }
    storeAll<C>(y, sums);
  });
  outputs.push_back(y);
  return success();
}

LogicalResult ArgReduceOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const int64_t axis = getAxis();
  const bool wantMax = getKind() == ReduceKind::max, last = getLast();
  const AxisView view(x.getShape(), axis);
  Tensor y = makeResult(getY(), computeReducedShape(x.getShape(), {axis}, getKeepdims()),
                        IntegerType::get(getContext(), 64));
  if (view.size == 0 && y.size())
    return emitOpError("needs at least one element along axis ") << axis;
  int64_t *result = reinterpret_cast<int64_t *>(y.mutableData());
  dispatchComputeType(x.getElement(), [&](auto zero) {
    using C = decltype(zero);
    // argmax and argmin: NaN is preferred to every number, and the first of equal elements is kept.
    auto better = [&](C a, C b) { return a != a ? b == b : wantMax ? a > b : a < b; };
    auto same = [](C a, C b) { return a == b || (a != a && b != b); };
    const std::vector<C> values = loadAll<C>(x);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        const C *row = values.data() + o * view.size * view.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < view.size; ++k) {
          const C a = row[k * view.inner], b = row[best * view.inner];
          if (better(a, b) || (last && same(a, b)))
            best = k;
        }
        *result++ = best;
      }
  });
  outputs.push_back(y);
  return success();
}

LogicalResult CumulativeOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const AxisView view(x.getShape(), getAxis());
  const bool reverse = getReverse(), exclusive = getExclusive();
  Tensor y = makeResult(getY(), x.getShape(), x.getElementType());
  dispatchComputeType(x.getElement(), [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> values = loadAll<C>(x);
    withCombiner<C>(getKind(), [&](auto combine) {
      for (int64_t o = 0; o < view.outer; ++o)
        for (int64_t i = 0; i < view.inner; ++i) {
          C running = getInitialValue<C>(getKind(), x.getElement());
          for (int64_t k = 0; k < view.size; ++k) {
            const int64_t place = reverse ? view.size - 1 - k : k;
            C &value = values[(o * view.size + place) * view.inner + i];
            const C next = combine(running, value);
            value = exclusive ? running : next;
            running = next;
          }
        }
    });
    storeAll<C>(y, values);
  });
  outputs.push_back(y);
  return success();
}

LogicalResult TopKOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  const int64_t axis = getAxis(), k = getK();
  const bool largest = getLargest();
  const AxisView view(x.getShape(), axis);
  if (k > view.size)
    return emitOpError("(C2) requires ") << k << " of " << view.size << " elements";
  Shape shape(x.getShape());
  shape[axis] = k;
  Tensor best = makeResult(getValues(), shape, x.getElementType());
  Tensor places = makeResult(getIndices(), shape, IntegerType::get(getContext(), 64));
  int64_t *indices = reinterpret_cast<int64_t *>(places.mutableData());
  dispatchComputeType(x.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> values = loadAll<C>(x);
    std::vector<C> chosen(best.size());
    std::vector<int64_t> order(view.size);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        const C *row = values.data() + o * view.size * view.inner + i;
        std::iota(order.begin(), order.end(), 0);
        // NaN is larger than every number, as in NumPy's sort.
        auto larger = [](C a, C b) { return a != a ? b == b : a > b; };
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t p, int64_t q) {
          const C a = row[p * view.inner], b = row[q * view.inner];
          if (larger(a, b) || larger(b, a))
            return largest ? larger(a, b) : larger(b, a);
          return p < q;
        });
        for (int64_t j = 0; j < k; ++j) {
          const int64_t to = (o * k + j) * view.inner + i;
          indices[to] = order[j];
          chosen[to] = row[order[j] * view.inner];
        }
      }
    storeAll<C>(best, chosen);
  });
  outputs.push_back(best);
  outputs.push_back(places);
  return success();
}

namespace {
struct Box {
  double low[2], high[2];
  explicit Box(const double *corners)
      : low{std::min(corners[0], corners[2]), std::min(corners[1], corners[3])},
        high{std::max(corners[0], corners[2]), std::max(corners[1], corners[3])} {}
  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

double intersectionOverUnion(const Box &a, const Box &b) {
  double common = 1;
  for (int d = 0; d < 2; ++d)
    common *= std::max(0.0, std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]));
  const double all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}
} // namespace

LogicalResult NmsOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &candidates = inputs[2];
  const ArrayRef<int64_t> rows = inputs[1].getShape();
  const int64_t classes = rows[1], number = rows[2], k = getK();
  const std::vector<double> corners = loadAll<double>(inputs[0]), all = loadAll<double>(inputs[1]);
  const double overlap = inputs[3].getDouble(0);
  Type i64 = IntegerType::get(getContext(), 64);
  Tensor places = makeResult(getPlaces(), {rows[0], classes, k}, i64);
  Tensor counts = makeResult(getCounts(), {rows[0], classes}, i64);
  int64_t *place = reinterpret_cast<int64_t *>(places.mutableData());
  int64_t *count = reinterpret_cast<int64_t *>(counts.mutableData());
  std::fill_n(place, places.size(), 0);
  for (int64_t row = 0; row < counts.size(); ++row) {
    const double *scores = all.data() + row * number;
    const double *boxes = corners.data() + row / classes * number * 4;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < number; ++i)
      if (candidates.getInt(row * number + i))
        order.push_back(i);
    auto larger = [](double a, double b) { return a != a ? b == b : a > b; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t p, int64_t q) { return larger(scores[p], scores[q]); });
    std::vector<Box> taken;
    for (int64_t i : order) {
      const Box box(boxes + i * 4);
      if (int64_t(taken.size()) == k)
        break;
      if (llvm::any_of(
              taken, [&](const Box &other) { return intersectionOverUnion(box, other) > overlap; }))
        continue;
      place[row * k + int64_t(taken.size())] = i;
      taken.push_back(box);
    }
    count[row] = int64_t(taken.size());
  }
  outputs.push_back(places);
  outputs.push_back(counts);
  return success();
}

} // namespace dlc
