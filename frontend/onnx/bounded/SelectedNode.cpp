//===- SelectedNode.cpp - shape rules for bounded dynamic tensors ---------===//
#include "frontend/onnx/bounded/SelectedNode.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dlc::onnxfront {

const Selection *SelectedNode::sharedSelection(int64_t i, int64_t j) const {
  const Selection *one = selection(i), *other = selection(j);
  if (!one || !other)
    return one ? one : other;
  if (one->uniform || other->uniform)
    return one->uniform ? other : one;
  return haveSameSlices(*one, *other) ? one : nullptr;
}

std::vector<GraphValue> SelectedNode::run(std::vector<GraphValue> inputs) {
  Node inner(n.importer, b, n.proto, n.frame, n.scope, n.opset);
  inner.inputs = std::move(inputs);
  op.handler(inner, b);
  return std::move(inner.outputs);
}

bool SelectedNode::setOutputs(std::vector<GraphValue> results, const Selection &s, int64_t axis,
                              bool keepsPlaces) {
  // Indices of selected slices that also count unselected slices cannot be used as values.
  if (s.within && !keepsPlaces)
    return false;
  Selection next = s;
  next.axis = axis;
  if (!keepsPlaces)
    next.places.reset();
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].kind == GraphValue::Tensor)
      n.set(int64_t(i), makeSelectedValue(results[i].value, next));
  return true;
}

bool SelectedNode::identity() {
  n.set(0, n.inputs[0]);
  return true;
}

/// Handles elementwise operators. Dimensions are aligned from the last one on, as in broadcasting.
bool SelectedNode::elementwise() {
  if (n.numInputs() == 1 && (op.name == StringRef("Max") || op.name == StringRef("Min") ||
                             op.name == StringRef("Sum") || op.name == StringRef("Mean")))
    return identity();
  const Selection *s = nullptr;
  int64_t fromEnd = 0, rank = 0;
  for (int64_t i = 0; i < n.numInputs(); ++i) {
    rank = std::max(rank, b.rank(n.in(i)));
    const Selection *own = selection(i);
    if (!own)
      continue;
    int64_t place = b.rank(n.in(i)) - own->axis;
    if (own->within || (s && (place != fromEnd || own->capacity() != s->capacity())) ||
        (s && !s->uniform && !own->uniform && !haveSameSlices(*s, *own)))
      return false;
    fromEnd = place;
    if (!s || s->uniform)
      s = own;
  }
  for (int64_t i = 0; i < n.numInputs(); ++i)
    if (n.has(i) && !selection(i) && b.rank(n.in(i)) >= fromEnd && b.dim(n.in(i), -fromEnd) != 1)
      return false;
  bool keepsPlaces = op.name == StringRef("Cast") && s->places;
  std::vector<GraphValue> results = runAll();
  keepsPlaces = keepsPlaces && !results.empty() && results[0].value &&
                !b.isFloat(results[0].value) && !b.isBool(results[0].value);
  return setOutputs(std::move(results), *s, rank - fromEnd, keepsPlaces);
}

bool SelectedNode::transpose() {
  const Selection &s = *selection(0);
  Dims order = readPermutation(n, b.rank(n.in(0)));
  auto place = llvm::find(order, s.axis);
  return place != order.end() && setOutputs(runAll(), s, place - order.begin(), true);
}

Selection splitSelectedSlices(Build &b, const Selection &s, ArrayRef<int64_t> inner) {
  Selection more;
  more.uniform = s.uniform;
  for (const Selection::Piece &piece : s.pieces) {
    int64_t length = piece.length;
    for (int64_t d : inner)
      length *= d;
    Value condition = piece.condition;
    if (condition) {
      Dims column = b.dims(condition), whole = column;
      column.resize(column.size() + inner.size(), 1);
      whole.insert(whole.end(), inner.begin(), inner.end());
      condition = skipReshapes(b.broadcast(b.reshape(condition, column), whole));
    }
    more.pieces.push_back({condition, length});
  }
  return more;
}

