//===- Statistics.cpp - computes channel statistics in a convolution's epilogue ---===//
//
//   conv -> epilogue -> y -+-> first -+
//                          +-----> y - first -+-> mean
//                                             +-> square -> mean
//
// Batch normalization in a training step reads all of y for these statistics, and then again for
// its results. The call that computes y still has it in registers.
//
//===----------------------------------------------------------------------------===//
#include "codegen/providers/ChannelStatistics.h"
#include "codegen/refine/Patterns.h"
#include "ir/dlc/Attributes.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/epilogue/StateUpdate.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

/// Alternative to a convolution and a kernel that computes channel statistics of its result: a
/// convolution with these statistics as further results, and the rest of the kernel.
class StatisticsFusionChange : public KernelAlternative {
public:
  /// `candidates`: kernels for the convolution; the first one computes channel statistics. `lost`:
  /// microseconds by which the first candidate is slower than the selected kernel.
  StatisticsFusionChange(FusionOp conv, FusionOp reader, ArrayRef<Candidate> candidates,
                         double lost, const Refinement &refinement)
      : conv(conv), reader(reader), candidates(candidates), lost(lost), refinement(refinement),
        yield(reader.getBody().front().getTerminator()) {}

  bool build() {
    auto at = llvm::find(reader.getInputs(), conv.getResult(0));
    argument = reader.getBody().getArgument(at - reader.getInputs().begin());
    auto found = matchChannelStatistics(argument);
    if (!found || llvm::is_contained(yield->getOperands(), argument) || !restIsSmall(*found))
      return false;
    statistics = *found;
    for (Value v : yield->getOperands())
      if (!isStatistic(v))
        kept.push_back(v);
    buildConvolution();
    if (describeLibraryCall(made, refinement.options.selection.threads) && buildRest())
      return true;
    drop();
    return false;
  }

  void drop() override {
    if (rest)
      rest.erase();
    made.erase();
  }

  double savedTime() const override {
    if (matchesProviderName(refinement.options.kernels, *findProvider(made)))
      return 1;
    return chosenTime(reader) - lost - restEstimate -
           refinement.cost.statistics(double(typeOf(argument).getNumElements()));
  }

  void commit(Refinement &refinement) override {
    Value results[] = {made.getResult(1), made.getResult(2), made.getResult(3)};
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
      Value to = v == statistics.first    ? results[0]
                 : v == statistics.shift  ? results[1]
                 : v == statistics.square ? results[2]
                                          : rest.getResult(next++);
      reader.getResult(i).replaceAllUsesWith(to);
    }
    conv.getResult(0).replaceAllUsesWith(made.getResult(0));
    for (FusionOp gone : {reader, conv})
      refinement.erase(gone);
  }

