//===- Selected.cpp - operators on bounded dynamic tensors ----------------===//
#include "frontend/onnx/bounded/SelectedNode.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace dlc::onnxfront {

int64_t Selection::capacity() const {
  int64_t sum = 0;
  for (const Piece &piece : pieces)
    sum += piece.length;
  return sum;
}

bool Selection::hasKnownCount() const {
  return !uniform || llvm::any_of(pieces, [](const Piece &piece) { return bool(piece.condition); });
}

bool isSelected(const GraphValue &item) {
  return item.kind == GraphValue::Selected || item.kind == GraphValue::Size;
}

//===--- Conditions -----------------------------------------------------------===//

Value skipReshapes(Value v) {
  while (auto reshape = v ? v.getDefiningOp<ReshapeOp>() : ReshapeOp())
    v = reshape.getX();
  return v;
}

/// Returns true if two values have the same elements in order, because the same operations compute
/// them. Reshapes are ignored.
static bool isSameValue(Value a, Value c, int depth = 0) {
  constexpr int deepest = 8;
  a = skipReshapes(a);
  c = skipReshapes(c);
  if (a == c || !a || !c)
    return a == c;
  Operation *from = a.getDefiningOp(), *other = c.getDefiningOp();
  if (depth == deepest || !from || !other || from->getNumRegions() || from->getNumResults() != 1)
    return false;
  return OperationEquivalence::isEquivalentTo(
      from, other,
      [&](Value x, Value y) {
        return success(x.getType() == y.getType() && isSameValue(x, y, depth + 1));
      },
      nullptr, OperationEquivalence::IgnoreLocations);
}

bool haveSameSlices(const Selection &a, const Selection &c) {
  return std::equal(a.pieces.begin(), a.pieces.end(), c.pieces.begin(), c.pieces.end(),
                    [](const auto &p, const auto &q) {
                      return p.length == q.length && isSameValue(p.condition, q.condition);
                    });
}

Value convertToBool(Build &b, Value x) {
  return b.isBool(x) ? x : b.compare(Predicate::ne, x, b.like(x, 0));
}

Value buildSelectionMask(Build &b, const Selection &s) {
  std::vector<Value> parts;
  for (const Selection::Piece &piece : s.pieces)
    parts.push_back(piece.condition ? b.flatten(piece.condition)
                                    : b.splat(b.i1, {piece.length}, 1));
  return parts.size() == 1 ? parts[0] : b.concat(parts, 0);
}

Value broadcastMask(Build &b, const Selection &s, Value x, int64_t axis) {
  Dims shape(b.rank(x), 1);
  shape[axis] = s.capacity();
  return b.reshape(buildSelectionMask(b, s), shape);
}

Value fillUnselectedSlices(Build &b, const Selection &s, Value x, double number) {
  return b.select(broadcastMask(b, s, x, s.axis), x, b.like(x, number));
}

Value makeUnselectedSlicesFinite(Build &b, const Selection &s, Value x) {
  return b.training && b.isFloat(x) ? fillUnselectedSlices(b, s, x, 1) : x;
}

GraphValue makeSelectedValue(Value v, Selection s) {
  GraphValue item(v);
  if (v) {
    item.kind = GraphValue::Selected;
    item.selection = std::make_shared<const Selection>(std::move(s));
  }
  return item;
}

GraphValue nonZeroItem(Build &b, Value condition, ArrayRef<int64_t> shape,
                       std::shared_ptr<const Selection> within) {
  std::vector<Value> coordinates;
  const int64_t capacity = b.count(condition);
  for (size_t d = 0; d < shape.size(); ++d)
    coordinates.push_back(b.reshape(b.iota(b.i64, shape, int64_t(d)), {1, capacity}));
  Selection s;
  s.pieces = {{skipReshapes(condition), capacity}};
  s.axis = 1;
  s.places = shape.vec();
  s.within = std::move(within);
  Value all = coordinates.size() == 1 ? coordinates[0] : b.concat(coordinates, 0);
  return makeSelectedValue(all, std::move(s));
}