/// Handles reshape-like operators: finds the result axis with the same number of outer elements.
bool SelectedNode::reshape() {
  const Selection *s = selection(0);
  if (!s)
    return false;
  Dims from = b.dims(n.in(0));
  std::vector<GraphValue> results = runAll();
  if (!b.ok() || results.empty())
    return true;
  auto before = [](ArrayRef<int64_t> shape, int64_t axis) {
    int64_t count = 1;
    for (int64_t d : shape.take_front(size_t(axis)))
      count *= d;
    return count;
  };
  ArrayRef<int64_t> to = b.shape(results[0].value);
  for (int64_t axis = int64_t(to.size()); axis-- > 0;)
    if (to[axis] == s->capacity() && before(to, axis) == before(from, s->axis))
      return setOutputs(std::move(results), *s, axis, true);
  // The dimensions after the slice dimension are merged with it, so that each slice becomes several
  // slices.
  if (!s->hasKnownCount() || s->places)
    return false;
  for (int64_t axis = int64_t(to.size()); axis-- > 0;) {
    ArrayRef<int64_t> inner = ArrayRef<int64_t>(from).drop_front(size_t(s->axis) + 1);
    while (!inner.empty() && s->capacity() * before(inner, int64_t(inner.size())) > to[axis])
      inner = inner.drop_back();
    const int64_t each = before(inner, int64_t(inner.size()));
    if (to[axis] == s->capacity() * each && before(to, axis) == before(from, s->axis))
      return setOutputs(std::move(results), splitSelectedSlices(b, *s, inner), axis);
  }
  return false;
}

/// Returns the only element of a Size item that depends on the slice count, as a position from the
/// end (1 is the last). Returns 0 if there is no such element or several.
static int64_t findDynamicDimension(Build &b, const GraphValue &size) {
  int64_t found = 0;
  auto times = computeCountMultiples(b, size);
  if (!times)
    return 0;
  for (size_t i = 0; i < times->size(); ++i)
    if ((*times)[i] != 0) {
      if (found)
        return 0;
      found = int64_t(times->size() - i);
    }
  return found;
}

/// Returns a selection of equal slices along a dimension whose size is an element of a Size item.
/// `open` is the position of the element from the end.
static Selection makeUniformSelection(Build &b, const GraphValue &size, int64_t open,
                                      int64_t capacity) {
  auto times = computeCountMultiples(b, size);
  Selection s;
  if (times && (*times)[times->size() - size_t(open)] == 1 &&
      capacity == size.selection->capacity())
    s.pieces = size.selection->pieces;
  else
    s.pieces = {{Value(), capacity}};
  s.uniform = true;
  return s;
}

bool SelectedNode::expand() {
  const Selection *s = selection(0);
  const bool isOpen = isSize(1);
  if (selection(1) || isSize(0) || (!s && !isOpen))
    return false;
  const int64_t open = isOpen ? findDynamicDimension(b, n.inputs[1]) : 0;
  if (isOpen && open == 0)
    return false;
  const int64_t rank = b.rank(n.in(0)), fromEnd = s ? rank - s->axis : open;
  if (s && isOpen && open != fromEnd)
    return false;
  // Along the slice dimension, only one of x and the shape may have a size above 1, or both have
  // the same slices.
  auto target = b.known(n.in(1));
  if (!target)
    return false;
  const int64_t place = target->size() - fromEnd, extent = place < 0 ? 1 : target->getInt(place);
  if (s ? extent != 1 && !(isOpen && extent == s->capacity())
        : rank >= fromEnd && b.dim(n.in(0), -fromEnd) != 1)
    return false;
  std::vector<GraphValue> results = runAll();
  if (!b.ok() || results.empty())
    return true;
  const int64_t axis = b.rank(results[0].value) - fromEnd;
  // Whether the results are still indices of slices: their shape is unchanged, or there is one
  // index per slice (NonZero of a vector), which applies to all elements of the slice.
  const bool same =
      s && (b.shape(results[0].value) == b.shape(n.in(0)) || (s->places && s->places->size() == 1));
  return setOutputs(std::move(results), s ? *s : makeUniformSelection(b, n.inputs[1], open, extent),
                    axis, same);
}

bool SelectedNode::shape() {
  const Selection *s = selection(0);
  if (!s)
    return false;
  Dims dims = b.dims(n.in(0)), times(dims.size(), 0);
  times[s->axis] = 1;
  if (op.name == StringRef("Size")) {
    if (!s->hasKnownCount() || s->capacity() == 0)
      return false;
    const int64_t all = b.count(n.in(0));
    n.set(0, makeSizeValue(b, {all}, {all / s->capacity()}, {}, *s));
    return true;
  }
  auto [start, end] = readShapeRange(n, int64_t(dims.size()));
  size_t number = size_t(end - start);
  ArrayRef<int64_t> some = ArrayRef<int64_t>(dims).slice(size_t(start), number),
                    open = ArrayRef<int64_t>(times).slice(size_t(start), number);
  if (!llvm::is_contained(open, 1))
    n.set(0, b.ints(some));
  else if (!s->hasKnownCount())
    return false;
  else
    n.set(0, makeSizeValue(b, some, open, {int64_t(number)}, *s));
  return true;
}

