//===- Window.cpp - reductions of sliding windows, and their gradient ----------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Maximum number of elements of a reduction window that is unrolled into one slice per element.
constexpr int64_t maxUnrolledWindow = 1024;

struct Window {
  Dims size, strides, dilations;
  Padding padding;
};

Window readWindow(Node &n, size_t rank) {
  return {n.ints("window_dimensions", rank, 1), n.ints("window_strides", rank, 1),
          n.ints("window_dilations", rank, 1), n.padding(rank)};
}

int64_t countWindowElements(const Window &w) {
  int64_t count = 1;
  for (int64_t size : w.size)
    count *= size;
  return count;
}

/// Returns whether the window has no effect along dimension d: size 1, stride 1 and no padding.
bool isTrivial(const Window &w, size_t d) {
  return w.size[d] == 1 && w.strides[d] == 1 && w.padding.low[d] == 0 && w.padding.high[d] == 0;
}

//===--- Arrangement as [N, C, spatial..] ---------------------------------------------===//

/// Order of dimensions for pooling as [N, C, spatial..]: dimensions without windows become N and C,
/// and dimensions with windows become the spatial ones.
struct PoolDimOrder {
  Dims plain, spatial;

  explicit PoolDimOrder(const Window &w) {
    for (size_t d = 0; d < w.size.size(); ++d)
      (isTrivial(w, d) ? plain : spatial).push_back(int64_t(d));
  }
  Dims order() const {
    Dims all = plain;
    all.insert(all.end(), spatial.begin(), spatial.end());
    return all;
  }
  bool isPoolable() const { return !spatial.empty() && spatial.size() <= 3; }
  Dims select(const Dims &values) const {
    Dims result;
    for (int64_t d : spatial)
      result.push_back(values[d]);
    return result;
  }
};

Value toPoolLayout(Build &b, Value x, const PoolDimOrder &a) {
  Dims shape{1, 1};
  for (auto [i, d] : llvm::enumerate(a.plain))
    shape[i + 1 == a.plain.size() && i > 0 ? 1 : 0] *= b.dim(x, d);
  for (int64_t d : a.spatial)
    shape.push_back(b.dim(x, d));
  return b.reshape(b.transpose(x, a.order()), shape);
}

Value fromPoolLayout(Build &b, Value y, const PoolDimOrder &a, ArrayRef<int64_t> shape) {
  Dims order = a.order(), ordered, inverse(order.size());
  for (auto [i, d] : llvm::enumerate(order)) {
    ordered.push_back(shape[d]);
    inverse[d] = int64_t(i);
  }
  return b.transpose(b.reshape(y, ordered), inverse);
}

SmallVector<NamedAttribute> poolAttributes(Build &b, const Window &w, const PoolDimOrder &a) {
  return {b.attr("window", ArrayRef(a.select(w.size))),
          b.attr("strides", ArrayRef(a.select(w.strides))),
          b.attr("dilations", ArrayRef(a.select(w.dilations))),
          b.attr("low", ArrayRef(a.select(w.padding.low))),
          b.attr("high", ArrayRef(a.select(w.padding.high)))};
}

//===--- reduce_window ----------------------------------------------------------------===//

/// Imports a reduce_window that is a cumulative sum or product, as JAX writes them: along a single
/// dimension, each window covers all elements up to its own (or, in reverse, from its own on).
/// Returns null for other windows.
Value buildCumulative(Build &b, CombineKind kind, Value x, const Window &w) {
  PoolDimOrder a(w);
  if ((kind != CombineKind::Add && kind != CombineKind::Mul) || a.spatial.size() != 1 ||
      b.isBool(x))
    return {};
  const int64_t axis = a.spatial[0], size = b.dim(x, axis), low = w.padding.low[axis],
                high = w.padding.high[axis];
  const bool isReverse = low == 0;
  if (w.size[axis] != size || w.strides[axis] != 1 || w.dilations[axis] != 1 ||
      low + high != size - 1 || (low != 0 && high != 0))
    return {};
  SmallVector<NamedAttribute> attributes{
      b.attr("kind", ReduceKindAttr::get(b.context, *toReduceKind(kind))), b.attr("axis", axis)};
  if (isReverse)
    attributes.push_back(b.attrUnit("reverse"));
  return b.op<CumulativeOp>({x}, attributes);
}

/// Imports a reduce_window of floats as pooling: a maximum as max pooling, a minimum as the negated
/// maximum of -x, and a sum as the average times the number of window elements. Returns null for
/// other reductions.
Value buildPool(Node &n, Build &b, CombineKind kind, Value x, const Window &w) {
  PoolDimOrder a(w);
  const bool isExtreme = kind == CombineKind::Max || kind == CombineKind::Min;
  if (!b.isFloat(x) || !a.isPoolable() || (!isExtreme && kind != CombineKind::Add))
    return {};
  Value pooled = toPoolLayout(b, x, a);
  SmallVector<NamedAttribute> attributes = poolAttributes(b, w, a);
  if (kind == CombineKind::Add) {
    attributes.push_back(b.attr("counted_high", ArrayRef(a.select(w.padding.high))));
    attributes.push_back(b.attrUnit("include_pad"));
    pooled = b.mul(b.op<AvgPoolOp>({pooled}, attributes), double(countWindowElements(w)));
  } else if (kind == CombineKind::Max) {
    pooled = b.op<MaxPoolOp>({pooled}, attributes);
  } else {
    pooled = b.unary<NegOp>(b.op<MaxPoolOp>({b.unary<NegOp>(pooled)}, attributes));
  }
  return fromPoolLayout(b, pooled, a, n.resultShape());
}

