//===- Gather.cpp - gathers -------------------------------------------------------------===//
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/shape/Indices.h"
#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Label of a dimension of the gathered tensor: a dimension of the operand, or a batch dimension of
/// the indices.
struct DimLabel {
  bool isBatch;
  int64_t dim;
  bool operator==(const DimLabel &other) const {
    return isBatch == other.isBatch && dim == other.dim;
  }
};
using DimLabels = std::vector<DimLabel>;

DimLabels makeLabels(bool isBatch, ArrayRef<int64_t> dims) {
  DimLabels result;
  for (int64_t d : dims)
    result.push_back({isBatch, d});
  return result;
}

void append(DimLabels &to, const DimLabels &from) { to.insert(to.end(), from.begin(), from.end()); }

/// A stablehlo.gather with its dimension numbers, during its import.
struct Gather {
  Gather(Node &n, Build &b)
      : n(n), b(b), numbers(n.attr<GatherDimensionsAttr>("dimension_numbers")),
        sizes(n.ints("slice_sizes")), x(n.in(0)), vectors(b, n.in(1), numbers.getIndexVectorDim()) {
  }

  bool check();
  void sliceOthers();
  void clamp();
  Value along(DimLabels &found);
  Value elements(DimLabels &found);
  Value general(DimLabels &found);
  Value arranged(Value y, const DimLabels &found);

  Node &n;
  Build &b;
  GatherDimensionsAttr numbers;
  Dims sizes;
  Value x;
  IndexVectors vectors;

private:
  bool isIndexed(int64_t d) const { return llvm::is_contained(numbers.getStartIndexMap(), d); }
  bool isBatching(int64_t d) const {
    return llvm::is_contained(numbers.getOperandBatchingDims(), d);
  }
};

bool Gather::check() {
  const int64_t rank = b.rank(x);
  if (!b.ok() || !b.require(int64_t(sizes.size()) == rank,
                            "slice_sizes: required: a size for each dimension of the operand"))
    return false;
  for (ArrayRef<int64_t> list : {numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims(),
                                 numbers.getStartIndexMap()})
    for (int64_t d : list)
      if (!b.require(d >= 0 && d < rank, "dimension_numbers: required: dimensions of the operand; "
                                         "found: " +
                                             Twine(d)))
        return false;
  for (int64_t d = 0; d < rank; ++d)
    if (!b.require(sizes[d] >= 0 && sizes[d] <= b.dim(x, d),
                   "slice_sizes: required: at most the operand's size; found: " + Twine(sizes[d])))
      return false;
  return b.require(b.dim(vectors.all, -1) == int64_t(numbers.getStartIndexMap().size()),
                   "start_index_map: required: a dimension for each component of the indices");
}

/// Slices the operand along the dimensions that have no index. Their slices start at 0.
void Gather::sliceOthers() {
  for (int64_t d = 0; d < b.rank(x); ++d)
    if (!isIndexed(d) && !isBatching(d))
      x = b.sliceAxis(x, d, 0, sizes[d]);
}

/// Clamps the start indices, so that each slice is inside the operand.
void Gather::clamp() {
  Dims highest;
  for (int64_t d : numbers.getStartIndexMap())
    highest.push_back(b.dim(x, d) - sizes[d]);
  Value high = b.ints(highest, {int64_t(highest.size())}, b.elem(vectors.all));
  vectors.all = clampIndices(b, vectors.all, high);
}

/// Imports a gather of single elements along one dimension and whole slices of the others as
/// dlc.gather. Returns null for other gathers.
Value Gather::along(DimLabels &found) {
  if (numbers.getStartIndexMap().size() != 1 || !numbers.getOperandBatchingDims().empty())
    return {};
  const int64_t axis = numbers.getStartIndexMap()[0];
  if (sizes[axis] != 1)
    return {};
  for (int64_t d = 0; d < b.rank(x); ++d)
    if (d == axis)
      append(found, makeLabels(true, llvm::to_vector(llvm::seq<int64_t>(0, vectors.batch.size()))));
    else
      found.push_back({false, d});
  return b.gather(x, vectors.component(b, 0), axis);
}

