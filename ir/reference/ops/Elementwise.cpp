//===- Elementwise.cpp - reference evaluation of elementwise operations ---===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <array>
#include <numbers>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Number of elements that are computed at a time: the buffers fit in the L1 cache.
static constexpr int64_t chunk = 512;

/// Computes y[i] = f(x[i]), with x converted to the compute type C.
template <typename C, typename F> static void mapUnary(const Tensor &x, Tensor &y, F f) {
  using R = decltype(f(C()));
  std::array<C, chunk> in;
  std::array<R, chunk> out;
  for (int64_t i = 0; i < x.size(); i += chunk) {
    const int64_t n = std::min(chunk, x.size() - i);
    loadRow<C>(x, i, 1, n, in.data());
    std::transform(in.begin(), in.begin() + n, out.begin(), f);
    storeRow<R>(y, i, n, out.data());
  }
}

/// Computes f(a, b) for each element of the broadcast result. Elements of a are converted to A,
/// elements of b to B.
template <typename A, typename B, typename F>
static void mapBinary(const Tensor &a, const Tensor &b, Tensor &y, F f) {
  using R = decltype(f(A(), B()));
  std::array<A, chunk> left;
  std::array<B, chunk> right;
  std::array<R, chunk> out;
  ArrayRef<int64_t> shape = y.getShape();
  forEachRow(shape,
             {rowMajorStrides(shape), broadcastStrides(a.getShape(), shape),
              broadcastStrides(b.getShape(), shape)},
             [&](ArrayRef<int64_t> places, ArrayRef<int64_t> steps, int64_t count) {
               for (int64_t i = 0; i < count; i += chunk) {
                 const int64_t n = std::min(chunk, count - i);
                 loadRow<A>(a, places[1] + i * steps[1], steps[1], n, left.data());
                 loadRow<B>(b, places[2] + i * steps[2], steps[2], n, right.data());
                 std::transform(left.begin(), left.begin() + n, right.begin(), out.begin(), f);
                 storeRow<R>(y, places[0] + i, n, out.data());
               }
             });
}

/// Returns a result tensor with the operand's shape. Its element type is `element`, or the
/// operand's if `element` is null.
static Tensor makeResultLike(Operation *op, const Tensor &x, Type element = {}) {
  return makeResult(op->getResult(0), x.getShape(), element ? element : x.getElementType());
}

/// Returns a result tensor of the shape that the operands broadcast to.
static FailureOr<Tensor> makeBroadcastResult(Operation *op, Inputs inputs, Type element) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const Tensor &input : inputs)
    shapes.push_back(input.getShape());
  std::optional<Shape> shape = broadcastShapes(shapes);
  if (!shape)
    return op->emitOpError("(C3) the operands' shapes do not broadcast together");
  return makeResult(op->getResult(0), *shape, element);
}

template <typename F>
static LogicalResult evaluateUnary(Operation *op, Inputs inputs, Outputs outputs, F f) {
  Tensor y = makeResultLike(op, inputs[0]);
  dispatchComputeType(y.getElement(),
                      [&](auto zero) { mapUnary<decltype(zero)>(inputs[0], y, f); });
  outputs.push_back(y);
  return success();
}

template <typename F>
static LogicalResult evaluateFloatUnary(Operation *op, Inputs inputs, Outputs outputs, F f) {
  Tensor y = makeResultLike(op, inputs[0]);
  mapUnary<double>(inputs[0], y, [f](double x) -> double { return f(x); });
  outputs.push_back(y);
  return success();
}

/// Evaluates a floating-point operation of one or two operands in double precision.
template <typename F>
static LogicalResult evaluateFunction(Operation *op, Inputs inputs, Outputs outputs, F f) {
  if constexpr (std::is_invocable_v<F, double>) {
    return evaluateFloatUnary(op, inputs, outputs, f);
  } else {
    FailureOr<Tensor> y = makeBroadcastResult(op, inputs, inputs[0].getElementType());
    if (failed(y))
      return failure();
    mapBinary<double, double>(inputs[0], inputs[1], *y, f);
    outputs.push_back(*y);
    return success();
  }
}

template <typename F>
static LogicalResult evaluateFloatPredicate(Operation *op, Inputs inputs, Outputs outputs, F f) {
  Tensor y = makeResultLike(op, inputs[0], IntegerType::get(op->getContext(), 1));
  mapUnary<double>(inputs[0], y, [f](double x) -> int64_t { return f(x); });
  outputs.push_back(y);
  return success();
}

