//===- SelectedOrder.cpp - compaction and order of selected slices --------===//
// Operators that index slices (such as the first ten slices, the slice at an index, or the largest
// element) require compacted slices: the selected slices are contiguous and precede the others.
// Outputs of a program are compacted, too.
#include "frontend/onnx/bounded/SelectedNode.h"

using namespace mlir;

namespace dlc::onnxfront {

//===--- Compaction -----------------------------------------------------------===//

Value countSelectedSlices(Build &b, const Selection &s) {
  return b.reduce(ReduceKind::sum, b.cast(buildSelectionMask(b, s), b.i64), {0}, false);
}

Value compactIndices(Build &b, const Selection &s) {
  return b.sub(b.runningSum(b.cast(buildSelectionMask(b, s), b.i64), 0), 1);
}

/// Returns a selection of the first `number` slices of a dimension.
static Selection selectFirstSlices(Build &b, Value number, int64_t capacity, int64_t axis) {
  Selection s;
  s.pieces = {{b.compare(Predicate::lt, b.iota(b.i64, {capacity}, 0), number), capacity}};
  s.axis = axis;
  return s;
}

/// Returns true if the selected slices precede all others, because the condition compares their
/// indices to a number.
static bool areSelectedSlicesFirst(Build &b, const Selection &s) {
  if (s.pieces.size() != 1 || !s.pieces[0].condition)
    return s.hasKnownCount() &&
           llvm::none_of(s.pieces, [](auto &piece) { return piece.condition; });
  auto compare = skipReshapes(s.pieces[0].condition).getDefiningOp<CompareOp>();
  if (!compare || compare.getPredicate() != Predicate::lt || b.count(compare.getB()) != 1)
    return false;
  auto places = b.known(compare.getA());
  if (!places || places->isFloat() || places->size() != s.capacity())
    return false;
  for (int64_t i = 0; i < places->size(); ++i)
    if (places->getInt(i) != i)
      return false;
  return true;
}

/// Returns i64 [capacity]: the indices of the selected slices in order. The remaining elements are
/// `beyond`.
static Value buildSelectedIndices(Build &b, const Selection &s, int64_t beyond) {
  const int64_t capacity = s.capacity();
  Value place = b.iota(b.i64, {capacity}, 0), mask = buildSelectionMask(b, s);
  if (areSelectedSlicesFirst(b, s))
    return beyond == 0 ? place : b.select(mask, place, b.scalarInt(b.i64, beyond));
  Value to = b.select(mask, compactIndices(b, s), b.scalarInt(b.i64, capacity));
  Value order = b.scatter(b.splat(b.i64, {capacity + 1}, double(beyond)), to, place, 0);
  return b.sliceAxis(order, 0, 0, capacity);
}

/// Returns x [.., capacity, ..] with the selected slices moved to the front.
static Value moveSelectedSlicesFirst(Build &b, const Selection &s, Value x) {
  return areSelectedSlicesFirst(b, s) ? x : b.gather(x, buildSelectedIndices(b, s, 0), s.axis);
}

//===--- Operators ------------------------------------------------------------===//

/// Maps indices among the selected slices of `data` to positions in the whole dimension. Indices
/// below 0 count from the end. An index out of range is an error at run time unless `indices` is
/// given and its slice is unselected.
static Value mapSelectedIndices(Build &b, const Selection &data, Value numbers,
                                const Selection *indices) {
  Value at = b.cast(numbers, b.i64);
  at = b.select(b.compare(Predicate::lt, at, b.like(at, 0)),
                b.add(at, countSelectedSlices(b, data)), at);
  if (indices)
    at = fillUnselectedSlices(b, *indices, at, 0);
  return b.gather(buildSelectedIndices(b, data, indices ? 0 : data.capacity()), at, 0);
}

bool SelectedNode::gatherByNumber(int64_t axis) {
  const Selection &data = *selection(0), *indices = selection(1);
  if (!data.hasKnownCount() || data.within || data.capacity() == 0 || (indices && indices->within))
    return false;
  Value found = b.gather(n.in(0), mapSelectedIndices(b, data, n.in(1), indices), axis);
  if (indices)
    return setReadOutput(found, *indices, axis + indices->axis);
  n.set(0, found);
  return true;
}

bool SelectedNode::gatherNdByNumber() {
  const Selection &data = *selection(0), *indices = selection(1);
  const int64_t last = b.rank(n.in(1)) - 1, depth = last < 0 ? 0 : b.dim(n.in(1), last);
  if (!data.hasKnownCount() || data.within || data.capacity() == 0 || data.axis >= depth ||
      (indices && (indices->within || indices->axis == last)))
    return false;
  std::vector<Value> columns;
  for (int64_t d = 0; d < depth; ++d) {
    Value column = b.sliceAxis(b.cast(n.in(1), b.i64), last, d, 1);
    columns.push_back(d == data.axis ? mapSelectedIndices(b, data, column, indices)
                      : indices      ? fillUnselectedSlices(b, *indices, column, 0)
                                     : column);
  }
  auto results = run({n.inputs[0].value, b.concat(columns, last)});
  if (!b.ok() || results.empty())
    return true;
  if (indices)
    return setReadOutput(results[0].value, *indices, indices->axis);
  n.set(0, results[0]);
  return true;
}

/// Handles Range with the slice count as the limit: it yields the index of each selected slice.
bool SelectedNode::range() {
  if (!isSize(1) || isSize(0) || isSize(2))
    return false;
  const Selection &of = *n.inputs[1].selection;
  auto times = computeCountMultiples(b, n.inputs[1]);
  auto start = b.attempt(n.in(0)), limit = b.known(n.in(1));
  auto step = n.has(2) ? b.attempt(n.in(2)) : std::nullopt;
  if (!b.ok() || !of.hasKnownCount() || !times || times->size() != 1 || (*times)[0] != 1 ||
      !limit || limit->getDouble(0) != double(of.capacity()) || !start ||
      start->getDouble(0) != 0 || (n.has(2) && (!step || step->getDouble(0) != 1)))
    return !b.ok();
  Value numbers = b.max(compactIndices(b, of), b.scalarInt(b.i64, 0));
  return setOutputs({b.cast(numbers, b.elem(n.in(0)))}, copySelectedSlices(of), 0);
}

/// Handles Resize of a batch whose examples are the slices. The output shape may contain the slice
/// count.
bool SelectedNode::resize() {
  const Selection *s = selection(0);
  std::vector<GraphValue> inputs = n.inputs;
  for (size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].kind == GraphValue::Size && s && haveSameSlices(*s, *inputs[i].selection))
      inputs[i] = inputs[i].value;
    else if (inputs[i].kind != GraphValue::Tensor && inputs[i].kind != GraphValue::Absent)
      return false;
  if (!s || s->axis != 0)
    return false;
  inputs[0] = n.in(0);
  std::vector<GraphValue> results = run(std::move(inputs));
  return !b.ok() || results.empty() ||
         (b.dim(results[0].value, 0) == s->capacity() && setOutputs(std::move(results), *s, 0));
}

