//===- Analysis.cpp - how each value of a function is split over ranks ----===//
//
// Forward data-flow analysis of shares (distributions of values over ranks), repeated until a fixed
// point. A state gets the share of its new value
// (an optimizer's moments, the bias of a split layer). The sum of a table's gradients gets the
// share of the table that is updated with it.
//
//===----------------------------------------------------------------------===//
#include "passes/share/Analysis.h"

#include "ir/dlc/Attributes.h"
#include "passes/TensorBuilder.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace dlc::share {

namespace {

DenseI64ArrayAttr getSplitAttr(DictionaryAttr attributes) {
  return attributes ? attributes.getAs<DenseI64ArrayAttr>(kSplitAttr) : DenseI64ArrayAttr();
}

bool isState(DictionaryAttr attributes) { return attributes && attributes.contains(kStateAttr); }

class ShareAnalysis {
public:
  ShareAnalysis(func::FuncOp function, int64_t ranks) : function(function), body(function.front()) {
    made.ranks = ranks;
    for (BlockArgument argument : body.getArguments()) {
      arguments.emplace_back();
      if (auto split = getSplitAttr(function.getArgAttrDict(argument.getArgNumber())))
        arguments.back() = Share::split(split[0], split[2], argument);
    }
  }

  FailureOr<ProgramShares> run() {
    // Fixed-point iteration: each iteration splits at least one more state or intermediate result,
    // or is the last one.
    do {
      changed = false;
      made.values.clear();
      made.operations.clear();
      for (auto [argument, share] : llvm::zip(body.getArguments(), arguments))
        made.values[argument] = share;
      for (Operation &op : body.without_terminator())
        if (failed(visit(op)))
          return failure();
      if (failed(visitResults()))
        return failure();
    } while (changed);
    return std::move(made);
  }

private:
  LogicalResult visit(Operation &op) {
    SmallVector<Share, 4> given;
    for (Value operand : op.getOperands())
      given.push_back(made.values.lookup(operand));
    for (Region &region : op.getRegions()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(region, captured);
      for (Value value : captured)
        if (Share share = made.values.lookup(value); share.isSplit())
          return op.emitError()
                 << op.getName() << " in a split program: a value used inside is "
                 << describeShare(share)
                 << ", but the operation needs all of it; do not split that parameter";
    }
    auto choice = op.getNumResults() ? chosen.find(op.getResult(0)) : chosen.end();
    FailureOr<OpShares> shares =
        computeShares(&op, given, choice == chosen.end() ? nullptr : &choice->second, made.ranks);
    if (failed(shares))
      return failure();
    for (auto [operand, needed] : llvm::zip(op.getOperands(), shares->operands))
      if (needed.isSplit())
        demand(operand, needed);
    for (auto [result, share] : llvm::zip(op.getResults(), shares->results))
      made.values[result] = share;
    made.operations[&op] = std::move(*shares);
    return success();
  }

  /// Requests that an operation compute only this rank's part of a value that it would compute as a
  /// whole, if the operation supports that and it saves work.
  void demand(Value value, const Share &wanted) {
    Operation *op = value.getDefiningOp();
    if (!op || !made.values.lookup(value).isWhole())
      return;
    if (canSplitScatter(op, wanted)) {
      changed |= chosen.insert({value, wanted}).second;
    } else if (op->hasTrait<Elementwise>()) {
      for (Value operand : op->getOperands())
        if (shapeOf(operand) == shapeOf(value))
          demand(operand, wanted);
    }
  }

  LogicalResult visitResults() {
    made.results.clear();
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      DictionaryAttr attributes = function.getResultAttrDict(unsigned(i));
      Share found = made.values.lookup(value), wanted;
      if (isState(attributes)) {
        unsigned state = stateOf(attributes);
        wanted = arguments[state];
        if (found.isSplit() && wanted.isWhole()) {
          arguments[state] = wanted = found;
          changed = true;
        }
        if (found.isSplit() && !found.isLike(wanted))
          return function.emitError()
                 << "the new value of " << nameOf(body.getArgument(state)) << " is "
                 << describeShare(found) << ", and the state itself is split along dimension "
                 << wanted.dimension << "; split both the same way";
      } else if (auto split = getSplitAttr(attributes)) {
        wanted = Share::split(split[0], split[2], value);
      }
      if (wanted.isSplit())
        demand(value, wanted);
      made.results.push_back(wanted);
    }
    return success();
  }

  /// Returns the number of the argument that has the same `dlc.name` as a result of the function,
  /// so that it holds the state that this result updates.
  unsigned stateOf(DictionaryAttr attributes) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isState(function.getArgAttrDict(i)) &&
          function.getArgAttr(i, kNameAttr) == attributes.get(kNameAttr))
        return i;
    llvm_unreachable("C3 of the dialect: a state result without its argument");
  }

  func::FuncOp function;
  Block &body;
  SmallVector<Share> arguments;
  /// Requested distribution of results that are computed in parts from whole operands.
  DenseMap<Value, Share> chosen;
  ProgramShares made;
  bool changed = false;
};

} // namespace

FailureOr<int64_t> getRankCount(func::FuncOp function) {
  int64_t ranks = 0;
  auto take = [&](DictionaryAttr attributes) -> LogicalResult {
    auto split = getSplitAttr(attributes);
    if (!split)
      return success();
    if (ranks != 0 && ranks != split[1])
      return function.emitError() << "`" << kSplitAttr
                                  << "` must be the same number of ranks everywhere; found "
                                  << ranks << " and " << split[1] << "; use one number of ranks";
    ranks = split[1];
    return success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(take(function.getArgAttrDict(i))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(take(function.getResultAttrDict(i))))
      return failure();
  return ranks;
}

FailureOr<ProgramShares> computeShares(func::FuncOp function, int64_t ranks) {
  return ShareAnalysis(function, ranks).run();
}

} // namespace dlc::share
