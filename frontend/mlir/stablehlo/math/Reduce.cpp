//===- Reduce.cpp - reductions, argmax and argmin ----------------------------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/Importer.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

void reduceSingleOperand(Node &n, Build &b, CombineKind kind, ArrayRef<int64_t> axes) {
  Value x = n.in(0), init = n.in(1);
  if (b.count(x) == 0)
    return n.set(b.broadcast(init, n.resultShape()));
  Value reduced = reduceDims(b, kind, x, axes);
  n.set(isIdentityElement(b, kind, init) ? reduced : buildCombine(b, kind, reduced, init));
}

//===--- argmax and argmin --------------------------------------------------------===//

/// Two candidates of an argmax or argmin, each with a value and an index.
struct ArgReduceSample {
  double value[2];
  int64_t index[2];
};

/// Returns samples with all orders of two values, including NaN, each with both orders of the
/// indices. The result of a reducer that consists of comparisons and selects depends on nothing
/// else.
std::vector<ArgReduceSample> makeArgReduceSamples() {
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {-infinity, -1, 0, 1, infinity, std::numeric_limits<double>::quiet_NaN()};
  std::vector<ArgReduceSample> samples;
  for (double first : values)
    for (double second : values)
      for (int64_t index : {3, 5})
        samples.push_back({{first, second}, {index, 8 - index}});
  return samples;
}

/// Defines argmax and argmin on two candidates: returns whether the first one is chosen. NaN
/// precedes every number; of equal values the one with the lower index is chosen.
bool isFirstBetter(const ArgReduceSample &c, bool wantMax) {
  const double a = c.value[0], d = c.value[1];
  if (std::isnan(a) || std::isnan(d))
    return std::isnan(a);
  return a == d ? c.index[0] < c.index[1] : wantMax ? a > d : a < d;
}

/// Returns whether the reducer computes an argmax (or argmin): selects the larger (or smaller) of
/// two values and its index. Decided by evaluating the reducer on samples.
bool isArgMinMaxReducer(Node &n, Build &b, bool wantMax) {
  std::vector<ArgReduceSample> samples = makeArgReduceSamples();
  const int64_t count = int64_t(samples.size());
  ref::Tensor arguments[4];
  for (unsigned i = 0; i < 4; ++i) {
    Type element = b.elem(n.in(i % 2));
    arguments[i] = ref::Tensor::empty(RankedTensorType::get({count}, element));
    for (int64_t s = 0; s < count; ++s)
      i % 2 ? arguments[i].setInt(s, samples[s].index[i / 2])
            : arguments[i].setDouble(s, samples[s].value[i / 2]);
  }
  auto results = n.importer.evaluate(n.op->getRegion(0), arguments);
  if (!results)
    return false;
  for (int64_t s = 0; s < count; ++s) {
    const ArgReduceSample &c = samples[s];
    // Skips samples with two NaNs, because the order of the reduction decides which one is chosen.
    // Skips NaN and infinity for integers, which do not have them.
    if (std::isnan(c.value[0]) + std::isnan(c.value[1]) > (b.isFloat(n.in(0)) ? 1 : 0) ||
        (!b.isFloat(n.in(0)) && (std::isinf(c.value[0]) || std::isinf(c.value[1]))))
      continue;
    const int chosen = isFirstBetter(c, wantMax) ? 0 : 1;
    if ((*results)[1].getInt(s) != c.index[chosen] ||
        std::isnan((*results)[0].getDouble(s)) != std::isnan(c.value[chosen]) ||
        (!std::isnan(c.value[chosen]) && (*results)[0].getDouble(s) != c.value[chosen]))
      return false;
  }
  return true;
}

/// Returns whether a value is a stablehlo.iota along the axis.
bool isIota(Value operand, int64_t axis) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getName().getStringRef() != "stablehlo.iota")
    return false;
  auto dimension = op->getAttrOfType<IntegerAttr>("iota_dimension");
  return dimension && dimension.getInt() == axis;
}

/// Imports a reduction of values and indices that computes an argmax or argmin as dlc.arg_reduce.
/// Returns false for any other reduction.
bool reduceWithIndex(Node &n, Build &b, ArrayRef<int64_t> axes) {
  if (n.ins.size() != 4 || axes.size() != 1 || !isIota(n.op->getOperand(1), axes[0]) ||
      b.isFloat(n.in(1)) || b.dim(n.in(0), axes[0]) == 0 || !hasOnlyComparisons(n.op->getRegion(0)))
    return false;
  for (bool wantMax : {true, false}) {
    if (!isArgMinMaxReducer(n, b, wantMax) ||
        !isIdentityElement(b, wantMax ? CombineKind::Max : CombineKind::Min, n.in(2)))
      continue;
    ReduceKind kind = wantMax ? ReduceKind::max : ReduceKind::min;
    Value index = b.op<ArgReduceOp>(
        {n.in(0)}, {b.attr("kind", ReduceKindAttr::get(b.context, kind)), b.attr("axis", axes[0])});
    n.set(0, b.reduce(kind, n.in(0), axes, false));
    n.set(1, b.cast(index, n.resultElement(1)));
    return true;
  }
  return false;
}

void reduce(Node &n, Build &b) {
  Dims axes = n.ints("dimensions");
  llvm::sort(axes);
  for (int64_t axis : axes)
    if (!b.require(axis >= 0 && axis < b.rank(n.in(0)),
                   "dimensions: required: dimensions of the operand; found: " + Twine(axis)))
      return;
  auto kind = matchCombineKind(n.op->getRegion(0));
  if (kind && n.ins.size() == 2)
    return reduceSingleOperand(n, b, *kind, axes);
  if (reduceWithIndex(n, b, axes) || !b.ok())
    return;
  b.error("required: a region that is one of add, multiply, maximum, minimum, and, or, xor of its "
          "two arguments, or the argmax or argmin of a value and its index; found: another region; "
          "split the reduction");
}

const OperatorEntry table[] = {
    {"stablehlo.reduce", reduce},
};

} // namespace

ArrayRef<OperatorEntry> reduceEntries() { return table; }

} // namespace dlc::stablehlo
