//===- Collective.cpp - reference evaluation of the collectives -----------===//
#include "ir/dlc/Collective.h"
#include "ir/reference/Rows.h"
#include "ir/reference/World.h"

#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

namespace {

LogicalResult checkWorldSize(Operation *op, std::optional<int64_t> size) {
  if (!size || *size == World::currentSize())
    return success();
  return op->emitOpError("requires a world of ")
         << *size << " ranks; found: " << World::currentSize();
}

/// Returns the operand tensors of all ranks. Returns nullopt and reports an error if their types
/// differ or if a rank has failed.
std::optional<std::vector<Tensor>> meet(Operation *op, std::optional<int64_t> size,
                                        const Tensor &mine) {
  if (failed(checkWorldSize(op, size)))
    return std::nullopt;
  auto all = World::meet(mine);
  if (!all) {
    op->emitOpError("waits for a rank that has failed");
    return std::nullopt;
  }
  for (const Tensor &other : *all)
    if (other.getType() != mine.getType()) {
      op->emitOpError("needs the same type on all ranks, found ")
          << mine.getType() << " and " << other.getType();
      return std::nullopt;
    }
  return all;
}

template <typename T> T greater(T a, T b) { return a > b || a != a ? a : b; }

/// Reduces element `from` over the tensors of all ranks, and stores the result in element `to` of
/// y.
void reduceElement(ReduceKind kind, ArrayRef<Tensor> all, int64_t from, Tensor &y, int64_t to) {
  if (!y.isFloat()) {
    int64_t value = all[0].getInt(from);
    for (const Tensor &other : all.drop_front())
      value = kind == ReduceKind::max ? greater(value, other.getInt(from))
                                      : int64_t(uint64_t(value) + uint64_t(other.getInt(from)));
    y.setInt(to, value);
    return;
  }
  double value = all[0].getDouble(from);
  for (const Tensor &other : all.drop_front())
    value = kind == ReduceKind::max ? greater(value, other.getDouble(from))
                                    : value + other.getDouble(from);
  y.setDouble(to, kind == ReduceKind::mean ? value / double(all.size()) : value);
}

Tensor makeRowsResult(const Tensor &x, int64_t rows) {
  SmallVector<int64_t> shape(x.getShape());
  shape[0] = rows;
  return Tensor::empty(RankedTensorType::get(shape, x.getElementType(), x.getType().getEncoding()));
}

} // namespace

LogicalResult AllReduceOp::evaluate(Inputs inputs, Outputs outputs) {
  auto all = meet(*this, getSize(), inputs[0]);
  if (!all)
    return failure();
  Tensor y = Tensor::empty(inputs[0].getType());
  if (!getTo() || int64_t(*getTo()) == World::currentRank())
    for (int64_t i = 0; i < y.size(); ++i)
      reduceElement(getKind(), *all, i, y, i);
  outputs.push_back(y);
  return success();
}

LogicalResult AllGatherOp::evaluate(Inputs inputs, Outputs outputs) {
  auto all = meet(*this, getSize(), inputs[0]);
  if (!all)
    return failure();
  Tensor y = makeRowsResult(inputs[0], inputs[0].getShape()[0] * int64_t(all->size()));
  char *to = y.mutableData();
  for (const Tensor &part : *all)
    to = std::copy_n(part.data(), part.bytes(), to);
  outputs.push_back(y);
  return success();
}

LogicalResult ReduceScatterOp::evaluate(Inputs inputs, Outputs outputs) {
  auto all = meet(*this, getSize(), inputs[0]);
  if (!all)
    return failure();
  Tensor y = makeRowsResult(inputs[0], inputs[0].getShape()[0] / int64_t(all->size()));
  for (int64_t i = 0; i < y.size(); ++i)
    reduceElement(getKind(), *all, World::currentRank() * y.size() + i, y, i);
  outputs.push_back(y);
  return success();
}

LogicalResult OwnRowsOp::evaluate(Inputs inputs, Outputs outputs) {
  if (failed(checkWorldSize(*this, getSize())))
    return failure();
  Tensor y = Tensor::empty(cast<RankedTensorType>(getY().getType()));
  int64_t bytes = 0, at = 0;
  for (const Tensor &x : inputs)
    bytes += x.bytes();
  const int64_t begin = World::currentRank() * y.bytes(), end = begin + y.bytes();
  if (end > bytes)
    return emitOpError("has no row for rank ") << World::currentRank();
  char *to = y.mutableData();
  for (const Tensor &x : inputs) {
    int64_t first = std::max(at, begin), last = std::min(at + x.bytes(), end);
    if (first < last)
      to = std::copy(x.data() + (first - at), x.data() + (last - at), to);
    at += x.bytes();
  }
  outputs.push_back(y);
  return success();
}

LogicalResult BroadcastRanksOp::evaluate(Inputs inputs, Outputs outputs) {
  auto all = meet(*this, getSize(), inputs[0]);
  if (!all)
    return failure();
  if (getRoot() >= all->size())
    return emitOpError("takes rank ") << getRoot() << ", of " << all->size() << " ranks";
  outputs.push_back((*all)[getRoot()]);
  return success();
}

} // namespace dlc
