//===- Sample.cpp - samples images at fractional coordinates --------------===//
#include "frontend/onnx/Sample.h"

using namespace mlir;

namespace dlc::onnxfront {

Value isInside(Build &b, Value place, int64_t extent) {
  return b.both(b.compare(Predicate::ge, place, b.like(place, 0)),
                b.compare(Predicate::lt, place, b.like(place, double(extent))));
}

Value samplePoints(Build &b, Value x, ArrayRef<Value> places) {
  Value index;
  int64_t total = 1;
  for (int64_t i = 0; i < int64_t(places.size()); ++i) {
    int64_t extent = b.dim(x, 2 + i);
    if (!b.require(extent > 0, "an image without elements cannot be sampled"))
      return {};
    Value place = b.clamp(places[i], 0, double(extent - 1));
    index = index ? b.add(b.mul(index, double(extent)), place) : place;
    total *= extent;
  }
  if (!b.ok() || !index)
    return {};
  int64_t B = b.dim(x, 0), C = b.dim(x, 1), P = b.dim(index, 1);
  Value spread = b.broadcast(b.expandDims(index, 1), {B, C, P});
  return b.op<GatherElementsOp>({b.reshape(x, {B, C, total}), spread},
                                {b.attr("axis", int64_t(2))});
}

Value sampleLinear(Build &b, Value x, ArrayRef<Value> places) {
  size_t spatial = places.size();
  std::vector<Value> floors, fractions;
  for (Value place : places) {
    Value low = b.unary<FloorOp>(place);
    fractions.push_back(b.sub(place, low));
    floors.push_back(b.cast(low, b.i64));
  }
  Value sum;
  for (size_t corner = 0; corner < (size_t(1) << spatial) && b.ok(); ++corner) {
    std::vector<Value> at;
    Value weight;
    for (size_t i = 0; i < spatial; ++i) {
      bool upper = corner >> i & 1;
      Value place = upper ? b.add(floors[i], 1.0) : floors[i];
      Value part = upper ? fractions[i] : b.sub(b.like(fractions[i], 1), fractions[i]);
      part = b.select(isInside(b, place, b.dim(x, 2 + int64_t(i))), part, b.like(part, 0));
      weight = weight ? b.mul(weight, part) : part;
      at.push_back(place);
    }
    Value term = b.mul(samplePoints(b, x, at), b.cast(b.expandDims(weight, 1), b.elem(x)));
    sum = sum ? b.add(sum, term) : term;
  }
  return sum;
}

} // namespace dlc::onnxfront