/// Handles Slice along the slice dimension: a range of slices relative to the start or the end, or
/// all slices in reverse order.
bool SelectedNode::sliceByNumber() {
  const Selection &s = *selection(0);
  if (!s.hasKnownCount() || s.within || s.capacity() == 0 || n.opset < 10)
    return false;
  auto one = [&](int64_t i, int64_t otherwise) -> std::optional<int64_t> {
    if (!n.has(i))
      return otherwise;
    auto given = b.attempt(n.in(i));
    return given && given->size() == 1 ? std::optional(given->getInt(0)) : std::nullopt;
  };
  auto start = one(1, 0), end = one(2, 0), axis = one(3, 0), step = one(4, 1);
  const int64_t capacity = s.capacity(), rank = b.rank(n.in(0));
  if (!start || !end || !axis || !step || (*axis < 0 ? *axis + rank : *axis) != s.axis)
    return false;
  // A bound above the capacity means all slices, also if it counts from the end.
  const int64_t from = std::clamp(*start, -capacity - 1, capacity),
                to = std::clamp(*end, -capacity - 1, capacity);
  Value number = countSelectedSlices(b, s);
  auto taken = [&](Value numbers) {
    Value at = b.clamp(numbers, 0, double(capacity - 1));
    return b.gather(n.in(0), b.gather(buildSelectedIndices(b, s, 0), at, 0), s.axis);
  };
  if (*step == -1 && (from == -1 || from == capacity) && to == -capacity - 1) {
    Value numbers = b.sub(b.sub(number, 1), b.iota(b.i64, {capacity}, 0));
    return setReadOutput(taken(numbers), selectFirstSlices(b, number, capacity, s.axis), s.axis);
  }
  if (*step != 1)
    return false;
  auto placeOf = [&](int64_t at) {
    Value place = at < 0 ? b.add(number, double(at)) : b.min(number, b.like(number, double(at)));
    return b.max(place, b.like(place, 0));
  };
  Value first = placeOf(from), length = b.sub(placeOf(to), first);
  const int64_t before = to < 0 ? capacity + to : to,
                most = std::clamp<int64_t>(from >= 0 ? before - from
                                           : to < 0  ? to - from
                                                     : std::min(-from, to),
                                           0, capacity);
  Value x = from >= 0 ? b.sliceAxis(moveSelectedSlicesFirst(b, s, n.in(0)), s.axis, from, most)
                      : taken(b.add(first, b.iota(b.i64, {most}, 0)));
  return setReadOutput(x, selectFirstSlices(b, length, most, s.axis), s.axis);
}