template <typename F>
static LogicalResult evaluateBinary(Operation *op, Inputs inputs, Outputs outputs, F f) {
  FailureOr<Tensor> y = makeBroadcastResult(op, inputs, inputs[0].getElementType());
  if (failed(y))
    return failure();
  dispatchComputeType(y->getElement(), [&](auto zero) {
    using C = decltype(zero);
    mapBinary<C, C>(inputs[0], inputs[1], *y, f);
  });
  outputs.push_back(*y);
  return success();
}

/// Evaluates a bitwise operation of two operands. Float operands are an error.
template <typename F>
static LogicalResult evaluateBitwise(Operation *op, Inputs inputs, Outputs outputs, F f) {
  if (inputs[0].isFloat())
    return op->emitOpError("needs bool or integer operands, found ") << inputs[0].getElementType();
  FailureOr<Tensor> y = makeBroadcastResult(op, inputs, inputs[0].getElementType());
  if (failed(y))
    return failure();
  if (isUnsigned(y->getElement()))
    mapBinary<uint64_t, uint64_t>(inputs[0], inputs[1], *y, f);
  else
    mapBinary<int64_t, int64_t>(inputs[0], inputs[1], *y, f);
  outputs.push_back(*y);
  return success();
}

//===- One operand --------------------------------------------------------===//

LogicalResult AbsOp::evaluate(Inputs in, Outputs out) {
  return evaluateUnary(*this, in, out, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::fabs(x);
    else
      return x < 0 ? wrapSub(decltype(x)(0), x) : x;
  });
}
LogicalResult NegOp::evaluate(Inputs in, Outputs out) {
  return evaluateUnary(*this, in, out, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return -x;
    else
      return wrapSub(decltype(x)(0), x);
  });
}
LogicalResult SignOp::evaluate(Inputs in, Outputs out) {
  return evaluateUnary(*this, in, out, [](auto x) {
    using C = decltype(x);
    return x != x ? x : x > 0 ? C(1) : x < 0 ? C(-1) : C(0);
  });
}
LogicalResult ReluOp::evaluate(Inputs in, Outputs out) {
  return evaluateUnary(*this, in, out, [](auto x) { return x <= 0 ? decltype(x)(0) : x; });
}
LogicalResult NotOp::evaluate(Inputs in, Outputs out) {
  if (in[0].isFloat())
    return emitOpError("needs a bool or integer operand, found ") << in[0].getElementType();
  const bool logical = in[0].getElement() == Element::Bool;
  Tensor y = makeResultLike(*this, in[0]);
  mapUnary<int64_t>(in[0], y, [=](int64_t x) -> int64_t { return logical ? !x : ~x; });
  out.push_back(y);
  return success();
}

LogicalResult RsqrtOp::evaluate(Inputs in, Outputs out) {
  return evaluateFloatUnary(*this, in, out, [](double x) { return 1 / std::sqrt(x); });
}
LogicalResult SigmoidOp::evaluate(Inputs in, Outputs out) {
  return evaluateFloatUnary(*this, in, out, [](double x) { return 1 / (1 + std::exp(-x)); });
}

LogicalResult ErfinvOp::evaluate(Inputs in, Outputs out) {
  using namespace std::numbers;
  return evaluateFloatUnary(*this, in, out, [](double x) {
    const double a = std::fabs(x), infinity = std::numeric_limits<double>::infinity();
    if (!(a < 1))
      return a == 1 ? std::copysign(infinity, x) : std::numeric_limits<double>::quiet_NaN();
    // erfinv: initial estimate by Winitzki, then Halley's method on erf or erfc, whichever is more
    // accurate.
    const double l = std::log1p(-a * a), c = 2 / (pi * 0.147) + l / 2;
    double y = std::sqrt(std::sqrt(c * c - l / 0.147) - c);
    for (int i = 0; i < 3; ++i) {
      const double over = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
      const double step = over / (2 * inv_sqrtpi) * std::exp(y * y);
      y -= step / (1 + y * step);
    }
    return std::copysign(y, x);
  });
}

