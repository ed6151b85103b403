//===- SelectedRules.cpp - reading, writing and summing selected slices ---===//
#include "frontend/onnx/bounded/SelectedNode.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Sets the output to v, with the slices of s selected along the axis: the result of a gather whose
/// indices or data are selected slices.
bool SelectedNode::setReadOutput(Value v, const Selection &s, int64_t axis) {
  Selection slices = copySelectedSlices(s);
  slices.axis = axis;
  return setOutputs({makeUnselectedSlicesFinite(b, slices, v)}, slices, axis);
}

bool SelectedNode::gather() {
  const Selection *data = selection(0), *indices = selection(1);
  if (isSize(1))
    return false;
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  if (!b.ok())
    return true;
  if (data && indices && data->axis == axis && indices->within && b.rank(n.in(1)) == 1 &&
      haveSameSlices(*data, *indices->within))
    // Gather of selected slices by the indices of selected slices: the result has all slices of the
    // data, and those that both conditions select are selected.
    return setReadOutput(n.in(0), *indices, axis);
  if (data && data->axis == axis)
    return gatherByNumber(axis);
  if (data && indices)
    return false;
  if (data) {
    const int64_t moved = data->axis < axis ? data->axis : data->axis - 1 + b.rank(n.in(1));
    return setOutputs(runAll(), *data, moved);
  }
  if (indices->within || indices->uniform)
    return false;
  if (indices->places && indices->places->size() == 1 && b.rank(n.in(1)) == 1 &&
      b.dim(n.in(0), axis) == indices->capacity())
    return setReadOutput(n.in(0), *indices, axis);
  auto results = run({n.inputs[0], fillUnselectedSlices(b, *indices, n.in(1), 0)});
  return !b.ok() || results.empty() ||
         setReadOutput(results[0].value, *indices, axis + indices->axis);
}

/// Returns true if the index tuples `at` refer to all elements of x, in order and with one tuple
/// per slice. A gather of them is then a reshape of x.
static bool areOwnPlaces(Build &b, const Selection &indices, Value at, Value x,
                         const Selection *xSlices) {
  if (!indices.places || indices.axis != 0 || b.rank(at) != 2 || (xSlices && xSlices->axis != 0))
    return false;
  if (xSlices ? !indices.within || !haveSameSlices(*xSlices, *indices.within)
              : bool(indices.within))
    return false;
  const Dims &places = *indices.places;
  return b.dim(at, 1) == int64_t(places.size()) && b.rank(x) >= int64_t(places.size()) &&
         b.shape(x).take_front(places.size()) == ArrayRef<int64_t>(places);
}