bool SelectedNode::constantOfShape() {
  const int64_t open = isSize(0) ? findDynamicDimension(b, n.inputs[0]) : 0;
  if (open == 0)
    return false;
  std::vector<GraphValue> results = runAll();
  if (!b.ok() || results.empty())
    return true;
  const int64_t axis = b.rank(results[0].value) - open;
  Selection s = makeUniformSelection(b, n.inputs[0], open, b.dim(results[0].value, axis));
  return setOutputs(std::move(results), s, axis);
}

/// Handles Slice along other axes than the slice dimension, or if all slices are taken in order.
bool SelectedNode::slice() {
  const Selection *s = selection(0);
  if (selection(1) || selection(2))
    return false;
  if (!s)
    return sliceToCount();
  if (isSize(2) && !haveSameSlices(*s, *n.inputs[2].selection))
    return false;
  Dims steps = n.opset >= 10 && n.has(4) ? b.needInts(n.in(4), "the steps") : Dims();
  if (llvm::any_of(steps, [](int64_t step) { return step < 0; }))
    return sliceByNumber();
  std::vector<GraphValue> results = runAll();
  if (!b.ok() || results.empty())
    return true;
  const bool isWhole = b.shape(results[0].value) == b.shape(n.in(0));
  return b.dim(results[0].value, s->axis) == s->capacity()
             ? setOutputs(std::move(results), *s, s->axis, isWhole)
             : sliceByNumber();
}

/// Handles Slice of an ordinary tensor whose end is a Size item: selects as many slices as are
/// selected elsewhere, in order.
bool SelectedNode::sliceToCount() {
  if (!isSize(2) || isSize(0) || isSize(1) || b.count(n.in(2)) != 1)
    return false;
  const Selection &of = *n.inputs[2].selection;
  auto times = computeCountMultiples(b, n.inputs[2]);
  Dims starts = b.needInts(n.in(1), "the starts"), ends = b.needInts(n.in(2), "the ends"),
       axes = n.has(3) ? b.needInts(n.in(3), "the axes") : Dims{0},
       steps = n.has(4) ? b.needInts(n.in(4), "the steps") : Dims{1};
  if (!b.ok() || !times || (*times)[0] != 1 || ends[0] != of.capacity() || starts != Dims{0} ||
      axes.size() != 1 || steps != Dims{1})
    return false;
  const int64_t axis = b.axis(axes[0], b.rank(n.in(0)));
  if (!b.ok() || b.dim(n.in(0), axis) == 0)
    return !b.ok();
  Value number = b.clamp(compactIndices(b, of), 0, double(b.dim(n.in(0), axis) - 1));
  Selection s = copySelectedSlices(of);
  s.axis = axis;
  n.set(0, makeSelectedValue(b.gather(n.in(0), number, axis), s));
  return true;
}

bool SelectedNode::concat() {
  int64_t axis = b.axis(n.integer("axis", 1), b.rank(n.in(0)));
  Selection s;
  const Selection *first = nullptr;
  for (int64_t i = 0; b.ok() && i < n.numInputs(); ++i) {
    const Selection *own = selection(i);
    if (own && (!own->hasKnownCount() || own->within || (first && own->axis != first->axis)))
      return false;
    if (own && own->axis != axis && first && !haveSameSlices(*own, *first))
      return false;
    first = own ? own : first;
  }
  if (!b.ok())
    return true;
  if (first->axis != axis)
    return llvm::all_of(n.inputs,
                        [](const GraphValue &i) { return i.kind == GraphValue::Selected; }) &&
           setOutputs(runAll(), *first, first->axis);
  for (int64_t i = 0; i < n.numInputs(); ++i) {
    if (const Selection *own = selection(i))
      s.pieces.insert(s.pieces.end(), own->pieces.begin(), own->pieces.end());
    else
      s.pieces.push_back({Value(), b.dim(n.in(i), axis)});
  }
  return setOutputs(runAll(), s, axis);
}