/// Handles Tile: all selected slices are repeated several times.
bool SelectedNode::tile() {
  const Selection *s = selection(0);
  auto repeats = b.attempt(n.in(1));
  if (!s || !repeats || repeats->size() != b.rank(n.in(0)))
    return false;
  const int64_t times = repeats->getInt(s->axis);
  if (times == 1)
    return setOutputs(runAll(), *s, s->axis);
  if (!s->hasKnownCount() || s->within || times < 1)
    return false;
  Selection more = copySelectedSlices(*s);
  for (int64_t i = 1; i < times; ++i)
    more.pieces.insert(more.pieces.end(), s->pieces.begin(), s->pieces.end());
  return setOutputs(runAll(), more, s->axis);
}

/// Handles Pad along other axes than the slice dimension, or with constants before and after the
/// selected slices.
bool SelectedNode::pad() {
  if (isSize(1))
    return padToSize();
  const Selection *s = selection(0);
  auto pads = n.opset >= 11 && n.has(1) ? b.attempt(n.in(1)) : std::nullopt;
  for (int64_t i = 0; pads && i < pads->size(); ++i)
    if (pads->getInt(i) < 0)
      return false;
  if (!s || !pads)
    return false;
  std::vector<GraphValue> results = runAll();
  if (!b.ok() || results.empty() || b.dim(results[0].value, s->axis) == s->capacity())
    return !b.ok() || results.empty() || setOutputs(std::move(results), *s, s->axis);
  const int64_t rank = b.rank(n.in(0));
  if (!s->hasKnownCount() || s->within || n.has(3) || pads->size() != 2 * rank ||
      n.string("mode", "constant") != "constant")
    return false;
  Selection more = copySelectedSlices(*s);
  more.pieces.insert(more.pieces.begin(), {Value(), pads->getInt(s->axis)});
  more.pieces.push_back({Value(), pads->getInt(rank + s->axis)});
  llvm::erase_if(more.pieces, [](const Selection::Piece &piece) { return piece.length == 0; });
  return setOutputs(std::move(results), more, s->axis);
}

