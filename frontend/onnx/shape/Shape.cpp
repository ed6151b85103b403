//===- Shape.cpp - constants and reshapes ---------------------------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Transposes x so that dimension `from` moves to index `to`.
static Value moveAxis(Build &b, Value x, int64_t from, int64_t to) {
  Dims order;
  for (int64_t i = 0; i < b.rank(x); ++i)
    if (i != from)
      order.push_back(i);
  order.insert(order.begin() + to, from);
  return b.transpose(x, order);
}

Value moveChannelsLast(Build &b, Value x) {
  return b.require(b.rank(x) >= 2, "required rank 2 or more") ? moveAxis(b, x, 1, b.rank(x) - 1)
                                                              : Value();
}

Value moveChannelsFirst(Build &b, Value x) {
  return b.require(b.rank(x) >= 2, "required rank 2 or more") ? moveAxis(b, x, b.rank(x) - 1, 1)
                                                              : Value();
}

std::pair<int64_t, int64_t> readShapeRange(Node &n, int64_t rank) {
  auto clampTo = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clampTo(n.integer("start", 0)), end = clampTo(n.integer("end", rank));
  return {start, std::max(start, end)};
}

Dims readPermutation(Node &n, int64_t rank) {
  Dims reversed;
  for (int64_t i = rank; i-- > 0;)
    reversed.push_back(i);
  return n.integers("perm", reversed);
}

namespace {

void identity(Node &n, Build &b) { n.set(0, n.inputs[0]); }

/// Reshape: a size of 0 keeps the dimension (unless `allowzero` is set), and -1 is inferred from
/// the number of elements.
void reshape(Node &n, Build &b) {
  Value x = n.in(0);
  Dims target = n.has(1) ? b.needInts(n.in(1), "the shape") : n.integers("shape");
  bool allowZero = n.integer("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  for (size_t i = 0; b.ok() && i < target.size(); ++i) {
    if (target[i] == 0 && !allowZero)
      target[i] = b.dim(x, int64_t(i));
    if (target[i] == -1) {
      if (!b.require(open < 0, "the shape has more than one -1"))
        return;
      open = int64_t(i);
      continue;
    }
    if (!b.require(target[i] >= 0, "the shape has the invalid dimension " + Twine(target[i])) ||
        !b.require(target[i] == 0 || known <= Build::countLimit / target[i],
                   "the shape has too many elements"))
      return;
    known *= target[i];
  }
  if (!b.ok())
    return;
  if (open >= 0) {
    if (!b.require(known != 0 && b.count(x) % known == 0,
                   "the dimension -1 cannot be derived: " + Twine(b.count(x)) +
                       " elements are not divisible by " + Twine(known)))
      return;
    target[open] = b.count(x) / known;
  }
  n.set(0, b.reshape(x, target));
}

/// Reads the axes from input 1 (opset 13 and later) or from the attribute `axes` (earlier opsets).
Dims readAxes(Node &n, Build &b) {
  return n.has(1) ? b.needInts(n.in(1), "the axes") : n.integers("axes");
}

void squeeze(Node &n, Build &b) {
  Value x = n.in(0);
  Dims axes = readAxes(n, b), target;
  int64_t rank = b.rank(x);
  std::vector<bool> drop(rank, axes.empty());
  for (int64_t axis : axes) {
    int64_t a = b.axis(axis, rank);
    if (!b.ok() ||
        !b.require(b.shape(x)[a] == 1, "dimension " + Twine(a) +
                                           " is squeezed, so that it must be 1, and is " +
                                           Twine(b.shape(x)[a])))
      return;
    drop[a] = true;
  }
  for (int64_t i = 0; i < rank; ++i)
    if (!drop[i] || b.shape(x)[i] != 1)
      target.push_back(b.shape(x)[i]);
  n.set(0, b.reshape(x, target));
}

void unsqueeze(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(n.opset < 13 || n.has(1),
                 "the axes are required, and the node does not have that input"))
    return;
  Dims axes = readAxes(n, b), target;
  int64_t rank = b.rank(x) + int64_t(axes.size());
  std::vector<bool> fresh(rank, false);
  for (int64_t axis : axes) {
    int64_t a = b.axis(axis, rank);
    if (!b.ok() || !b.require(!fresh[a], "axis " + Twine(axis) + " is given twice"))
      return;
    fresh[a] = true;
  }
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    target.push_back(fresh[i] ? 1 : b.shape(x)[next++]);
  n.set(0, b.reshape(x, target));
}

void flatten(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x), axis = n.integer("axis", 1), rows = 1, columns = 1;
  if (axis < 0)
    axis += rank;
  if (!b.require(axis >= 0 && axis <= rank, "attribute 'axis' is out of range"))
    return;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? rows : columns) *= b.shape(x)[i];
  n.set(0, b.reshape(x, {rows, columns}));
}

void importShape(Node &n, Build &b) {
  Dims dims = b.dims(n.in(0));
  auto [start, end] = readShapeRange(n, int64_t(dims.size()));
  n.set(0, b.ints(ArrayRef<int64_t>(dims).slice(size_t(start), size_t(end - start))));
}

void size(Node &n, Build &b) { n.set(0, b.scalarInt(b.i64, b.count(n.in(0)))); }