GraphValue buildDynamicNonZero(Build &b, Value x) {
  if (!b.require(
          b.rank(x) > 0,
          "the value of a scalar operand of NonZero must be known when the model is imported"))
    return {};
  return nonZeroItem(b, convertToBool(b, x), b.shape(x), nullptr);
}

GraphValue buildDynamicCompress(Build &b, Value x, Value condition, int64_t axis) {
  const int64_t length = b.dim(condition, 0);
  if (!b.require(length <= b.dim(x, axis), "the condition is longer than the axis"))
    return {};
  Selection s;
  s.pieces = {{skipReshapes(condition), length}};
  s.axis = axis;
  Value all = makeUnselectedSlicesFinite(b, s, b.sliceAxis(x, axis, 0, length));
  return makeSelectedValue(all, std::move(s));
}

Selection copySelectedSlices(const Selection &s) {
  Selection other;
  other.pieces = s.pieces;
  return other;
}

/// Returns the only dimension in which two items may differ: the dimension of their selected slices
/// or, without any, the dimension in which their sizes differ. Returns nullopt if there are several
/// or none.
static std::optional<int64_t> findDifferingAxis(Build &b, const GraphValue &one,
                                                const GraphValue &other) {
  ArrayRef<int64_t> shape = b.shape(one.value), to = b.shape(other.value);
  std::optional<int64_t> axis;
  for (const GraphValue *item : {&one, &other})
    if (const Selection *s = item->selection.get()) {
      if (axis && *axis != s->axis)
        return std::nullopt;
      axis = s->axis;
    }
  for (size_t d = 0; d < shape.size() && shape.size() == to.size(); ++d)
    if (shape[d] != to[d] && int64_t(d) != axis.value_or(int64_t(d)))
      return std::nullopt;
    else if (shape[d] != to[d])
      axis = int64_t(d);
  return shape.size() == to.size() ? axis : std::nullopt;
}

GraphValue buildConditionalValue(Build &b, Value condition, const GraphValue &one,
                                 const GraphValue &other) {
  const GraphValue *items[] = {&one, &other};
  for (const GraphValue *item : items)
    if ((item->kind != GraphValue::Tensor && item->kind != GraphValue::Selected) ||
        b.elem(item->value) != b.elem(one.value) ||
        (item->selection && (!item->selection->hasKnownCount() || item->selection->within)))
      return {};
  condition = b.reshape(condition, {});
  if (!one.selection && !other.selection && b.shape(one.value) == b.shape(other.value))
    return b.select(condition, one.value, other.value);
  // An item without elements, of any shape, has no selected slice.
  const bool isEmpty[] = {b.count(one.value) == 0, b.count(other.value) == 0};
  std::optional<int64_t> axis = findDifferingAxis(b, one, other);
  if (!axis && isEmpty[0] != isEmpty[1]) {
    const GraphValue &full = *items[isEmpty[0]];
    axis = full.selection ? full.selection->axis : 0;
  }
  if (!axis || (isEmpty[0] && isEmpty[1]))
    return {};
  Selection s;
  s.axis = *axis;
  std::vector<Value> parts;
  for (int side = 0; side < 2; ++side) {
    if (isEmpty[side])
      continue;
    Value v = items[side]->value, chosen = side == 0 ? condition : b.negate(condition);
    if (b.rank(v) <= *axis)
      return {};
    const int64_t length = b.dim(v, *axis);
    const Selection *own = items[side]->selection.get();
    chosen = own ? b.both(chosen, buildSelectionMask(b, *own)) : b.broadcast(chosen, {length});
    s.pieces.push_back({skipReshapes(chosen), length});
    parts.push_back(v);
  }
  return makeSelectedValue(parts.size() == 1 ? parts[0] : b.concat(parts, *axis), s);
}

//===--- Sizes ----------------------------------------------------------------===//
// A value that depends on the slice count is computed for three counts: the capacity, and two
// larger ones at this distance. The first difference shows whether it depends on the count, the
// second whether the dependency is linear.

