//===- RecomputeBound.cpp - rematerialization until a memory limit is met ----===//
//
// Values are rematerialized one after another. The candidates are live but not used at the
// operation with the peak of memory. The candidate that frees the most bytes for the least work is
// recomputed directly before its next reader, from values that are available there, so that its
// memory is free in between.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Shape.h"
#include "passes/grad/recompute/Recompute.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <limits>
#include <optional>

using namespace mlir;

namespace dlc::grad {
namespace {

constexpr int64_t smallBytes = 1024;
constexpr size_t maxChain = 24;
/// Number of arithmetic operations that take as long as moving one byte of memory, to convert both
/// to one cost.
constexpr double operationsPerByte = 16;

double estimateRecomputeCost(Operation *op) {
  double cost = 0;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    cost += double(tensorBytes(value.getType()));
  Value weights;
  if (isa<MatmulOp, GroupedMatmulOp>(op))
    weights = op->getOperand(1);
  if (isa<ConvOp, ConvTransposeOp>(op))
    weights = op->getOperand(1);
  if (!weights)
    return cost;
  // Number of multiply-adds: elements of the result, times the length of the reduction.
  ArrayRef<int64_t> shape = shapeOf(weights);
  double sum = 1;
  bool isProduct = isa<MatmulOp, GroupedMatmulOp>(op);
  for (int64_t size : isProduct ? shapeOf(op->getOperand(0)).take_back(1) : shape.drop_front(1))
    sum *= double(size);
  return cost + 2 * sum * double(staticElements(typeOf(op->getResult(0)))) / operationsPerByte;
}

bool canRecompute(Operation *op) {
  // Collectives are not rematerialized, because all other ranks would have to repeat them as well.
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<ConstantOp>(op) &&
         !isCollective(op);
}

struct RecomputeCandidate {
  Value value;
  SmallVector<Operation *> chain;
  Operation *place = nullptr;
  double score = 0;
};

class MemoryLimitRecompute {
public:
  explicit MemoryLimitRecompute(func::FuncOp function)
      : function(function), block(function.getBody().front()) {}

  /// Returns the number of greedy rematerializations after which the estimated memory is at most
  /// `limit` or, if it never is, after which it is lowest.
  int choicesFor(int64_t limit) {
    int64_t least = std::numeric_limits<int64_t>::max();
    int choices = 0;
    for (int made = 0, most = int(block.getOperations().size()); made < most; ++made) {
      MemoryEstimator lifetimes(function);
      if (lifetimes.total() < least) {
        least = lifetimes.total();
        choices = made;
      }
      if (least <= limit || !choose(lifetimes))
        break;
    }
    return choices;
  }

  int64_t run(int choices) {
    for (int made = 0; made < choices; ++made)
      choose(MemoryEstimator(function));
    return MemoryEstimator(function).total();
  }

private:
  bool choose(const MemoryEstimator &lifetimes) {
    std::optional<RecomputeCandidate> choice = best(lifetimes);
    if (choice)
      apply(*choice);
    return choice.has_value();
  }

  std::optional<RecomputeCandidate> best(const MemoryEstimator &lifetimes) {
    number();
    Operation *peak = lifetimes.peakOp();
    std::optional<RecomputeCandidate> found;
    for (Operation &op : block) {
      if (&op == peak)
        break;
      if (!canRecompute(&op) || isa<ReshapeOp>(op))
        continue;
      for (Value value : op.getResults()) {
        if (lifetimes.bytesOf(value) < smallBytes || done.contains(value) ||
            !lifetimes.idlesAtPeak(value))
          continue;
        std::optional<RecomputeCandidate> choice = weigh(value, peak, lifetimes);
        if (choice && (!found || choice->score > found->score))
          found = choice;
      }
    }
    return found;
  }

  std::optional<RecomputeCandidate> weigh(Value value, Operation *peak,
                                          const MemoryEstimator &lifetimes) {
    // nextReader() returns no rematerialized copy of the value, because such copies are computed
    // from other values.
    RecomputeCandidate choice{value, {}, nextReader(value, peak), 0};
    if (!choice.place)
      return std::nullopt;
    llvm::SetVector<Operation *> chain;
    int64_t extended = 0;
    if (!link(value, choice.place, chain, extended))
      return std::nullopt;
    choice.chain = chain.takeVector();
    double cost = 1;
    for (Operation *op : choice.chain)
      cost += estimateRecomputeCost(op);
    int64_t gain = lifetimes.bytesOf(value) - extended;
    if (gain <= 0)
      return std::nullopt;
    choice.score = double(gain) / cost;
    return choice;
  }

