//===- Parts.cpp - conversions between whole tensors and per-rank parts ---===//
#include "passes/share/Parts.h"

#include "ir/dlc/Collective.h"
#include "ir/dlc/Shape.h"

using namespace mlir;

namespace dlc::share {

namespace {

/// Shape of a rank's part of a tensor as [count, elements], with one run of `elements` contiguous
/// elements for each block and outer index.
struct ContiguousRuns {
  ContiguousRuns(ArrayRef<int64_t> part, const Share &share) {
    count = share.blocks;
    for (int64_t size : part.take_front(size_t(share.dimension)))
      count *= size;
    elements = part[size_t(share.dimension)] / share.blocks;
    for (int64_t size : part.drop_front(size_t(share.dimension) + 1))
      elements *= size;
  }
  int64_t count, elements;
};

StringAttr world(OpBuilder &builder) { return builder.getStringAttr("world"); }

} // namespace

/// Transposes the first two dimensions of a tensor of rank 3.
Value PartBuilder::transpose(Value x) {
  if (shapeOf(x)[0] == 1 || shapeOf(x)[1] == 1)
    return b.reshape(x, {shapeOf(x)[1], shapeOf(x)[0], shapeOf(x)[2]});
  return b.make<TransposeOp>(x, ArrayRef<int64_t>{1, 0, 2});
}

Value PartBuilder::shareOfRank(Value rows) {
  return b.make<OwnRowsOp>(ValueRange{rows}, world(builder), builder.getI64IntegerAttr(ranks));
}

Value PartBuilder::part(Value whole, const Share &share) {
  RankedTensorType type = partType(typeOf(whole), share, ranks);
  ContiguousRuns runs(staticShape(type), share);
  Value byRank = transpose(b.reshape(whole, {runs.count, ranks, runs.elements}));
  return b.reshape(shareOfRank(byRank), staticShape(type));
}

Value PartBuilder::gather(Value part, const Share &share) {
  SmallVector<int64_t> whole(shapeOf(part));
  ContiguousRuns runs(whole, share);
  whole[size_t(share.dimension)] *= ranks;
  Value all = b.make<AllGatherOp>(b.reshape(part, {1, runs.count, runs.elements}), world(builder),
                                  builder.getI64IntegerAttr(ranks));
  return b.reshape(transpose(all), whole);
}

Value PartBuilder::reduce(ReduceKind kind, Value terms) {
  return b.make<AllReduceOp>(ReduceKindAttr::get(builder.getContext(), kind), terms, world(builder),
                             builder.getI64IntegerAttr(ranks), IntegerAttr());
}

Value PartBuilder::divide(Value x) { return b.make<MulOp>(x, b.scalar(1.0 / double(ranks), x)); }

Value PartBuilder::number(int64_t value, Value like) { return b.scalar(double(value), like); }

PartBuilder::Places PartBuilder::placesOf(Value indices, int64_t rows) {
  RankedTensorType type = typeOf(indices);
  auto all = makeTensorType({ranks}, type.getElementType(), deviceOf(type));
  SmallVector<Attribute> firsts;
  for (int64_t rank = 0; rank < ranks; ++rank)
    firsts.push_back(builder.getIntegerAttr(type.getElementType(), rank * rows));
  Value table = b.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(all, firsts)));
  Value first = b.reshape(shareOfRank(table), {});
  // As in gather, negative indices count from the end, and an index out of range reads the nearest
  // row.
  Value zero = number(0, indices), size = number(rows * ranks, indices);
  Value counted = b.make<SelectOp>(b.make<CompareOp>(Predicate::lt, indices, zero),
                                   b.make<AddOp>(indices, size), indices);
  Value known = b.make<MaxOp>(zero, b.make<MinOp>(counted, number(rows * ranks - 1, indices)));
  Value local = b.make<SubOp>(known, first);
  Value inside = b.make<AndOp>(b.make<CompareOp>(Predicate::ge, local, zero),
                               b.make<CompareOp>(Predicate::lt, local, number(rows, indices)));
  return {inside, b.make<SelectOp>(inside, local, zero)};
}

Value PartBuilder::keep(Value condition, Value x, int64_t axis) {
  SmallVector<int64_t> shape(size_t(typeOf(x).getRank()), 1);
  llvm::copy(shapeOf(condition), shape.begin() + axis);
  return b.make<SelectOp>(b.reshape(condition, shape), x, b.scalar(0, x));
}

Value PartBuilder::lookUp(Value x, Value indices, int64_t axis) {
  Places places = placesOf(indices, shapeOf(x)[size_t(axis)]);
  return keep(places.inside, b.make<GatherOp>(x, places.at, axis), axis);
}

Value PartBuilder::addRows(Value x, Value tuples, Value updates) {
  Places places = placesOf(tuples, shapeOf(x)[0]);
  Value inside = b.reshape(places.inside, shapeOf(tuples).drop_back());
  return b.make<ScatterNdOp>(x, places.at, keep(inside, updates, 0), ScatterReduction::add);
}

} // namespace dlc::share
