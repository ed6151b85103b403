//===- Sort.cpp - sorts and top_k ------------------------------------------------------===//
#include "frontend/mlir/stablehlo/Combine.h"
#include "frontend/mlir/stablehlo/Importer.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Returns sample values that cover every ordering that a comparator can distinguish.
std::vector<double> makeSampleValues(Type element) {
  if (element.isInteger(1))
    return {0, 1};
  if (!isa<FloatType>(element))
    return element.isUnsignedInteger() ? std::vector<double>{0, 1, 2, 200}
                                       : std::vector<double>{-100, -1, 0, 1, 2, 100};
  const double infinity = std::numeric_limits<double>::infinity();
  return {-infinity, -1, -0.0, 0.0, 1, infinity, std::numeric_limits<double>::quiet_NaN()};
}

/// Returns a vector of `count` samples, where at(i) is the value of sample i.
template <typename F> ref::Tensor makeSampleTensor(Type element, int64_t count, F at) {
  auto tensor = ref::Tensor::empty(RankedTensorType::get({count}, element));
  for (int64_t i = 0; i < count; ++i)
    tensor.setDouble(i, at(i));
  return tensor;
}

/// Returns whether the comparator sorts operand `key` in the order of dlc.topk (NaN is larger than
/// every number) and ignores the other operands. `others` is the value of the other operands' first
/// arguments in the samples.
bool sortsByKey(Node &n, Build &b, size_t key, bool isDescending, double others) {
  std::vector<double> values = makeSampleValues(b.elem(n.in(key)));
  const int64_t size = int64_t(values.size()), count = size * size;
  std::vector<ref::Tensor> arguments;
  for (size_t i = 0; i < 2 * n.ins.size(); ++i) {
    auto value = [&](int64_t s) {
      if (i / 2 != key)
        return i % 2 ? 1 - others : others;
      return values[i % 2 ? s % size : s / size];
    };
    arguments.push_back(makeSampleTensor(b.elem(n.in(i / 2)), count, value));
  }
  auto results = n.importer.evaluate(n.op->getRegion(0), arguments);
  if (!results || results->size() != 1)
    return false;
  // Order of dlc.topk, in which NaN is larger than every number. A comparator that is always false
  // for NaN does not determine the position of NaN, which is accepted.
  auto larger = [](double x, double y) { return std::isnan(x) ? !std::isnan(y) : x > y; };
  bool agrees = true, isOpen = true;
  for (int64_t s = 0; s < count; ++s) {
    const double x = values[s / size], y = values[s % size];
    const bool isBefore = (*results)[0].getInt(s) != 0, isNumber = !std::isnan(x) && !std::isnan(y);
    const bool expected = isDescending ? larger(x, y) : larger(y, x);
    if (isNumber && isBefore != expected)
      return false;
    agrees &= isBefore == expected;
    isOpen &= isNumber || !isBefore;
  }
  return agrees || isOpen;
}

struct SortOrder {
  size_t key;
  bool isDescending;
};

std::optional<SortOrder> matchSortOrder(Node &n, Build &b) {
  if (!hasOnlyComparisons(n.op->getRegion(0)))
    return std::nullopt;
  for (size_t key = 0; key < n.ins.size(); ++key)
    for (bool isDescending : {false, true})
      if (sortsByKey(n, b, key, isDescending, 0) && sortsByKey(n, b, key, isDescending, 1))
        return SortOrder{key, isDescending};
  return std::nullopt;
}

/// Returns the values and the indices of the k largest or smallest elements along an axis.
std::pair<Value, Value> buildTopK(Build &b, Value x, int64_t k, int64_t axis, bool isLargest) {
  Type element = b.elem(x);
  std::vector<Value> found = b.ops<TopKOp>({b.isBool(x) ? b.cast(x, b.i32) : x},
                                           {b.attr("k", k), b.attr("axis", axis),
                                            b.attr("largest", b.b.getBoolAttr(isLargest)),
                                            b.attr("sorted", b.b.getBoolAttr(true))});
  if (!b.ok())
    return {};
  return {b.cast(found[0], element), found[1]};
}

void sort(Node &n, Build &b) {
  const int64_t rank = b.rank(n.in(0)), last = n.integer("dimension", -1);
  const int64_t axis = rank ? b.axis(last, rank, "dimension") : 0;
  if (!b.ok())
    return;
  if (rank == 0 || b.dim(n.in(0), axis) < 2) {
    for (size_t i = 0; i < n.ins.size(); ++i)
      n.set(i, n.in(i));
    return;
  }
  auto order = matchSortOrder(n, b);
  if (!b.require(bool(order),
                 "required: a comparator that compares one operand by LT or GT; found: "
                 "another comparator; sort by one key at a time"))
    return;
  auto [values, indices] =
      buildTopK(b, n.in(order->key), b.dim(n.in(0), axis), axis, order->isDescending);
  for (size_t i = 0; i < n.ins.size() && b.ok(); ++i)
    n.set(i, i == order->key ? values
                             : b.op<GatherElementsOp>({n.in(i), indices}, {b.attr("axis", axis)}));
}

void topK(Node &n, Build &b) {
  const int64_t rank = b.rank(n.in(0));
  if (!b.require(rank > 0, "required: an operand of rank 1 or more"))
    return;
  auto [values, indices] = buildTopK(b, n.in(0), n.integer("k"), rank - 1, true);
  n.set(0, values);
  n.set(1, b.cast(indices, n.resultElement(1)));
}

const OperatorEntry table[] = {
    {"chlo.top_k", topK},
    {"stablehlo.sort", sort},
};

} // namespace

ArrayRef<OperatorEntry> sortEntries() { return table; }

} // namespace dlc::stablehlo