/// Imports any reduce_window by unrolling the window: combines one strided slice of the padded
/// operand for each window element.
Value unrollWindow(Node &n, Build &b, CombineKind kind, Value x, const Window &w) {
  if (!b.require(countWindowElements(w) <= maxUnrolledWindow,
                 "required: windows of at most " + Twine(maxUnrolledWindow) +
                     " elements for this reduction; found: " + Twine(countWindowElements(w))))
    return {};
  x = b.pad(x, buildIdentity(b, kind, b.elem(x)), PadMode::constant, w.padding.low, w.padding.high);
  Dims sizes = n.resultShape();
  Value result;
  ref::forEachIndex(w.size, [&](const std::vector<int64_t> &index) {
    Dims start;
    for (size_t d = 0; d < index.size(); ++d)
      start.push_back(index[d] * w.dilations[d]);
    Value part = b.slice(x, start, sizes, w.strides);
    result = result ? buildCombine(b, kind, result, part) : part;
  });
  return result;
}

void reduceWindow(Node &n, Build &b) {
  auto kind = matchCombineKind(n.op->getRegion(0));
  if (!b.require(kind && n.ins.size() == 2,
                 "required: one operand, and a region that is one of add, multiply, maximum, "
                 "minimum, and, or, xor of its two arguments; found: another region"))
    return;
  Value x = n.in(0), init = n.in(1);
  const size_t rank = b.dims(x).size();
  Window w = readWindow(n, rank);
  Dims base = n.ints("base_dilations", rank, 1);
  Value identity = buildIdentity(b, *kind, b.elem(x));
  for (size_t d = 0; d < rank; ++d)
    x = dilate(b, x, identity, int64_t(d), base[d] - 1);
  auto isNegative = [](int64_t value) { return value < 0; };
  if (llvm::any_of(w.padding.low, isNegative) || llvm::any_of(w.padding.high, isNegative)) {
    x = b.pad(x, identity, PadMode::constant, w.padding.low, w.padding.high);
    w.padding = {Dims(rank, 0), Dims(rank, 0)};
  }
  if (!b.ok())
    return;
  Value y = buildCumulative(b, *kind, x, w);
  if (!y && b.ok())
    y = buildPool(n, b, *kind, x, w);
  if (!y && b.ok())
    y = unrollWindow(n, b, *kind, x, w);
  n.set(isIdentityElement(b, *kind, init) ? y : buildCombine(b, *kind, y, init));
}

//===--- select_and_scatter -------------------------------------------------------------===//

/// Returns whether the select region is `arg0 >= arg1`, which selects the first maximum of a
/// window.
bool selectsFirstMaximum(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return false;
  Operation &op = block.front();
  auto direction = op.getAttrOfType<DirectionAttr>("comparison_direction");
  return direction && direction.getValue() == Direction::GE && op.getNumOperands() == 2 &&
         op.getOperand(0) == block.getArgument(0) && op.getOperand(1) == block.getArgument(1) &&
         block.back().getNumOperands() == 1 && block.back().getOperand(0) == op.getResult(0);
}

/// Imports a select_and_scatter that is the gradient of max pooling: adds each source element to
/// the first maximum of its window.
void selectAndScatter(Node &n, Build &b) {
  Value x = n.in(0), source = n.in(1);
  const size_t rank = b.dims(x).size();
  Window w = readWindow(n, rank);
  PoolDimOrder a(w);
  if (!b.require(selectsFirstMaximum(n.op->getRegion(0)) &&
                     matchCombineKind(n.op->getRegion(1)) == CombineKind::Add && b.isFloat(x) &&
                     isIdentityElement(b, CombineKind::Add, n.in(2)) && a.isPoolable() &&
                     countWindowElements(w) <= 256,
                 "required: floats, the comparison GE, the update add, the initial value 0, and "
                 "windows of at most 256 elements in at most 3 dimensions, as the gradient of max "
                 "pooling has; found: another form"))
    return;
  SmallVector<NamedAttribute> attributes = poolAttributes(b, w, a);
  Value pooled = toPoolLayout(b, x, a);
  std::vector<Value> forward = b.ops<MaxPoolPositionsOp>({pooled}, attributes);
  if (!b.ok())
    return;
  attributes.push_back(b.attr("spatial", b.shape(pooled).drop_front(2)));
  Value gradient = b.op<MaxPoolGradOp>({toPoolLayout(b, source, a), forward[1]}, attributes);
  n.set(fromPoolLayout(b, gradient, a, n.resultShape()));
}

const OperatorEntry table[] = {
    {"stablehlo.reduce_window", reduceWindow},
    {"stablehlo.select_and_scatter", selectAndScatter},
};

} // namespace

ArrayRef<OperatorEntry> windowEntries() { return table; }

} // namespace dlc::stablehlo