/// Handles Split, ArgMax, ArgMin and TopK along an axis that is not the slice dimension.
bool SelectedNode::other() {
  const Selection *s = selection(0);
  const bool isLast = op.name == StringRef("TopK");
  int64_t axis = b.axis(n.integer("axis", isLast ? -1 : 0), b.rank(n.in(0)));
  if (!s || selection(1) || isSize(1) || axis == s->axis)
    return false;
  const bool dropsAxis =
      StringRef(op.name).starts_with("Arg") && n.integer("keepdims", 1) == 0 && axis < s->axis;
  std::vector<GraphValue> results = runAll();
  const bool isWhole = results.size() == 1 && b.ok() && op.name == StringRef("Split");
  return setOutputs(std::move(results), *s, s->axis - dropsAxis, isWhole);
}

/// Handles operators that process each example of a batch separately, if the examples are the
/// slices. Excludes batch statistics and results with indices into the whole batch.
bool SelectedNode::batched() {
  const Selection *s = selection(0);
  if (n.hasOutput(1) || (op.name == StringRef("BatchNormalization") &&
                         (b.training || n.integer("training_mode", 0) != 0)))
    return false;
  for (int64_t i = 1; i < n.numInputs(); ++i)
    if (n.has(i) && n.inputs[i].kind != GraphValue::Tensor)
      return false;
  return s && s->axis == 0 && setOutputs(runAll(), *s, 0);
}

/// Returns true if the result of the operator for a Size item is a multiple of the slice count plus
/// a constant. (A product of two sizes is detected later by its values.)
bool SelectedNode::isLinear() const {
  StringRef name = op.name;
  if (name == "Equal") // a size is not negative and never equals a negative number
    return llvm::any_of(n.inputs, [&](const GraphValue &item) {
      auto elements = item.kind == GraphValue::Tensor ? b.known(item.value) : std::nullopt;
      for (int64_t i = 0; elements && i < elements->size(); ++i)
        if (elements->getDouble(i) >= 0)
          return false;
      return elements.has_value();
    });
  if (name == "Cast") {
    int64_t to = n.find("to") ? n.find("to")->i() : 0;
    return llvm::is_contained({onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE,
                               onnx::TensorProto::INT32, onnx::TensorProto::INT64},
                              to);
  }
  return llvm::is_contained({"Gather", "Concat", "Slice", "Squeeze", "Unsqueeze", "Reshape",
                             "Flatten", "Transpose", "Identity", "Add", "Sub", "Mul", "Neg",
                             "Where", "Expand"},
                            name);
}

/// Handles operators whose inputs are all sizes or constants: evaluates them for each slice count
/// that a Size item stores.
bool SelectedNode::sizes() {
  if (!isLinear())
    return false;
  GraphValue result;
  std::shared_ptr<const Selection> of;
  for (const GraphValue &item : n.inputs) {
    if (item.kind != GraphValue::Size) {
      if (item.kind != GraphValue::Absent &&
          (item.kind != GraphValue::Tensor || !b.known(item.value)))
        return false;
      continue;
    }
    if (of && !haveSameSlices(*of, *item.selection))
      return false;
    of = item.selection;
  }
  for (int64_t other = 0; other <= otherSizes; ++other) {
    std::vector<GraphValue> inputs = n.inputs;
    for (GraphValue &item : inputs)
      if (item.kind == GraphValue::Size)
        item = other ? GraphValue(item.elements[size_t(other - 1)]) : GraphValue(item.value);
    std::vector<GraphValue> outputs;
    {
      llvm::SaveAndRestore quiet(b.silent, true);
      outputs = run(std::move(inputs));
    }
    if (!b.ok()) {
      b.clearError();
      return false;
    }
    if (outputs.size() != 1 || !b.known(outputs[0].value) ||
        (other && outputs[0].value.getType() != result.value.getType()))
      return false;
    if (other)
      result.elements.push_back(outputs[0]);
    else
      result = outputs[0];
  }
  result.kind = GraphValue::Size;
  result.selection = of;
  auto times = computeCountMultiples(b, result);
  if (!times)
    return false;
  if (llvm::all_of(*times, [](double t) { return t == 0; }))
    result = GraphValue(result.value);
  n.set(0, result);
  return true;
}