/// Returns the shape of x with the indexed dimensions merged: from [indexed dimensions.., rest..]
/// to [capacity, rest..].
static Dims mergeIndexedDims(Build &b, const Selection &indices, Value x) {
  Dims shape{indices.capacity()};
  ArrayRef<int64_t> rest = b.shape(x).drop_front(indices.places->size());
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

bool SelectedNode::gatherNd() {
  const Selection *data = selection(0), *indices = selection(1);
  if (const int64_t batch = n.integer("batch_dims", 0); batch != 0)
    // Batched gather: data and indices have the same slices along a batch dimension, so that each
    // slice is gathered with its own indices.
    return data && indices && data->axis == indices->axis && data->axis < batch && !data->within &&
           !indices->within && data->hasKnownCount() &&
           (indices->uniform || haveSameSlices(*data, *indices)) &&
           setOutputs(run({n.inputs[0].value, fillUnselectedSlices(b, *data, n.in(1), 0)}), *data,
                      data->axis);
  if (indices && indices->uniform)
    return false;
  if (indices && areOwnPlaces(b, *indices, n.in(1), n.in(0), data))
    return setReadOutput(b.reshape(n.in(0), mergeIndexedDims(b, *indices, n.in(0))), *indices, 0);
  if (data)
    return gatherNdByNumber();
  if (indices->within || indices->axis == b.rank(n.in(1)) - 1)
    return false;
  auto results = run({n.inputs[0], fillUnselectedSlices(b, *indices, n.in(1), 0)});
  return !b.ok() || results.empty() || setReadOutput(results[0].value, *indices, indices->axis);
}

/// Handles GatherElements along another axis than the slice dimension. Each slice of the data has
/// its own indices.
bool SelectedNode::gatherElements() {
  const Selection *data = selection(0), *indices = selection(1);
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  if (!data || !indices || data->axis != indices->axis || axis == data->axis || data->within ||
      indices->within || data->capacity() != indices->capacity() ||
      (!data->uniform && !indices->uniform && !haveSameSlices(*data, *indices)))
    return false;
  const Selection &s = data->uniform ? *indices : *data;
  return setOutputs(run({n.inputs[0].value, fillUnselectedSlices(b, *indices, n.in(1), 0)}), s,
                    s.axis);
}

/// Returns the identity element of a scatter's reduction for the type of x; nullopt if there is
/// none.
static std::optional<double> getReductionIdentity(Build &b, StringRef reduction, Value x) {
  if (reduction == "add")
    return 0;
  if (reduction == "mul")
    return 1;
  if ((reduction != "max" && reduction != "min") || !b.isFloat(x))
    return std::nullopt;
  return reduction == "max" ? -INFINITY : INFINITY;
}

/// Handles scatters of selected slices. The updates of unselected slices are the identity element
/// of the reduction. If there is none, they are written to an additional slice that is removed
/// afterwards.
bool SelectedNode::scatter(int64_t axis, bool byPlace) {
  const Selection *indices = selection(1), *updates = selection(2);
  const int64_t rank = b.rank(n.in(0));
  if (selection(0) || !indices || !updates || indices->within || indices->uniform ||
      indices->axis != updates->axis || indices->capacity() != updates->capacity() ||
      (!updates->uniform && !haveSameSlices(*indices, *updates)))
    return false;
  Selection s = *indices;
  Value x = n.in(0), at = n.in(1), with = n.in(2);
  if (auto none = getReductionIdentity(b, n.string("reduction", "none"), with)) {
    auto results =
        run({x, fillUnselectedSlices(b, s, at, 0), fillUnselectedSlices(b, s, with, *none)});
    if (b.ok() && !results.empty())
      n.set(0, results[0]);
    return true;
  }
  // Negative indices are made non-negative before x gets the additional slice.
  Value extents = b.scalarInt(b.elem(at), b.dim(x, axis));
  if (byPlace) {
    ArrayRef<int64_t> shape = b.shape(x).take_front(size_t(b.dim(at, -1)));
    extents = b.ints(shape, {int64_t(shape.size())}, b.elem(at));
  }
  at = b.select(b.compare(Predicate::lt, at, b.like(at, 0)), b.add(at, extents), at);
  Value beyond = b.scalarInt(b.elem(at), b.dim(x, axis));
  if (byPlace) {
    Dims first(size_t(b.dim(at, -1)), 0);
    first[0] = b.dim(x, axis);
    beyond = b.ints(first, {int64_t(first.size())}, b.elem(at));
  }
  at = b.select(broadcastMask(b, s, at, s.axis), at, beyond);
  Dims low(size_t(rank), 0), high(size_t(rank), 0);
  high[axis] = 1;
  auto results = run({b.pad(x, b.like(x, 0), PadMode::constant, low, high), at, with});
  if (b.ok() && !results.empty())
    n.set(0, b.sliceAxis(results[0].value, axis, 0, b.dim(x, axis)));
  return true;
}

bool SelectedNode::scatterElements() {
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  if (!b.ok())
    return true;
  const Selection *data = selection(0), *indices = selection(1), *updates = selection(2);
  // A scatter that writes slices to the indices at which they were selected is a select by the
  // selection's mask.
  if (data && indices && updates && data->axis == axis && indices->axis == axis &&
      updates->axis == axis && indices->places && indices->places->size() == 1 && indices->within &&
      haveSameSlices(*data, *indices->within) &&
      (updates->uniform || haveSameSlices(*indices, *updates)) &&
      n.string("reduction", "none") == "none" && b.shape(n.in(0)) == b.shape(n.in(1)) &&
      b.shape(n.in(0)) == b.shape(n.in(2))) {
    Value chosen = b.select(broadcastMask(b, *indices, n.in(0), axis), n.in(2), n.in(0));
    Selection all = copySelectedSlices(*indices->within);
    all.axis = axis;
    n.set(0, makeSelectedValue(chosen, all));
    return true;
  }
  return scatter(axis, false);
}

bool SelectedNode::scatterNd() {
  const Selection *data = selection(0), *indices = selection(1), *updates = selection(2);
  if (!indices || !updates)
    return false;
  if (n.string("reduction", "none") == "none" &&
      areOwnPlaces(b, *indices, n.in(1), n.in(0), data) && updates->axis == 0 &&
      updates->capacity() == indices->capacity() &&
      (updates->uniform || haveSameSlices(*indices, *updates))) {
    // A scatter to the indices at which the slices were selected is a select by the selection's
    // mask.
    Value x = n.in(0);
    Dims shape = b.dims(x);
    for (size_t d = indices->places->size(); d < shape.size(); ++d)
      shape[d] = 1;
    Value chosen = b.select(b.reshape(buildSelectionMask(b, *indices), shape),
                            b.reshape(n.in(2), b.shape(x)), x);
    n.set(0, data ? makeSelectedValue(chosen, *data) : GraphValue(chosen));
    return true;
  }
  return indices->axis < b.rank(n.in(1)) - 1 && scatter(0, true);
}

/// Handles softmax over one dimension and normalizations from an axis on.
bool SelectedNode::trailing() {
  const Selection *s = selection(0);
  if (!s || selection(1) || selection(2))
    return false;
  const bool isNorm = StringRef(op.name).ends_with("Normalization");
  const bool isOne = !isNorm && n.opset >= 13;
  int64_t axis = b.axis(n.integer("axis", isNorm || isOne ? -1 : 1), b.rank(n.in(0)));
  if (!b.ok() || (isOne ? axis != s->axis : s->axis < axis))
    return !b.ok() || setOutputs(runAll(), *s, s->axis);
  if (!isOne || !s->hasKnownCount())
    return false;
  return setOutputs(run({fillUnselectedSlices(b, *s, n.in(0), -INFINITY)}), *s, s->axis);
}

bool SelectedNode::reduce() {
  const Selection *s = selection(0);
  if (!s || selection(1) || isSize(1))
    return false;
  ReductionOptions r = readReduction(n, b);
  if (!b.ok())
    return true;
  if (r.identity)
    return setOutputs(runAll(), *s, s->axis);
  if (!llvm::is_contained(r.axes, s->axis)) {
    auto isBefore = [&](int64_t axis) { return axis < s->axis; };
    return setOutputs(runAll(), *s, s->axis - (r.keepdims ? 0 : llvm::count_if(r.axes, isBefore)));
  }
  if (!s->hasKnownCount() || s->within)
    return false;
  Value x = n.in(0);
  StringRef name = op.name;
  // The sum of a condition over the selected slices is the number of slices that are selected and
  // true, a Size item.
  Value condition = getCountedCondition(b, x);
  if (name == "ReduceSum" && b.rank(x) == 1 && condition) {
    Selection both;
    both.pieces = {{b.both(buildSelectionMask(b, *s), b.flatten(condition)), s->capacity()}};
    n.set(0, makeCountValue(b, Dims(r.keepdims ? 1 : 0, 1), b.elem(x), both));
    return true;
  }
  std::optional<double> none;
  if (llvm::is_contained(
          {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"},
          name))
    none = 0;
  else if (name == "ReduceProd")
    none = 1;
  else if (name == "ReduceMax" || name == "ReduceMin")
    none = getReductionIdentity(b, name == "ReduceMax" ? "max" : "min", x);
  else if (name == "ReduceLogSumExp" && b.isFloat(x))
    none = -INFINITY;
  if (!none || (name == "ReduceMean" && !b.isFloat(x)))
    return false;
  std::vector<GraphValue> inputs = n.inputs;
  inputs[0] = fillUnselectedSlices(b, *s, x, *none);
  std::vector<GraphValue> results = run(std::move(inputs));
  if (!b.ok() || results.empty())
    return true;
  Value result = results[0].value;
  if (name == "ReduceMean") {
    Value there = b.reduce(ReduceKind::sum, b.cast(buildSelectionMask(b, *s), b.f32), {0}, false);
    result = b.mul(result, b.cast(b.div(b.scalar(b.f32, double(s->capacity())), there), b.elem(x)));
  }
  n.set(0, result);
  return true;
}

/// Handles CumSum and CumProd. Unselected slices are replaced by the identity element.
bool SelectedNode::running() {
  const Selection *s = selection(0);
  if (!s || !s->hasKnownCount() || s->within || n.numInputs() != 2)
    return false;
  int64_t axis = b.axis(b.needInt(n.in(1), "the axis"), b.rank(n.in(0)));
  if (!b.ok() || axis != s->axis)
    return !b.ok() || setOutputs(runAll(), *s, s->axis);
  double none = op.name == StringRef("CumProd") ? 1 : 0;
  return setOutputs(run({fillUnselectedSlices(b, *s, n.in(0), none), n.inputs[1]}), *s, axis);
}

/// Handles matmuls. Rows of A or columns of B may be selected slices. If the reduction (K)
/// dimension has selected slices, they must be the same in A and B.
bool SelectedNode::matmul() {
  const Selection *left = selection(0), *right = selection(1);
  const int64_t ranks[] = {b.rank(n.in(0)), b.rank(n.in(1))};
  if (ranks[0] < 2 || ranks[1] < 2)
    return false;
  const int64_t rank = std::max(ranks[0], ranks[1]);
  if (left && right) {
    if (left->axis != ranks[0] - 1 || right->axis != ranks[1] - 2 || left->uniform ||
        right->uniform || left->within || right->within || !haveSameSlices(*left, *right))
      return false;
    auto results = run(
        {fillUnselectedSlices(b, *left, n.in(0), 0), fillUnselectedSlices(b, *right, n.in(1), 0)});
    if (b.ok() && !results.empty())
      n.set(0, results[0]);
    return true;
  }
  const int side = left ? 0 : 1;
  const Selection &s = left ? *left : *right;
  const int64_t fromEnd = ranks[side] - s.axis, summed = left ? 1 : 2;
  if (fromEnd == summed ||
      (fromEnd > 2 && ranks[1 - side] >= fromEnd && b.dim(n.in(1 - side), -fromEnd) != 1))
    return false;
  return setOutputs(runAll(), s, rank - fromEnd);
}

bool SelectedNode::gemm() {
  const Selection *left = selection(0);
  if (!left || selection(1) || selection(2) || left->axis != (n.integer("transA", 0) ? 1 : 0))
    return false;
  return !(n.has(2) && b.rank(n.in(2)) == 2 && b.dim(n.in(2), 0) != 1) &&
         setOutputs(runAll(), *left, 0);
}

/// Handles NonZero of a vector of selected elements: the selected elements that are not zero.
bool SelectedNode::nonZero() {
  const Selection *s = selection(0);
  if (!s || b.rank(n.in(0)) != 1 || s->uniform || s->within)
    return false;
  auto within = std::make_shared<Selection>(copySelectedSlices(*s));
  Value condition = b.both(buildSelectionMask(b, *s), convertToBool(b, n.in(0)));
  n.set(0, nonZeroItem(b, condition, b.shape(n.in(0)), within));
  return true;
}

} // namespace dlc::onnxfront