/// Handles Pad with a Size item as padding, so that the selected slices are padded to a constant
/// number of slices and the result has a static shape.
bool SelectedNode::padToSize() {
  const Selection *s = selection(0), &of = *n.inputs[1].selection;
  auto times = computeCountMultiples(b, n.inputs[1]);
  auto all = b.known(n.in(1));
  const int64_t rank = b.rank(n.in(0));
  if (!s || !s->hasKnownCount() || s->within || !times || !all || n.has(3) ||
      int64_t(times->size()) != 2 * rank || n.string("mode", "constant") != "constant")
    return false;
  // Each of the slices that the padding counts may have been split into `each` slices.
  const int64_t end = rank + s->axis, each = s->capacity() / std::max<int64_t>(1, of.capacity());
  if (s->capacity() != each * of.capacity() ||
      !(each == 1 ? haveSameSlices(*s, of)
                  : haveSameSlices(*s, splitSelectedSlices(b, of, {each}))))
    return false;
  Dims pads;
  for (int64_t i = 0; i < 2 * rank; ++i) {
    if ((*times)[size_t(i)] != (i == end ? -double(each) : 0))
      return false;
    pads.push_back(int64_t(all->getDouble(i)));
  }
  Value fill = n.has(2) ? b.reshape(n.in(2), {}) : b.like(n.in(0), 0);
  Selection first = selectFirstSlices(b, countSelectedSlices(b, *s), s->capacity(), s->axis);
  Value x = b.select(broadcastMask(b, first, n.in(0), s->axis),
                     moveSelectedSlicesFirst(b, *s, n.in(0)), fill);
  if (pads[size_t(end)] < 0) {
    x = b.sliceAxis(x, s->axis, 0, s->capacity() + pads[size_t(end)]);
    pads[size_t(end)] = 0;
  }
  n.set(0, b.pad(x, fill, PadMode::constant, ArrayRef<int64_t>(pads).take_front(size_t(rank)),
                 ArrayRef<int64_t>(pads).drop_front(size_t(rank))));
  return true;
}

/// Returns an upper bound for each element of a small integer tensor; infinity if no bound is
/// known.
static std::vector<double> upperBounds(Build &b, Value v, int depth = 0) {
  constexpr int deepest = 16, few = 64;
  const size_t count = size_t(b.count(v));
  std::vector<double> most(count, INFINITY);
  Operation *op = v.getDefiningOp();
  if (auto known = b.known(v); known && count <= few) {
    for (size_t i = 0; i < count; ++i)
      most[i] = known->getDouble(int64_t(i));
  } else if (auto reduce = dyn_cast_or_null<ReduceOp>(op); reduce && count == 1) {
    auto flags = reduce.getX().getDefiningOp<CastOp>();
    if (reduce.getKind() == ReduceKind::sum && flags && b.isBool(flags.getX()))
      most[0] = double(b.count(flags.getX()));
    else if (reduce.getKind() == ReduceKind::min && b.count(reduce.getX()) <= few &&
             depth < deepest)
      for (double each : upperBounds(b, reduce.getX(), depth + 1))
        most[0] = std::min(most[0], each);
  } else if (op && count <= few && depth < deepest) {
    auto both = [&](auto combine) {
      std::vector<double> one = upperBounds(b, op->getOperand(0), depth + 1),
                          other = upperBounds(b, op->getOperand(1), depth + 1);
      for (size_t i = 0; i < count; ++i)
        most[i] = combine(one[one.size() == 1 ? 0 : i], other[other.size() == 1 ? 0 : i]);
    };
    const bool isPlain = llvm::all_of(op->getOperands(), [&](Value operand) {
      return b.count(operand) == 1 || b.shape(operand) == b.shape(v);
    });
    if (isa<CastOp, ReshapeOp>(op)) {
      most = upperBounds(b, op->getOperand(0), depth + 1);
    } else if (auto concat = dyn_cast<ConcatOp>(op); concat && b.rank(v) == 1) {
      most.clear();
      for (Value part : concat.getXs())
        llvm::append_range(most, upperBounds(b, part, depth + 1));
    } else if (isa<MinOp>(op) && isPlain) {
      both([](double x, double y) { return std::min(x, y); });
    } else if (isa<AddOp>(op) && isPlain) {
      both([](double x, double y) { return x + y; });
    } else if (isa<MulOp>(op) && isPlain && b.known(op->getOperand(1))) {
      both([](double x, double y) { return y == 0 ? 0 : y > 0 ? x * y : INFINITY; });
    }
  }
  return most;
}

/// Returns x with the selected slices first, followed by a value that any element precedes in a
/// search. Equal elements precede it, too.
static Value prepareForSearch(Build &b, const Selection &s, Value x, bool largest) {
  Type element = b.elem(x);
  Value last;
  if (b.isFloat(x)) {
    last = b.like(x, largest ? -INFINITY : INFINITY);
  } else {
    const unsigned width = element.getIntOrFloatBitWidth();
    const bool isSigned = !element.isUnsignedInteger() && width > 1;
    const int64_t low = isSigned ? -(int64_t(1) << (width - 1)) : 0;
    last = b.scalarInt(element, largest ? low : isSigned ? ~low : ~int64_t(0));
  }
  Selection all = selectFirstSlices(b, countSelectedSlices(b, s), s.capacity(), s.axis);
  return b.select(broadcastMask(b, all, x, s.axis), moveSelectedSlicesFirst(b, s, x), last);
}