SelectedNode::Rule SelectedNode::find(StringRef name, const Operator &op) {
  using S = SelectedNode;
  static const llvm::StringMap<Rule> rules{
      {"Identity", &S::identity},
      {"Transpose", &S::transpose},
      {"Reshape", &S::reshape},
      {"Squeeze", &S::reshape},
      {"Unsqueeze", &S::reshape},
      {"Flatten", &S::reshape},
      {"Expand", &S::expand},
      {"Shape", &S::shape},
      {"Size", &S::shape},
      {"ConstantOfShape", &S::constantOfShape},
      {"Gather", &S::gather},
      {"GatherND", &S::gatherNd},
      {"GatherElements", &S::gatherElements},
      {"ScatterElements", &S::scatterElements},
      {"ScatterND", &S::scatterNd},
      {"Slice", &S::slice},
      {"Pad", &S::pad},
      {"Concat", &S::concat},
      {"Split", &S::other},
      {"ArgMax", &S::search},
      {"ArgMin", &S::search},
      {"Tile", &S::tile},
      {"TopK", &S::topK},
      {"Range", &S::range},
      {"Resize", &S::resize},
      {"Conv", &S::batched},
      {"ConvTranspose", &S::batched},
      {"AveragePool", &S::batched},
      {"MaxPool", &S::batched},
      {"GlobalAveragePool", &S::batched},
      {"GlobalMaxPool", &S::batched},
      {"BatchNormalization", &S::batched},
      {"InstanceNormalization", &S::batched},
      {"GroupNormalization", &S::batched},
      {"Softmax", &S::trailing},
      {"LogSoftmax", &S::trailing},
      {"LayerNormalization", &S::trailing},
      {"RMSNormalization", &S::trailing},
      {"CumSum", &S::running},
      {"CumProd", &S::running},
      {"MatMul", &S::matmul},
      {"Gemm", &S::gemm},
      {"NonZero", &S::nonZero},
      {"NonMaxSuppression", &S::nonMaxSuppression},
      {"RoiAlign", &S::roiAlign},
      // These operators have no rule. All other elementwise operators have the rule elementwise().
      {"BitCast", nullptr},
      {"SwiGLU", nullptr},
      {"Hardmax", nullptr},
  };
  auto rule = rules.find(name);
  if (rule != rules.end())
    return rule->second;
  auto isOf = [&](ArrayRef<Operator> family) {
    return &op >= family.begin() && &op < family.end();
  };
  if (isOf(elementwiseOperators()) || isOf(activationOperators()))
    return &S::elementwise;
  return name.starts_with("Reduce") ? &S::reduce : nullptr;
}

void SelectedNode::import() {
  // The rules apply only to operators of ONNX's own domain without subgraphs.
  const bool isOwn = n.proto.domain().empty() || n.proto.domain() == "ai.onnx";
  const bool standard = isOwn && llvm::none_of(n.proto.attribute(), [](const auto &a) {
                          return a.has_g() || a.graphs_size() > 0;
                        });
  Rule rule = standard ? find(op.name, op) : nullptr;
  const bool onlySizes = llvm::none_of(
      n.inputs, [](const GraphValue &item) { return item.kind == GraphValue::Selected; });
  if (onlySizes && standard && sizes())
    return;
  static constexpr Rule ofSizes[] = {&SelectedNode::expand, &SelectedNode::reshape,
                                     &SelectedNode::slice,  &SelectedNode::constantOfShape,
                                     &SelectedNode::range,  &SelectedNode::resize,
                                     &SelectedNode::pad};
  const bool takesSizes = llvm::is_contained(ofSizes, rule);
  // Converts inputs of one kind to ordinary tensors, computed at run time.
  auto makePlain = [&](GraphValue::Kind kind) {
    for (size_t i = 0; b.ok() && i < n.inputs.size(); ++i)
      if (n.inputs[i].kind == kind)
        n.inputs[i] = toOrdinaryTensor(b, n.inputs[i], "input " + Twine(i));
    return b.ok();
  };
  if (!takesSizes && !makePlain(GraphValue::Size))
    return;
  if (rule && (!onlySizes || takesSizes) && ((this->*rule)() || !b.ok()))
    return;
  makePlain(GraphValue::Size);
  makePlain(GraphValue::Selected);
  if (b.ok())
    op.handler(n, b);
}

void importSelected(Node &n, Build &b, const Operator &op) { SelectedNode(n, b, op).import(); }

} // namespace dlc::onnxfront
