//===- Create.cpp - constructs tensors ------------------------------------===//
#include "frontend/aten/Node.h"

#include <cmath>

using namespace mlir;

namespace dlc::aten {
namespace {

/// Returns a tensor filled with one value. The shape is an argument or that of another tensor.
void fillTensor(Node &n, Build &b, StringRef value) {
  Type element = n.resultElement();
  Dims shape = n.isTensor("self") ? b.dims(n.tensor("self")) : n.ints("size");
  Value scalar = n.operand(value, element);
  n.set(b.broadcast(scalar, shape));
}

void full(Node &n, Build &b) { fillTensor(n, b, "fill_value"); }
void fillScalar(Node &n, Build &b) { fillTensor(n, b, "value"); }

template <int number> void constant(Node &n, Build &b) {
  Dims shape = n.isTensor("self") && !n.has("size") ? b.dims(n.tensor("self")) : n.ints("size");
  n.set(b.splat(n.resultElement(), shape, number));
}

void newFull(Node &n, Build &b) {
  n.set(b.broadcast(n.operand("fill_value", n.resultElement()), n.ints("size")));
}

void scalarTensor(Node &n, Build &b) { n.set(n.operand("s", n.resultElement())); }

void arange(Node &n, Build &b) {
  Type element = n.resultElement();
  double start = n.real("start", 0), step = n.real("step", 1), end = n.real("end");
  if (!b.require(step != 0, "argument 'step': required: a number other than 0"))
    return;
  int64_t count = std::max<int64_t>(0, int64_t(std::ceil((end - start) / step)));
  if (!b.require(Build::isSane(count, 0), "required: at most 2^31 elements"))
    return;
  // Indices are f64 for float results, because f32 is exact only up to 2^24 and PyTorch computes in
  // double.
  Type counter = isa<FloatType>(element) ? b.f64 : element;
  Value index = b.iota(counter, {count}, 0);
  if (isa<FloatType>(element)) {
    index = b.add(b.mul(index, step), start);
  } else {
    index =
        b.add(b.mul(index, n.has("step") ? n.operand("step", counter) : b.scalarInt(counter, 1)),
              n.has("start") ? n.operand("start", counter) : b.scalarInt(counter, 0));
  }
  n.set(b.cast(index, element));
}

void linspace(Node &n, Build &b) {
  double start = n.real("start"), end = n.real("end");
  int64_t steps = n.integer("steps");
  if (!b.require(Build::isSane(steps, 0), "argument 'steps': required: 0 or more"))
    return;
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  Value index = b.iota(b.f64, {steps}, 0);
  // linspace computes the second half backward from the end, so that the last element equals the
  // end exactly.
  Value up = b.add(b.mul(index, step), start);
  Value down = b.add(b.mul(b.sub(index, double(steps - 1)), step), end);
  Value first = b.compare(Predicate::lt, index, b.like(index, std::floor(double(steps) / 2)));
  n.set(b.cast(steps > 1 ? b.select(first, up, down) : up, n.resultElement()));
}

void eye(Node &n, Build &b) {
  int64_t rows = n.integer("n"), columns = n.integer("m", rows);
  Value row = b.iota(b.i64, {rows, 1}, 0), column = b.iota(b.i64, {1, columns}, 1);
  n.set(b.cast(b.compare(Predicate::eq, row, column), n.resultElement()));
}

/// tril_indices and triu_indices: row and column indices of the elements on one side of a diagonal,
/// in row-major order.
template <bool lower> void triangleIndices(Node &n, Build &b) {
  int64_t rows = n.integer("row"), columns = n.integer("col"), offset = n.integer("offset", 0);
  Dims places[2];
  if (!b.require(Build::isSane(rows, 0) && Build::isSane(columns, 0) &&
                     rows * columns <= Build::needLimit,
                 "required: 0 or more rows and columns, and at most 2^31 elements"))
    return;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (lower ? column <= row + offset : column >= row + offset) {
        places[0].push_back(row);
        places[1].push_back(column);
      }
  n.set(b.cast(b.stack({b.ints(places[0]), b.ints(places[1])}, 0), n.resultElement()));
}

/// tril and triu: keep the elements on one side of a diagonal and set the others to 0.
template <bool lower> void triangularPart(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t rank = b.rank(x);
  if (!b.require(rank >= 2, "required: two dimensions or more"))
    return;
  Value row = b.iota(b.i64, {b.dim(x, rank - 2), 1}, 0),
        column = b.iota(b.i64, {1, b.dim(x, -1)}, 1);
  Value edge = b.add(row, b.scalarInt(b.i64, n.integer("diagonal", 0)));
  Value kept = b.compare(lower ? Predicate::le : Predicate::ge, column, edge);
  Value zero = b.isBool(x) ? b.scalarInt(b.i1, 0) : b.like(x, 0);
  n.set(b.select(kept, x, zero));
}

const Operator table[] = {
    {"full.default", full},
    {"full_like.default", full},
    {"fill.Scalar", fillScalar},
    {"fill.Tensor", fillScalar},
    {"new_full.default", newFull},
    {"zeros.default", constant<0>},
    {"zeros_like.default", constant<0>},
    {"new_zeros.default", constant<0>},
    {"ones.default", constant<1>},
    {"ones_like.default", constant<1>},
    {"new_ones.default", constant<1>},
    // The elements of an empty() tensor are undefined. They are imported as zeros.
    {"empty.memory_format", constant<0>},
    {"empty_like.default", constant<0>},
    {"new_empty.default", constant<0>},
    {"empty_permuted.default", constant<0>},
    {"new_empty_strided.default", constant<0>},
    {"scalar_tensor.default", scalarTensor},
    {"arange.default", arange},
    {"arange.start", arange},
    {"arange.start_step", arange},
    {"linspace.default", linspace},
    {"eye.default", eye},
    {"eye.m", eye},
    {"tril_indices.default", triangleIndices<true>},
    {"triu_indices.default", triangleIndices<false>},
    {"tril.default", triangularPart<true>},
    {"triu.default", triangularPart<false>},
};

} // namespace

ArrayRef<Operator> createOperators() { return table; }

} // namespace dlc::aten