/// Handles ArgMax and ArgMin along the slice dimension.
bool SelectedNode::search() {
  const Selection *s = selection(0);
  const int64_t axis = b.axis(n.integer("axis", 0), b.rank(n.in(0)));
  if (!b.ok() || !s || axis != s->axis)
    return !b.ok() || other();
  if (!s->hasKnownCount() || s->within || s->capacity() == 0 ||
      n.integer("select_last_index", 0) != 0)
    return false;
  auto results = run({prepareForSearch(b, *s, n.in(0), op.name == StringRef("ArgMax"))});
  if (b.ok() && !results.empty())
    n.set(0, results[0]);
  return true;
}

bool SelectedNode::topK() {
  const Selection *s = selection(0);
  const int64_t axis = b.axis(n.integer("axis", -1), b.rank(n.in(0)));
  if (!b.ok() || !s || axis != s->axis)
    return !b.ok() || other();
  if (selection(1) || !s->hasKnownCount() || s->within || (n.opset >= 10 && !n.has(1)))
    return false;
  const bool largest = n.integer("largest", 1) != 0;
  Value x = n.in(0), k = n.opset >= 10 ? b.reshape(b.cast(n.in(1), b.i64), {})
                                       : b.scalarInt(b.i64, n.integer("k", 0));
  if (!b.ok())
    return true;
  const int64_t most = int64_t(std::clamp<double>(upperBounds(b, k)[0], 0, double(s->capacity())));
  x = prepareForSearch(b, *s, x, largest);
  auto both = b.ops<TopKOp>({x}, {b.attr("k", most), b.attr("axis", axis),
                                  b.attr("largest", b.b.getBoolAttr(largest)),
                                  b.attr("sorted", b.b.getBoolAttr(true))});
  return both.size() != 2 ||
         setOutputs({both[0], both[1]},
                    selectFirstSlices(b, b.min(countSelectedSlices(b, *s), k), most, axis), axis);
}

//===--- Outputs --------------------------------------------------------------===//

/// Returns x [.., capacity, ..] with the elements of its first `count` slices along an axis moved
/// to the start of its memory.
static Value compactMemory(Build &b, Value x, int64_t axis, Value count) {
  int64_t outer = 1;
  for (int64_t d : b.shape(x).take_front(size_t(axis)))
    outer *= d;
  const int64_t capacity = b.dim(x, axis);
  if (outer == 1 || b.count(x) == 0)
    return x;
  Dims lines{outer * capacity};
  for (int64_t d : b.shape(x).drop_front(size_t(axis) + 1))
    lines.push_back(d);
  Value to = b.iota(b.i64, {outer * capacity}, 0), length = b.max(count, b.like(count, 1));
  Value line = b.div(to, length), within = b.sub(to, b.mul(line, length));
  Value from = b.add(b.mul(b.min(line, b.like(line, double(outer - 1))), double(capacity)), within);
  return b.reshape(b.gather(b.reshape(x, lines), from, 0), b.shape(x));
}

SelectedOutputs::BoundedOutput SelectedOutputs::take(Build &b, const GraphValue &item) {
  const Selection &s = *item.selection;
  Value x = item.value;
  if (s.within && !s.within->within && s.places && s.places->size() == 1) {
    // Indices that also count unselected slices are converted to indices among the selected slices.
    Value numbers = compactIndices(b, *s.within);
    x = b.gather(numbers, b.clamp(x, 0, double(s.within->capacity() - 1)), 0);
  } else if (s.within) {
    return {};
  }
  auto known = llvm::find_if(taken, [&](const Taken &t) { return haveSameSlices(t.slices, s); });
  if (known == taken.end()) {
    taken.push_back({copySelectedSlices(s), countSelectedSlices(b, s)});
    known = taken.end() - 1;
  }
  return {compactMemory(b, moveSelectedSlicesFirst(b, s, x), s.axis, known->count), s.axis,
          size_t(known - taken.begin())};
}

} // namespace dlc::onnxfront
