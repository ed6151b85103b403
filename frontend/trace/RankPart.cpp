//===- RankPart.cpp - scope of one part of a rank's batch during tracing --===//
#include "frontend/trace/RankPart.h"

#include "dlc/collective.hpp"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Matchers.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

namespace {

/// Number of random streams that a step uses if its world size is not fixed. It limits the number
/// of ranks.
constexpr int64_t kMaxRanks = 4096;
/// Distance between the counters of two random streams. The random numbers of two ranks do not
/// overlap within this many steps.
constexpr int64_t kStreamLength = int64_t(1) << 40;

/// Scope in which new operations are inserted at the function's entry, so that all later operations
/// can use their results.
class EntryInsertionScope {
public:
  explicit EntryInsertionScope(State &state) : guard(state.builder) {
    state.builder.setInsertionPointToStart(&state.function.front());
  }

private:
  OpBuilder::InsertionGuard guard;
};

/// Corrects the unbiased variance that a front end computes from the statistics of one batch. The
/// front end multiplies the variance by n / (n - 1) with the sample count n of one batch. Replaces
/// this factor by that for the samples of all batches.
void correctUnbiasedVariance(BatchNormTrainOp norm, BatchPartScope &part, State &state) {
  auto x = mlir::cast<RankedTensorType>(norm.getX().getType());
  const double own = double(x.getNumElements()) / double(x.getDimSize(1));
  for (OpOperand &use : norm.getVariance().getUses()) {
    auto mul = dyn_cast<MulOp>(use.getOwner());
    const unsigned other = 1 - use.getOperandNumber();
    double factor = 0;
    if (!mul || !isSplat(mul->getOperand(other), factor) ||
        std::abs(factor * (own - 1) / own - 1) > 1e-6)
      continue;
    OpBuilder::InsertionGuard guard(state.builder);
    state.builder.setInsertionPoint(mul);
    Tensor samples = part.batches() * own;
    Operand now(trace::cast(samples / (samples - 1),
                            dtypeOf(getElementTypeOrSelf(mul->getOperand(other).getType()))));
    ApiCall call("batch_norm", {&now});
    mul->setOperand(other, call.value(now));
  }
}

} // namespace

BatchPartScope::BatchPartScope(const StepOptions &options, int64_t part)
    : state(*State::current()), options(options), part(part) {
  Block &block = state.function.front();
  before = block.empty() ? nullptr : &block.back();
  // Saves the call counts from which seeds are derived, so that the random numbers of a chunk do
  // not depend on the chunks that precede it on its rank.
  if (isChunk())
    callsBefore = state.calls;
  state.rankPart = this;
}

BatchPartScope::~BatchPartScope() {
  state.rankPart = nullptr;
  if (isChunk())
    state.calls = callsBefore;
}

Tensor BatchPartScope::stream() {
  if (!options.dataParallel || knownStream)
    return knownStream;
  EntryInsertionScope here(state);
  const int64_t all = isChunk() ? options.chunks : options.world ? options.world : kMaxRanks;
  Tensor numbers = own_rows({arange(all)}, options.world);
  if (isChunk())
    numbers = narrow(numbers, 0, part, 1);
  return knownStream = reshape(numbers, {}) * kStreamLength;
}

Tensor BatchPartScope::batches() {
  if (!options.syncBatchNorm || knownBatches)
    return knownBatches;
  EntryInsertionScope here(state);
  const int64_t known = isChunk() ? options.chunks : options.world;
  Tensor one = full({}, known ? double(known) : 1.0);
  return knownBatches = known ? one : all_reduce(one, Reduction::Sum);
}

void BatchPartScope::finish() {
  if (!options.syncBatchNorm)
    return;
  OpBuilder &b = state.builder;
  auto mark = [&](BatchNormTrainOp norm) {
    if (norm->getParentOp() != state.function)
      ApiCall("batch_norm", Location())
          .fail("synchronized statistics are not supported inside a branch or loop; move the batch "
                "norm out, or use the statistics of each rank");
    // callsOf() numbers the batch norm layers. With chunks, the numbers start again for each chunk.
    SmallVector<NamedAttribute> over{
        b.getNamedAttr("layer", b.getI64IntegerAttr(state.callsOf("batch norm over ranks")))};
    if (isChunk()) {
      over.push_back(b.getNamedAttr("chunks", b.getI64IntegerAttr(options.chunks)));
      over.push_back(b.getNamedAttr("ranks", b.getI64IntegerAttr(options.world)));
    }
    norm->setAttr(kOverRanksAttr, b.getDictionaryAttr(over));
    correctUnbiasedVariance(norm, *this, state);
  };
  Block &block = state.function.front();
  for (auto op = before ? std::next(before->getIterator()) : block.begin(); op != block.end(); ++op)
    op->walk(mark);
}

} // namespace dlc::trace