private:
  bool isStatistic(Value v) const {
    return v == statistics.first || v == statistics.shift || v == statistics.square;
  }

  /// Returns true if the convolution's result is the only large input of the fusion `reader`, and
  /// all ops that do not belong to the channel statistics have small results (at most one element
  /// per channel).
  bool restIsSmall(const ChannelStatisticsMatch &found) {
    auto isSmall = [&](Value v) { return typeOf(v).getNumElements() <= shapeOf(argument)[1]; };
    for (Value input : reader.getInputs())
      if (input != conv.getResult(0) && !isSmall(input))
        return false;
    for (Operation &op : reader.getBody().front().without_terminator())
      if (!llvm::is_contained(found.ops, &op) && !llvm::all_of(op.getResults(), isSmall))
        return false;
    return true;
  }

  void buildConvolution() {
    OpBuilder b(conv);
    SmallVector<Type> types(conv.getResultTypes());
    for (Value v : {statistics.first, statistics.shift, statistics.square})
      types.push_back(v.getType());
    made = FusionOp::create(b, conv.getLoc(), types, conv.getInputs());
    made->setAttrs(conv->getAttrs());
    writeCandidates(made, candidates);
    IRMapping map;
    Block &body = startBody(made, conv.getBody().getArguments(), map);
    b.setInsertionPointToEnd(&body);
    Block &old = conv.getBody().front();
    for (Operation &op : old.without_terminator())
      b.clone(op, map);
    Value y = map.lookup(old.getTerminator()->getOperand(0));
    map.map(argument, y);
    for (Operation *op : statistics.ops)
      b.clone(*op, map);
    YieldOp::create(b, conv.getLoc(),
                    ValueRange{y, map.lookup(statistics.first), map.lookup(statistics.shift),
                               map.lookup(statistics.square)});
  }

  /// Builds the fusion `reader` without the ops that compute the statistics, which become its
  /// inputs. Builds nothing if no result of the fusion remains.
  bool buildRest() {
    if (kept.empty())
      return true;
    OpBuilder b(reader);
    SmallVector<Value> inputs, inner;
    for (auto [input, own] : llvm::zip(reader.getInputs(), reader.getBody().getArguments()))
      if (own != argument) {
        inputs.push_back(input);
        inner.push_back(own);
      }
    Value values[] = {statistics.first, statistics.shift, statistics.square};
    for (auto [i, v] : llvm::enumerate(values)) {
      bool isRead = llvm::any_of(v.getUsers(), [&](Operation *user) {
        return user != yield && !llvm::is_contained(statistics.ops, user);
      });
      if (isRead) {
        inputs.push_back(made.getResult(i + 1));
        inner.push_back(v);
      }
    }
    rest = FusionOp::create(b, reader.getLoc(), TypeRange(ValueRange(kept)), inputs);
    IRMapping map;
    Block &body = startBody(rest, inner, map);
    b.setInsertionPointToEnd(&body);
    for (Operation &op : reader.getBody().front().without_terminator())
      if (!llvm::is_contained(statistics.ops, &op))
        b.clone(op, map);
    SmallVector<Value> yielded;
    for (Value v : kept)
      yielded.push_back(map.lookup(v));
    YieldOp::create(b, reader.getLoc(), yielded);
    auto kernels = refinement.candidates(rest);
    if (kernels.empty())
      return false;
    writeCandidates(rest, kernels);
    restEstimate = kernels.front().estimate;
    return true;
  }

  static Block &startBody(FusionOp fusion, ValueRange inner, IRMapping &map) {
    Block &body =
        fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : fusion.getBody().front();
    body.clear();
    for (Value v : inner)
      map.map(v, body.addArgument(v.getType(), v.getLoc()));
    return body;
  }

  FusionOp conv, reader;
  ArrayRef<Candidate> candidates;
  double lost;
  const Refinement &refinement;
  Operation *yield;
  /// Argument of the fusion `reader` to which the convolution's result is passed.
  Value argument;
  ChannelStatisticsMatch statistics;
  SmallVector<Value> kept; ///< results of the fusion `reader` other than the channel statistics
  FusionOp made, rest;
  double restEstimate = 0;
};

/// Moves the first candidate that computes channel statistics to the front of the list. Returns an
/// empty list in three cases: there is no such candidate, it would replace a kernel requested by
/// --kernels, or only one of this candidate and the previous first one was measured.
std::vector<Candidate> preferStatisticsCandidate(std::vector<Candidate> candidates,
                                                 StringRef asked) {
  auto found = llvm::find_if(candidates, [](const Candidate &c) {
    const Provider *provider = findProvider(c.kernel);
    return provider && provider->about.computesChannelSums;
  });
  if (found == candidates.end() ||
      (found != candidates.begin() &&
       (!asked.empty() || found->measured.has_value() != candidates.front().measured.has_value())))
    return {};
  std::rotate(candidates.begin(), found, std::next(found));
  return candidates;
}

/// Returns the generated kernels in the same block that read the convolution's result exactly once.
SmallVector<FusionOp> findReaders(FusionOp conv) {
  SmallVector<FusionOp> readers;
  Value y = conv.getResult(0);
  for (Operation *user : y.getUsers())
    if (auto fusion = dyn_cast<FusionOp>(user);
        fusion && fusion->getBlock() == conv->getBlock() && acceptsPartialBody(fusion) &&
        !fusion->hasAttr(kUpdatesAttr) && llvm::count(fusion.getInputs(), y) == 1)
      readers.push_back(fusion);
  return readers;
}

class ChannelStatisticsPattern : public AnchorPattern {
public:
  ChannelStatisticsPattern() : AnchorPattern("statistics") {}

  bool isAnchor(FusionOp fusion, const Refinement &refinement) const override {
    return fusion.getNumResults() == 1 &&
           !preferStatisticsCandidate(readCandidates(fusion), refinement.options.kernels).empty();
  }
  void propose(FusionOp conv, Refinement &refinement, Offer offer) const override {
    std::vector<Candidate> before = readCandidates(conv),
                           candidates =
                               preferStatisticsCandidate(before, refinement.options.kernels);
    double lost = candidates.front().time() - before.front().time();
    for (FusionOp reader : findReaders(conv)) {
      StatisticsFusionChange joined(conv, reader, candidates, lost, refinement);
      if (joined.build() && offer(joined))
        return;
    }
  }
};

} // namespace

const RefinePattern &getChannelStatisticsPattern() {
  static const ChannelStatisticsPattern pattern;
  return pattern;
}

} // namespace dlc