LogicalResult GeluOp::evaluate(Inputs in, Outputs out) {
  using namespace std::numbers;
  if (getApproximate())
    return evaluateFloatUnary(*this, in, out, [](double x) {
      // Tanh approximation of GELU: (1 + tanh u) / 2 is computed as 1 / (1 + e^-2u), which does not
      // lose digits to cancellation.
      const double u = std::sqrt(2 / pi) * (x + 0.044715 * x * x * x);
      const double weight = 1 / (1 + std::exp(-2 * u));
      return weight == 0 ? -0.0 : x * weight;
    });
  // Exact GELU uses erfc, because 1 + erf loses digits to cancellation. A zero probability is a
  // special case, because -inf * 0 would be NaN.
  return evaluateFloatUnary(*this, in, out, [](double x) {
    const double probability = 0.5 * std::erfc(-x / sqrt2);
    return probability == 0 ? -0.0 : x * probability;
  });
}

LogicalResult IsNanOp::evaluate(Inputs in, Outputs out) {
  return evaluateFloatPredicate(*this, in, out, [](double x) { return std::isnan(x); });
}
LogicalResult IsInfOp::evaluate(Inputs in, Outputs out) {
  return evaluateFloatPredicate(*this, in, out,
                                [positive = getPositive(), negative = getNegative()](double x) {
                                  return std::isinf(x) && (x > 0 ? positive : negative);
                                });
}

LogicalResult CastOp::evaluate(Inputs in, Outputs out) {
  Tensor y = makeResultLike(*this, in[0], getTo());
  dispatchComputeType(in[0].getElement(), [&](auto zero) {
    mapUnary<decltype(zero)>(in[0], y, [](auto x) { return x; });
  });
  out.push_back(y);
  return success();
}

LogicalResult LookupOp::evaluate(Inputs in, Outputs out) {
  FailureOr<Tensor> table = Tensor::fromAttr(getTable());
  if (failed(table))
    return emitOpError("the values of attribute 'table' are not available; required: a dense "
                       "attribute, or a dense resource whose data is in the module");
  Tensor y = makeResultLike(*this, in[0], table->getElementType());
  mapUnary<int64_t>(in[0], y, [&](int64_t x) { return table->getInt(x & 255); });
  out.push_back(y);
  return success();
}

//===- Two operands -------------------------------------------------------===//

LogicalResult AddOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) { return wrapAdd(a, b); });
}
LogicalResult SubOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) { return wrapSub(a, b); });
}
LogicalResult MulOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) { return wrapMul(a, b); });
}

LogicalResult DivOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) {
    using C = decltype(a);
    if constexpr (std::is_floating_point_v<C>)
      return a / b;
    else if (b == 0)
      return C(0);
    else if (std::is_signed_v<C> && b == C(-1)) // negating the lowest integer overflows
      return wrapSub(C(0), a);
    else
      return C(a / b);
  });
}

/// Integer power by repeated squaring; wraps on overflow. A negative exponent gives the truncated
/// reciprocal.
template <typename C> static C integerPower(C a, int64_t b) {
  if (b < 0)
    return a == C(1) ? C(1) : a == C(-1) ? (b & 1 ? C(-1) : C(1)) : C(0);
  C result = 1;
  for (uint64_t n = uint64_t(b); n; n >>= 1, a = wrapMul(a, a))
    if (n & 1)
      result = wrapMul(result, a);
  return result;
}

LogicalResult PowOp::evaluate(Inputs in, Outputs out) {
  FailureOr<Tensor> y = makeBroadcastResult(*this, in, in[0].getElementType());
  if (failed(y))
    return failure();
  if (in[0].isFloat() || in[1].isFloat())
    mapBinary<double, double>(in[0], in[1], *y, [](double a, double b) { return std::pow(a, b); });
  else if (isUnsigned(in[0].getElement()))
    mapBinary<uint64_t, int64_t>(in[0], in[1], *y, integerPower<uint64_t>);
  else
    mapBinary<int64_t, int64_t>(in[0], in[1], *y, integerPower<int64_t>);
  out.push_back(*y);
  return success();
}

LogicalResult RemOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [truncated = getTruncated()](auto a, auto b) {
    using C = decltype(a);
    C r;
    if constexpr (std::is_floating_point_v<C>) {
      r = std::fmod(a, b);
      if (!truncated && r == 0)
        return std::copysign(r, b);
    } else {
      if (b == 0 || (std::is_signed_v<C> && b == C(-1)))
        return C(0);
      r = a % b;
    }
    if (!truncated && r != 0 && (r < 0) != (b < 0))
      r += b;
    return r;
  });
}

