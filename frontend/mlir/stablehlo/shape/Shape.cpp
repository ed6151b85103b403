//===- Shape.cpp - constants, broadcasts, reshapes, transposes --------------------===//
#include "frontend/mlir/stablehlo/Node.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

void constant(Node &n, Build &b) {
  FailureOr<ref::Tensor> value = ref::Tensor::fromAttr(n.attr<ElementsAttr>("value"));
  if (b.require(succeeded(value), "required: a constant whose elements can be read; found: another "
                                  "one; correct the attribute 'value'"))
    n.set(b.constant(*value, "constant"));
}

void iota(Node &n, Build &b) {
  const int64_t axis = n.integer("iota_dimension");
  if (b.require(axis >= 0 && axis < n.resultType().getRank(),
                "iota_dimension: required: a dimension of the result; found: " + Twine(axis)))
    n.set(b.iota(n.resultElement(), n.resultShape(), axis));
}

/// broadcast_in_dim: operand dimension i becomes dimension `dims[i]` of the result, repeated if its
/// size is 1.
void broadcastInDim(Node &n, Build &b) {
  Dims dims = n.ints("broadcast_dimensions"), target = n.resultShape();
  Value x = n.in(0);
  if (!b.require(int64_t(dims.size()) == b.rank(x),
                 "broadcast_dimensions: required: " + Twine(b.rank(x)) +
                     " dimensions; found: " + Twine(dims.size())))
    return;
  Dims order(dims.size()), shape(target.size(), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    order[i] = int64_t(i);
    if (!b.require(dims[i] >= 0 && dims[i] < int64_t(target.size()),
                   "broadcast_dimensions: required: dimensions of the result; found: " +
                       Twine(dims[i])))
      return;
    shape[dims[i]] = b.dim(x, int64_t(i));
  }
  llvm::sort(order, [&](int64_t i, int64_t j) { return dims[i] < dims[j]; });
  n.set(b.broadcast(b.reshape(b.transpose(x, order), shape), target));
}

/// stablehlo.broadcast, a deprecated form of broadcast_in_dim: the new dimensions precede those of
/// the operand.
void broadcast(Node &n, Build &b) {
  Dims shape(n.ints("broadcast_sizes").size(), 1), own = b.dims(n.in(0));
  shape.insert(shape.end(), own.begin(), own.end());
  n.set(b.broadcast(b.reshape(n.in(0), shape), n.resultShape()));
}

void reshape(Node &n, Build &b) { n.set(b.reshape(n.in(0), n.resultShape())); }
void transpose(Node &n, Build &b) { n.set(b.transpose(n.in(0), n.ints("permutation"))); }
void concatenate(Node &n, Build &b) { n.set(b.concat(n.ins, n.integer("dimension"))); }

void reverse(Node &n, Build &b) {
  Value x = n.in(0);
  for (int64_t axis : n.ints("dimensions"))
    x = b.reverse(x, axis);
  n.set(x);
}

void getDimensionSize(Node &n, Build &b) {
  n.set(b.scalarInt(n.resultElement(), b.dim(n.in(0), n.integer("dimension"))));
}

const OperatorEntry table[] = {
    {"stablehlo.broadcast", broadcast},
    {"stablehlo.broadcast_in_dim", broadcastInDim},
    {"stablehlo.concatenate", concatenate},
    {"stablehlo.constant", constant},
    {"stablehlo.get_dimension_size", getDimensionSize},
    {"stablehlo.iota", iota},
    {"stablehlo.reshape", reshape},
    {"stablehlo.reverse", reverse},
    {"stablehlo.transpose", transpose},
};

} // namespace

ArrayRef<OperatorEntry> shapeEntries() { return table; }

} // namespace dlc::stablehlo