constexpr int64_t sizeStep = 7919;

GraphValue makeSizeValue(Build &b, ArrayRef<int64_t> values, ArrayRef<int64_t> times,
                         ArrayRef<int64_t> shape, const Selection &s) {
  GraphValue item(b.ints(values, shape, b.i64));
  item.kind = GraphValue::Size;
  item.selection = std::make_shared<const Selection>(s);
  for (int64_t other = 1; other <= otherSizes; ++other) {
    Dims more(values);
    for (auto [value, by] : llvm::zip(more, times))
      value += by * other * sizeStep;
    item.elements.push_back(b.ints(more, shape, b.i64));
  }
  return item;
}

GraphValue makeCountValue(Build &b, ArrayRef<int64_t> shape, Type element, const Selection &s) {
  GraphValue item = makeSizeValue(b, {s.capacity()}, {1}, shape, s);
  item.value = b.cast(item.value, element);
  for (GraphValue &other : item.elements)
    other.value = b.cast(other.value, element);
  return item;
}

std::optional<std::vector<double>> computeCountMultiples(Build &b, const GraphValue &size) {
  std::optional<ref::Tensor> all = b.known(size.value), other[otherSizes];
  for (int64_t i = 0; i < otherSizes; ++i)
    other[i] = b.known(size.elements[i].value);
  if (!all || !other[0] || !other[1])
    return std::nullopt;
  std::vector<double> times;
  for (int64_t i = 0; i < all->size(); ++i) {
    double first = other[0]->getDouble(i) - all->getDouble(i),
           second = other[1]->getDouble(i) - all->getDouble(i);
    if (second != 2 * first)
      return std::nullopt;
    times.push_back(first / sizeStep);
  }
  return times;
}

/// Returns sizes that depend on the number of selected slices, computed at run time from this
/// number as a linear function.
static Value buildSizeComputation(Build &b, const GraphValue &size) {
  auto times = computeCountMultiples(b, size);
  if (!b.require(times.has_value(), "a shape depends on the product of several dynamic sizes"))
    return {};
  Value v = size.value;
  Type element = b.isFloat(v) ? b.elem(v) : b.i64;
  Value number = countSelectedSlices(b, *size.selection);
  std::vector<double> rest;
  auto all = b.known(v);
  for (size_t i = 0; i < times->size(); ++i)
    rest.push_back(all->getDouble(int64_t(i)) - (*times)[i] * double(size.selection->capacity()));
  Value counted = b.mul(b.cast(number, element), b.floats(*times, b.shape(v), element));
  return b.cast(b.add(counted, b.floats(rest, b.shape(v), element)), b.elem(v));
}

GraphValue toOrdinaryTensor(Build &b, const GraphValue &item, const Twine &what) {
  if (item.kind == GraphValue::Size)
    return buildSizeComputation(b, item);
  if (item.kind == GraphValue::Selected) {
    for (const Selection::Piece &piece : item.selection->pieces)
      if (piece.condition)
        b.need(piece.condition, "the condition that gives the size of " + what);
    b.error(what + " has a size that depends on values");
    return {};
  }
  return item;
}

Value getCountedCondition(Build &b, Value x) {
  auto cast = x ? skipReshapes(x).getDefiningOp<CastOp>() : CastOp();
  return cast && !b.isFloat(x) && b.isBool(cast.getX()) ? cast.getX() : Value();
}

std::optional<GraphValue> matchCountOfTrue(Build &b, Value x, const ReductionOptions &r) {
  Value condition = getCountedCondition(b, x);
  if (!b.ok() || !condition || b.known(x) || r.identity || b.rank(x) == 0 ||
      int64_t(r.axes.size()) != b.rank(x))
    return std::nullopt;
  Selection s;
  s.pieces = {{skipReshapes(condition), b.count(x)}};
  return makeCountValue(b, Dims(r.keepdims ? size_t(b.rank(x)) : 0, 1), b.elem(x), s);
}

} // namespace dlc::onnxfront
