//===- Scatter.cpp - scatters --------------------------------------------------------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/shape/Indices.h"
#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Returns whether a scatter region returns its second argument, so that an update replaces the
/// element.
bool isReplacement(Region &region) {
  Block &block = region.front();
  return block.getNumArguments() == 2 && llvm::hasNItems(block, 1) &&
         block.front().getNumOperands() == 1 && block.front().getOperand(0) == block.getArgument(1);
}

std::optional<ScatterReduction> matchScatterReduction(Region &region) {
  if (isReplacement(region))
    return ScatterReduction::none;
  auto kind = matchCombineKind(region);
  if (!kind)
    return std::nullopt;
  switch (*kind) {
  case CombineKind::Add:
    return ScatterReduction::add;
  case CombineKind::Mul:
    return ScatterReduction::mul;
  case CombineKind::Max:
    return ScatterReduction::max;
  case CombineKind::Min:
    return ScatterReduction::min;
  default:
    return std::nullopt;
  }
}

struct Scatter {
  Scatter(Node &n, Build &b)
      : n(n), b(b), numbers(n.attr<ScatterDimensionsAttr>("scatter_dimension_numbers")), x(n.in(0)),
        updates(n.in(2)), vectors(b, n.in(1), numbers.getIndexVectorDim()) {}

  bool check();
  void findWindows();
  void arrangeUpdates();
  Value boundsMask();
  Value build(ScatterReduction reduction);

  Node &n;
  Build &b;
  ScatterDimensionsAttr numbers;
  Value x, updates;
  IndexVectors vectors;
  /// Size of the update window in each dimension of the operand.
  Dims windows;
  /// `dims` and `indexed`: dimensions of the operand that scatter_nd indexes. `rest`: the other
  /// dimensions, which each update covers as a whole.
  std::vector<IndexedDim> dims;
  Dims indexed, rest;
};

bool Scatter::check() {
  const int64_t rank = b.rank(x);
  for (ArrayRef<int64_t> list : {numbers.getInsertedWindowDims(), numbers.getInputBatchingDims(),
                                 numbers.getScatterDimsToOperandDims()})
    for (int64_t d : list)
      if (!b.require(d >= 0 && d < rank, "scatter_dimension_numbers: required: dimensions of the "
                                         "operand; found: " +
                                             Twine(d)))
        return false;
  Dims covered = otherDims(rank, {numbers.getInsertedWindowDims(), numbers.getInputBatchingDims()});
  return b.ok() &&
         b.require(covered.size() == numbers.getUpdateWindowDims().size(),
                   "update_window_dims: required: one for each dimension of the operand that is "
                   "not inserted; found: " +
                       Twine(numbers.getUpdateWindowDims().size())) &&
         b.require(b.dim(vectors.all, -1) == int64_t(numbers.getScatterDimsToOperandDims().size()),
                   "scatter_dims_to_operand_dims: required: a dimension for each component of the "
                   "indices");
}

/// Computes `windows`, `dims`, `indexed` and `rest` from the dimension numbers.
void Scatter::findWindows() {
  const int64_t rank = b.rank(x);
  windows.assign(size_t(rank), 1);
  Dims covered = otherDims(rank, {numbers.getInsertedWindowDims(), numbers.getInputBatchingDims()});
  for (auto [i, d] : llvm::enumerate(covered))
    windows[d] = b.dim(updates, numbers.getUpdateWindowDims()[i]);
  for (int64_t d = 0; d < rank; ++d) {
    auto map = numbers.getScatterDimsToOperandDims();
    auto batching = numbers.getInputBatchingDims();
    auto component = llvm::find(map, d), batch = llvm::find(batching, d);
    if (component != map.end())
      dims.push_back({d, windows[d], component - map.begin(), -1});
    else if (batch != batching.end())
      dims.push_back(
          {d, 1, -1,
           vectors.batchDim(numbers.getScatterIndicesBatchingDims()[batch - batching.begin()])});
    else if (windows[d] != b.dim(x, d))
      dims.push_back({d, windows[d], -1, -1});
    else
      continue;
    indexed.push_back(d);
  }
  rest = otherDims(rank, {indexed});
}

/// Transposes and reshapes the updates to [batch.., window sizes above 1 of indexed dimensions..,
/// rest..].
void Scatter::arrangeUpdates() {
  Dims covered =
      otherDims(b.rank(x), {numbers.getInsertedWindowDims(), numbers.getInputBatchingDims()});
  auto windowDim = [&](int64_t d) {
    return numbers.getUpdateWindowDims()[llvm::find(covered, d) - covered.begin()];
  };
  Dims order = otherDims(b.rank(updates), {numbers.getUpdateWindowDims()}), shape = vectors.batch;
  for (const IndexedDim &d : dims) {
    if (llvm::is_contained(covered, d.dim))
      order.push_back(windowDim(d.dim));
    if (d.size > 1)
      shape.push_back(d.size);
  }
  for (int64_t d : rest) {
    order.push_back(windowDim(d));
    shape.push_back(b.dim(x, d));
  }
  updates = b.reshape(b.transpose(updates, order), shape);
}

