//===- Shares.cpp - gradients, optimizer state and updates sharded over ranks --===//
#include "frontend/trace/train/Shares.h"

#include "dlc/collective.hpp"
#include "frontend/trace/State.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace dlc::optim {

using namespace trace;

namespace {

/// Maximum size in bytes of the first bucket and of each later bucket. The first bucket is small so
/// that communication starts early. The size of the later buckets uses the network efficiently.
constexpr int64_t kFirstBytes = int64_t(1) << 20, kBytes = int64_t(25) << 20;

/// Returns, for each parameter, the index of the operation that uses it first. The backward pass
/// runs in reverse order, so a parameter that is used earlier has its complete gradient later.
std::vector<int64_t> findFirstUses(const std::vector<Parameter> &parameters) {
  State &state = *State::current();
  mlir::Block &block = state.function.front();
  llvm::DenseMap<Operation *, int64_t> places;
  for (Operation &op : block)
    places[&op] = int64_t(places.size());
  std::vector<int64_t> uses;
  for (const Parameter &parameter : parameters) {
    int64_t first = int64_t(places.size());
    for (Operation *user : state.start(parameter).getUsers())
      if (Operation *top = block.findAncestorOpInBlock(*user))
        first = std::min(first, places.lookup(top));
    uses.push_back(first);
  }
  return uses;
}

int64_t countBucketElements(const Bucket &bucket) {
  int64_t count = 0;
  for (const Parameter &parameter : bucket.parameters)
    count += countElements(parameter.shape());
  return count;
}

/// Flattens the tensors of a bucket and appends a tensor of zeros (padding) that makes the number
/// of elements divisible by the number of ranks.
std::vector<Tensor> flattenAndPad(const Bucket &bucket, const std::vector<Tensor> &values) {
  std::vector<Tensor> parts;
  for (const Tensor &value : values)
    parts.push_back(reshape(value, {countElements(value.shape())}));
  if (int64_t rest = bucket.share * bucket.world - countBucketElements(bucket); rest > 0)
    parts.push_back(zeros({rest}, values.front().dtype()));
  return parts;
}

} // namespace

int64_t countElements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

std::vector<std::vector<size_t>> makeBuckets(const std::vector<Parameter> &parameters,
                                             const std::vector<size_t> &rules) {
  std::vector<int64_t> uses = findFirstUses(parameters);
  std::vector<size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return uses[a] > uses[b]; });
  struct Open {
    size_t like, bucket;
    int64_t bytes;
    bool isFirst;
  };
  std::vector<Open> kinds;
  std::vector<std::vector<size_t>> buckets;
  for (size_t i : order) {
    const Parameter &parameter = parameters[i];
    const int64_t bytes = countElements(parameter.shape()) * int64_t(dtypeBytes(parameter.dtype()));
    auto kind = std::ranges::find_if(kinds, [&](const Open &open) {
      const Parameter &other = parameters[open.like];
      return rules[i] == rules[open.like] && parameter.dtype() == other.dtype() &&
             parameter.device() == other.device();
    });
    bool isNew = kind == kinds.end();
    if (isNew)
      kind = kinds.insert(kinds.end(), {i, 0, 0, true});
    else if (kind->bytes + bytes > (kind->isFirst ? kFirstBytes : kBytes)) {
      kind->isFirst = false;
      isNew = true;
    }
    if (isNew) {
      kind->bucket = buckets.size();
      kind->bytes = 0;
      buckets.emplace_back();
    }
    buckets[kind->bucket].push_back(i);
    kind->bytes += bytes;
  }
  return buckets;
}

int64_t computeShareSize(const Bucket &bucket) {
  return (countBucketElements(bucket) + bucket.world - 1) / bucket.world;
}

Tensor getParameterValue(const Parameter &parameter) {
  Operand operand(parameter);
  ApiCall call("Update", {&operand});
  return call.tensor(call.value(operand));
}

Tensor flattenAndConcat(const std::vector<Tensor> &values) {
  std::vector<Tensor> parts;
  for (const Tensor &value : values)
    parts.push_back(reshape(value, {countElements(value.shape())}));
  return cat(parts);
}

Tensor sliceAndReshape(const Tensor &flat, int64_t begin, const Shape &shape) {
  return reshape(narrow(flat, 0, begin, countElements(shape)), shape);
}

Tensor reduceScatterGradients(const Bucket &bucket, const std::vector<Tensor> &gradients,
                              bool averaged) {
  std::vector<Tensor> parts = flattenAndPad(bucket, gradients);
  if (averaged)
    return own_rows(parts, bucket.world);
  return reduce_scatter(cat(parts), bucket.world, Reduction::Mean);
}

Tensor getOwnShare(const Bucket &bucket) {
  std::vector<Tensor> values;
  for (const Parameter &parameter : bucket.parameters)
    values.push_back(getParameterValue(parameter));
  return own_rows(flattenAndPad(bucket, values), bucket.world);
}

void allGatherAndAssign(const Bucket &bucket, const Tensor &share) {
  Tensor all = all_gather(share, bucket.world);
  int64_t begin = 0;
  for (const Parameter &parameter : bucket.parameters) {
    assign(parameter, sliceAndReshape(all, begin, parameter.shape()));
    begin += countElements(parameter.shape());
  }
}

void recordShareLayout(const Parameter &slot, const Bucket &bucket, const std::string &prefix) {
  State::Shares shares{.of = bucket.world, .parts = {}};
  for (const Parameter &parameter : bucket.parameters)
    shares.parts.emplace_back(prefix + parameter.name(), parameter.shape());
  State::current()->shares[slot.name()] = std::move(shares);
}

Tensor sumOverRanks(const Gradients &gradients, const Tensor &sum) {
  return gradients.buckets.empty() ? sum : all_reduce(sum, Reduction::Sum);
}

ElementwiseCheck::ElementwiseCheck(const Bucket &bucket, std::string rule)
    : share(bucket.share), rule(std::move(rule)) {
  mlir::Block &block = State::current()->function.front();
  before = block.empty() ? nullptr : &block.back();
}

void ElementwiseCheck::require() const {
  mlir::Block &block = State::current()->function.front();
  for (auto op = before ? std::next(before->getIterator()) : block.begin(); op != block.end();
       ++op) {
    bool takesShare = llvm::any_of(op->getOperandTypes(), [&](Type type) {
      return cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>{share};
    });
    if (takesShare && !op->hasTrait<dlc::Elementwise>())
      throw Error("optimizer '" + rule +
                  "' cannot be split over ranks: " + op->getName().getStringRef().str() +
                  " combines elements of a parameter; required: an elementwise update rule, or an "
                  "optimizer that is not split");
  }
}

} // namespace dlc::optim