  /// Collects in `chain` the operations that recompute the value at `place`. Small operands that
  /// are not live at `place` and are not recomputed are kept live longer, which adds their size to
  /// `extended`. Returns false if the value cannot be recomputed.
  bool link(Value value, Operation *place, llvm::SetVector<Operation *> &chain, int64_t &extended) {
    Operation *op = value.getDefiningOp();
    if (!canRecompute(op) || op->getBlock() != &block || chain.size() > maxChain)
      return false;
    // The statistics of batch norm and the positions of max pools are retained instead of being
    // recomputed.
    if (isa<BatchNormTrainOp, MaxPoolPositionsOp>(op) && value != op->getResult(0))
      return false;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || isa<ConstantOp>(def) || chain.contains(def) || isThere(operand, place))
        continue;
      if (Value copy = copies.lookup(operand)) {
        if (!movable(copy, place))
          return false;
        continue;
      }
      if (tensorBytes(operand.getType()) < smallBytes) {
        extended += tensorBytes(operand.getType());
        continue;
      }
      if (!link(operand, place, chain, extended))
        return false;
    }
    chain.insert(op);
    return true;
  }

  /// Returns whether the value is read at `place` or later, so that it is live there.
  bool isThere(Value value, Operation *place) {
    for (Operation *user : value.getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (here && order.lookup(here) >= order.lookup(place))
        return true;
      if (here && isa<ReshapeOp>(here) && isThere(here->getResult(0), place))
        return true;
    }
    return false;
  }

  /// Returns whether the rematerialized copy precedes `place`, or can be moved before it.
  bool movable(Value copy, Operation *place) {
    llvm::SmallPtrSet<Operation *, 16> seen;
    SmallVector<Operation *> work{copy.getDefiningOp()};
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!op || order.lookup(op) < order.lookup(place) || !seen.insert(op).second)
        continue;
      if (!op->hasAttr(kRecomputedAttr))
        return false;
      for (Value operand : op->getOperands())
        work.push_back(operand.getDefiningOp());
    }
    return true;
  }

  void moveBefore(Value copy, Operation *place) {
    Operation *op = copy.getDefiningOp();
    if (!op || op->isBeforeInBlock(place))
      return;
    for (Value operand : op->getOperands())
      moveBefore(operand, place);
    op->moveBefore(place);
  }

  void number() {
    int64_t next = 0;
    for (Operation &op : block)
      order[&op] = next++;
  }

  Operation *nextReader(Value value, Operation *peak) {
    Operation *next = nullptr;
    auto consider = [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (here && order.lookup(here) > order.lookup(peak) &&
          (!next || order.lookup(here) < order.lookup(next)))
        next = here;
    };
    for (Operation *user : value.getUsers()) {
      // A reshape before the peak is a view and does not count as a reader. If the reshape has
      // readers after the peak, the value must stay live.
      if (isa<ReshapeOp>(user) && order.lookup(user) < order.lookup(peak)) {
        if (llvm::any_of(user->getResult(0).getUsers(), [&](Operation *reader) {
              Operation *here = block.findAncestorOpInBlock(*reader);
              return here && order.lookup(here) > order.lookup(peak);
            }))
          return nullptr;
        continue;
      }
      consider(user);
    }
    return next && !next->hasTrait<OpTrait::IsTerminator>() ? next : nullptr;
  }

  void apply(const RecomputeCandidate &choice) {
    number();
    OpBuilder builder(choice.place);
    IRMapping mapping;
    llvm::DenseSet<Operation *> links(choice.chain.begin(), choice.chain.end());
    for (Operation *op : choice.chain) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || links.contains(def) || isThere(operand, choice.place))
          continue;
        if (Value copy = copies.lookup(operand)) {
          moveBefore(copy, choice.place);
          mapping.map(operand, copy);
        }
      }
      Operation *copy = cloneForRecompute(op, builder, mapping);
      copy->setAttr(kRecomputedAttr, builder.getUnitAttr());
      for (Value result : op->getResults())
        if (Value again = mapping.lookupOrNull(result))
          copies[result] = again;
    }
    Value again = mapping.lookup(choice.value);
    int64_t from = order.lookup(choice.place);
    Value value = choice.value;
    value.replaceUsesWithIf(again, [&](OpOperand &use) {
      Operation *here = block.findAncestorOpInBlock(*use.getOwner());
      return here && order.contains(here) && order.lookup(here) >= from;
    });
    done.insert(value);
  }

  func::FuncOp function;
  Block &block;
  llvm::DenseMap<Operation *, int64_t> order;
  llvm::DenseMap<Value, Value> copies;
  llvm::DenseSet<Value> done;
};

} // namespace

int64_t recomputeToMemoryLimit(func::FuncOp function, int64_t limit) {
  // One rematerialization may reduce memory only together with the next one, and the last ones may
  // have no effect. Their number is therefore determined on a clone of the function.
  auto trial = cast<func::FuncOp>(function->clone());
  int choices = MemoryLimitRecompute(trial).choicesFor(limit);
  trial->erase();
  return MemoryLimitRecompute(function).run(choices);
}

} // namespace dlc::grad