/// Imports a gather of single elements along one dimension, with an index for each position in the
/// other dimensions (as in take_along_axis), as dlc.gather_elements. Returns null for other
/// gathers.
Value Gather::elements(DimLabels &found) {
  const int64_t rank = b.rank(x);
  if (numbers.getStartIndexMap().size() != 1 || int64_t(vectors.batch.size()) != rank ||
      int64_t(numbers.getOperandBatchingDims().size()) != rank - 1)
    return {};
  const int64_t axis = numbers.getStartIndexMap()[0];
  for (auto [d, s] :
       llvm::zip(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
    if (vectors.batchDim(s) != d)
      return {};
  found = makeLabels(true, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  return b.op<GatherElementsOp>({x, vectors.component(b, 0)}, {b.attr("axis", axis)});
}

/// Imports any gather as dlc.gather_nd, with an index tuple for each element of a slice along the
/// indexed dimensions.
Value Gather::general(DimLabels &found) {
  std::vector<IndexedDim> dims;
  Values starts;
  Dims indexed;
  found = makeLabels(true, llvm::to_vector(llvm::seq<int64_t>(0, vectors.batch.size())));
  for (int64_t d = 0; d < b.rank(x); ++d) {
    auto component = llvm::find(numbers.getStartIndexMap(), d) - numbers.getStartIndexMap().begin();
    auto batch =
        llvm::find(numbers.getOperandBatchingDims(), d) - numbers.getOperandBatchingDims().begin();
    if (isIndexed(d)) {
      dims.push_back({d, sizes[d], component, -1});
      starts.push_back(vectors.component(b, component));
    } else if (isBatching(d)) {
      int64_t dim = vectors.batchDim(numbers.getStartIndicesBatchingDims()[batch]);
      dims.push_back({d, 1, -1, dim});
      starts.push_back({});
    } else {
      continue;
    }
    indexed.push_back(d);
    if (dims.back().size > 1)
      found.push_back({false, d});
  }
  Dims rest = otherDims(b.rank(x), {indexed}), order = indexed;
  order.insert(order.end(), rest.begin(), rest.end());
  append(found, makeLabels(false, rest));
  return b.gatherNd(b.transpose(x, order), indexTuples(b, vectors.batch, dims, starts));
}

/// Transposes the gathered tensor to the dimension order of the result. Adds the dimensions of
/// slices of one element, which are not present yet.
Value Gather::arranged(Value y, const DimLabels &found) {
  DimLabels wanted;
  Dims kept =
      otherDims(b.rank(x), {numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims()});
  size_t batch = 0, offset = 0;
  for (int64_t i = 0; i < n.resultType().getRank(); ++i) {
    bool isOffset = llvm::is_contained(numbers.getOffsetDims(), i);
    if (!b.require(isOffset ? offset < kept.size() : batch < vectors.batch.size(),
                   "offset_dims: required: the dimensions of slices that are not collapsed"))
      return {};
    wanted.push_back(isOffset ? DimLabel{false, kept[offset++]} : DimLabel{true, int64_t(batch++)});
  }
  Dims shape;
  DimLabels present;
  for (auto [i, label] : llvm::enumerate(found))
    if (llvm::is_contained(wanted, label)) {
      shape.push_back(b.dim(y, int64_t(i)));
      present.push_back(label);
    }
  for (const DimLabel &label : wanted)
    if (!llvm::is_contained(present, label)) {
      shape.push_back(1);
      present.push_back(label);
    }
  Dims order;
  for (const DimLabel &label : wanted)
    order.push_back(llvm::find(present, label) - present.begin());
  return b.transpose(b.reshape(y, shape), order);
}

void gather(Node &n, Build &b) {
  Gather g(n, b);
  if (!g.check())
    return;
  g.sliceOthers();
  g.clamp();
  DimLabels found;
  Value y = g.along(found);
  if (!y && b.ok())
    y = g.elements(found);
  if (!y && b.ok())
    y = g.general(found);
  if (b.ok())
    n.set(g.arranged(y, found));
}

/// stablehlo.torch_index_select, a deprecated form of a gather along one dimension.
void torchIndexSelect(Node &n, Build &b) {
  if (b.require(n.integer("batch_dims") == 0, "batch_dims: required: 0; use stablehlo.gather"))
    n.set(b.gather(n.in(0), castToIndexType(b, n.in(1)), n.integer("dim")));
}

const OperatorEntry table[] = {
    {"stablehlo.gather", gather},
    {"stablehlo.torch_index_select", torchIndexSelect},
};

} // namespace

ArrayRef<OperatorEntry> gatherEntries() { return table; }

} // namespace dlc::stablehlo