/// Returns a bool mask of shape `batch` that is true if the whole window of an update is inside the
/// operand. Returns null if all windows are known to be inside.
Value Scatter::boundsMask() {
  Value mask;
  for (const IndexedDim &d : dims) {
    if (d.component < 0)
      continue;
    Value start = vectors.component(b, d.component);
    Value highest = b.scalarInt(b.elem(start), b.dim(x, d.dim) - d.size);
    Value inside = b.both(b.compare(Predicate::ge, start, b.scalarInt(b.elem(start), 0)),
                          b.compare(Predicate::le, start, highest));
    mask = mask ? b.both(mask, inside) : inside;
  }
  auto known = mask ? b.known(mask) : std::nullopt;
  for (int64_t i = 0; known && i < known->size(); ++i)
    if (known->getInt(i) == 0)
      return mask;
  return known ? Value() : mask;
}

/// Returns the identity element of a scatter's reduction as a scalar.
Value buildReductionIdentity(Build &b, ScatterReduction reduction, Type element) {
  CombineKind kind = reduction == ScatterReduction::mul   ? CombineKind::Mul
                     : reduction == ScatterReduction::max ? CombineKind::Max
                     : reduction == ScatterReduction::min ? CombineKind::Min
                                                          : CombineKind::Add;
  return buildIdentity(b, kind, element);
}

/// Builds scatter_nd on the operand, with the indexed dimensions transposed to the front. Updates
/// outside of the operand are skipped: if there is a reduction, their values become its identity
/// element; otherwise they are written to an additional slice that is removed afterwards.
Value Scatter::build(ScatterReduction reduction) {
  Dims order = indexed, inverse(order.size() + rest.size());
  order.insert(order.end(), rest.begin(), rest.end());
  for (auto [i, d] : llvm::enumerate(order))
    inverse[d] = int64_t(i);
  Value y = b.transpose(x, order), mask = boundsMask();
  const int64_t first = b.dim(y, 0), rank = b.rank(y);
  Values starts;
  for (const IndexedDim &d : dims) {
    Value start = d.component < 0 ? Value() : vectors.component(b, d.component);
    if (start && mask)
      start = clampIndices(b, start, b.scalarInt(b.elem(start), b.dim(x, d.dim) - d.size));
    starts.push_back(start);
  }
  const bool isExtended = mask && reduction == ScatterReduction::none;
  Value tuples = indexTuples(b, vectors.batch, dims, starts);
  if (mask) {
    // Reshapes the mask of valid index vectors to rank `size`: dimensions of size 1 are appended,
    // so that it broadcasts over the window dimensions of the updates.
    auto padded = [&](int64_t size) {
      Dims shape = vectors.batch;
      shape.resize(size_t(size), 1);
      return b.reshape(mask, shape);
    };
    if (!isExtended) {
      updates = b.select(padded(b.rank(updates)), updates,
                         buildReductionIdentity(b, reduction, b.elem(x)));
    } else {
      Dims low(size_t(rank), 0), high = low, tuple(indexed.size(), 0);
      high[0] = 1;
      y = b.padZero(y, low, high);
      tuple[0] = first;
      Value outside = b.ints(tuple, {int64_t(tuple.size())}, b.elem(tuples));
      tuples = b.select(padded(b.rank(tuples)), tuples, outside);
    }
  }
  y = b.op<ScatterNdOp>({y, tuples, updates},
                        {b.attr("reduction", ScatterReductionAttr::get(b.context, reduction))});
  return b.transpose(isExtended ? b.sliceAxis(y, 0, 0, first) : y, inverse);
}

void scatter(Node &n, Build &b) {
  auto reduction = matchScatterReduction(n.op->getRegion(0));
  if (!b.require(n.ins.size() == 3, "required: one operand and one tensor of updates") ||
      !b.require(bool(reduction),
                 "required: a region that returns the update, or its sum, product, "
                 "maximum or minimum with the element; found: another region"))
    return;
  Scatter s(n, b);
  if (!s.check())
    return;
  Type element = b.elem(s.x);
  if (b.isBool(s.x)) {
    // On bools, add and max are a logical `or`, and mul and min a logical `and`.
    if (*reduction == ScatterReduction::add)
      reduction = ScatterReduction::max;
    if (*reduction == ScatterReduction::mul)
      reduction = ScatterReduction::min;
    s.x = b.cast(s.x, b.i32);
    s.updates = b.cast(s.updates, b.i32);
  }
  s.findWindows();
  s.arrangeUpdates();
  if (!b.ok())
    return;
  if (s.dims.empty())
    return n.set(*reduction == ScatterReduction::none ? b.cast(s.updates, element) : Value());
  n.set(b.cast(s.build(*reduction), element));
}

const OperatorEntry table[] = {
    {"stablehlo.scatter", scatter},
};

} // namespace

ArrayRef<OperatorEntry> scatterEntries() { return table; }

} // namespace dlc::stablehlo