LogicalResult MaxOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) { return maxOf(a, b); });
}
LogicalResult MinOp::evaluate(Inputs in, Outputs out) {
  return evaluateBinary(*this, in, out, [](auto a, auto b) { return minOf(a, b); });
}
LogicalResult AndOp::evaluate(Inputs in, Outputs out) {
  return evaluateBitwise(*this, in, out, [](auto a, auto b) { return decltype(a)(a & b); });
}
LogicalResult OrOp::evaluate(Inputs in, Outputs out) {
  return evaluateBitwise(*this, in, out, [](auto a, auto b) { return decltype(a)(a | b); });
}
LogicalResult XorOp::evaluate(Inputs in, Outputs out) {
  return evaluateBitwise(*this, in, out, [](auto a, auto b) { return decltype(a)(a ^ b); });
}

LogicalResult ShiftLeftOp::evaluate(Inputs in, Outputs out) {
  const uint64_t width = in[0].getElementType().getIntOrFloatBitWidth();
  return evaluateBitwise(*this, in, out, [=](auto a, auto b) {
    using C = decltype(a);
    return uint64_t(b) >= width ? C(0) : C(uint64_t(a) << b);
  });
}
LogicalResult ShiftRightOp::evaluate(Inputs in, Outputs out) {
  const uint64_t width = in[0].getElementType().getIntOrFloatBitWidth();
  return evaluateBitwise(*this, in, out, [=](auto a, auto b) {
    using C = decltype(a);
    return uint64_t(b) >= width ? C(a < 0 ? -1 : 0) : C(a >> b);
  });
}

LogicalResult CompareOp::evaluate(Inputs in, Outputs out) {
  FailureOr<Tensor> y = makeBroadcastResult(*this, in, IntegerType::get(getContext(), 1));
  if (failed(y))
    return failure();
  auto compare = [&](auto test) {
    dispatchComputeType(in[0].getElement(), [&](auto zero) {
      using C = decltype(zero);
      mapBinary<C, C>(in[0], in[1], *y, [test](C a, C b) -> int64_t { return test(a, b); });
    });
  };
  switch (getPredicate()) {
  case Predicate::eq:
    compare(std::equal_to<>());
    break;
  case Predicate::ne:
    compare(std::not_equal_to<>());
    break;
  case Predicate::lt:
    compare(std::less<>());
    break;
  case Predicate::le:
    compare(std::less_equal<>());
    break;
  case Predicate::gt:
    compare(std::greater<>());
    break;
  case Predicate::ge:
    compare(std::greater_equal<>());
    break;
  }
  out.push_back(*y);
  return success();
}

LogicalResult SelectOp::evaluate(Inputs in, Outputs out) {
  FailureOr<Tensor> y = makeBroadcastResult(*this, in, in[1].getElementType());
  if (failed(y))
    return failure();
  ArrayRef<int64_t> shape = y->getShape();
  const Bool *condition = reinterpret_cast<const Bool *>(in[0].data());
  dispatchStorageType(y->getElement(), [&](auto zero) {
    using T = decltype(zero);
    const T *a = reinterpret_cast<const T *>(in[1].data());
    const T *b = reinterpret_cast<const T *>(in[2].data());
    T *result = reinterpret_cast<T *>(y->mutableData());
    forEachRow(
        shape,
        {rowMajorStrides(shape), broadcastStrides(in[0].getShape(), shape),
         broadcastStrides(in[1].getShape(), shape), broadcastStrides(in[2].getShape(), shape)},
        [&](ArrayRef<int64_t> at, ArrayRef<int64_t> step, int64_t count) {
          for (int64_t i = 0; i < count; ++i)
            result[at[0] + i] = condition[at[1] + i * step[1]].value ? a[at[2] + i * step[2]]
                                                                     : b[at[3] + i * step[3]];
        });
  });
  out.push_back(*y);
  return success();
}

//===- Functions of the C library -----------------------------------------===//

#define DLC_OPERANDS_1 double a
#define DLC_OPERANDS_2 double a, double b
#define DLC_VALUES_1 a
#define DLC_VALUES_2 a, b
#define DLC_LIBM(Op, mnemonic, libm, operands)                                                     \
  LogicalResult Op::evaluate(Inputs in, Outputs out) {                                             \
    return evaluateFunction(                                                                       \
        *this, in, out, [](DLC_OPERANDS_##operands) { return std::libm(DLC_VALUES_##operands); }); \
  }
#include "ir/dlc/ElementwiseTable.inc"

} // namespace dlc