void constant(Node &n, Build &b) {
  if (!b.require(n.proto.attribute_size() <= 1,
                 "the constant has several values; required: one attribute; found: " +
                     Twine(n.proto.attribute_size()) + "; remove the others"))
    return;
  if (n.hasAttr("sparse_value"))
    return n.set(0, n.importer.sparse(n.find("sparse_value")->sparse_tensor(), b));
  if (n.hasAttr("value"))
    return n.set(0, n.tensor("value"));
  if (n.hasAttr("value_float"))
    return n.set(0, b.scalar(b.f32, n.real("value_float", 0)));
  if (n.hasAttr("value_int"))
    return n.set(0, b.scalarInt(b.i64, n.integer("value_int", 0)));
  if (n.hasAttr("value_ints"))
    return n.set(0, b.ints(n.integers("value_ints")));
  if (n.hasAttr("value_floats")) {
    std::vector<double> values = n.reals("value_floats");
    return n.set(0, b.floats(values, {int64_t(values.size())}, b.f32));
  }
  b.error("the constant has no supported value; required: an attribute 'value', 'sparse_value', "
          "'value_int', 'value_ints', 'value_float' or 'value_floats'; strings are not supported");
}

void constantOfShape(Node &n, Build &b) {
  Dims shape = b.needInts(n.in(0), "the shape");
  auto value = n.hasAttr("value") ? b.known(n.tensor("value"))
                                  : ref::Tensor::empty(RankedTensorType::get({1}, b.f32));
  if (!b.ok() || !b.require(value && value->size() == 1, "attribute 'value' must have one element"))
    return;
  n.set(0, b.splat(*value, shape));
}

void range(Node &n, Build &b) {
  Type element = b.elem(n.in(0));
  Value by = n.has(2) ? n.in(2) : b.like(n.in(0), 1);
  auto start = b.need(n.in(0), "the start"), limit = b.need(n.in(1), "the limit"),
       delta = b.need(by, "the delta");
  if (!b.ok() || !b.require(start->size() == 1 && limit->size() == 1 && delta->size() == 1,
                            "start, limit and delta must have one element each"))
    return;
  double step = delta->getDouble(0), from = start->getDouble(0), to = limit->getDouble(0);
  if (!b.require(step != 0 && std::isfinite(step) && std::isfinite(from) && std::isfinite(to),
                 "the range is infinite: delta is 0, or an operand is not finite"))
    return;
  double number = std::max(0.0, std::ceil((to - from) / step));
  if (!b.require(number <= double(1 << 28), "the range has too many elements"))
    return;
  Value index = b.iota(element, {int64_t(number)}, 0);
  n.set(0, b.add(b.mul(index, b.reshape(by, {})), b.reshape(n.in(0), {})));
}

/// Expand: broadcasts x and the shape to each other. The shape may have 1 where x has a larger
/// size.
void expand(Node &n, Build &b) {
  Dims target = b.needInts(n.in(1), "the shape"), shape = b.dims(n.in(0));
  if (!b.ok())
    return;
  while (target.size() < shape.size())
    target.insert(target.begin(), 1);
  size_t offset = target.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (target[offset + i] == 1)
      target[offset + i] = shape[i];
  n.set(0, b.broadcast(n.in(0), target));
}

void transpose(Node &n, Build &b) {
  n.set(0, b.transpose(n.in(0), readPermutation(n, b.rank(n.in(0)))));
}

void eyeLike(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(b.rank(x) == 2, "required a matrix, found rank " + Twine(b.rank(x))))
    return;
  Type element = n.hasAttr("dtype") ? n.dataType("dtype", 0) : b.elem(x);
  int64_t k = std::clamp(n.integer("k", 0), -Build::countLimit, Build::countLimit);
  Value row = b.add(b.iota(b.i64, b.shape(x), 0), b.scalarInt(b.i64, k));
  n.set(0, b.cast(b.compare(Predicate::eq, row, b.iota(b.i64, b.shape(x), 1)), element));
}

/// Trilu: keeps the elements on or above (or below) a diagonal and sets the others to 0.
void trilu(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x), k = n.has(1) ? b.needInt(n.in(1), "the diagonal k") : 0;
  if (!b.require(rank >= 2, "required rank 2 or more, found " + Twine(rank)))
    return;
  Dims matrix{b.dim(x, -2), b.dim(x, -1)};
  k = std::clamp(k, -matrix[0] - matrix[1], matrix[0] + matrix[1]);
  Value row = b.add(b.iota(b.i64, matrix, 0), b.scalarInt(b.i64, k)),
        column = b.iota(b.i64, matrix, 1);
  Value keep = b.compare(n.integer("upper", 1) ? Predicate::ge : Predicate::le, column, row);
  n.set(0, b.select(keep, x, b.like(x, 0)));
}

const Operator table[] = {
    {"Identity", identity},
    {"Reshape", reshape},
    {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze},
    {"Flatten", flatten},
    {"Shape", importShape},
    {"Size", size},
    {"Constant", constant},
    {"ConstantOfShape", constantOfShape},
    {"Range", range},
    {"Range", 2, range, "", microsoft},
    {"Expand", expand},
    {"Transpose", transpose},
    {"EyeLike", eyeLike},
    {"Trilu", trilu},
};

} // namespace

ArrayRef<Operator> shapeOperators() { return table; }

} // namespace dlc::onnxfront
