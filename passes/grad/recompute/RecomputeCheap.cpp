//===- RecomputeCheap.cpp - rematerialization of cheap values -------------===//
#include "ir/dlc/Attributes.h"
#include "passes/grad/recompute/Recompute.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;

namespace dlc::grad {
namespace {

/// Minimum size in bytes of a value that is rematerialized. Smaller values are retained.
constexpr int64_t smallBytes = 4096;
constexpr int maxDepth = 6;
/// Maximum number of heavy operations (such as matmuls) between the first and the last of the
/// readers that share one copy.
constexpr int64_t maxSpan = 64;
/// Maximum length of a run of residual blocks that are recomputed from one retained value. All
/// values of a run are live when the last one is needed, and each of them but the last costs an
/// additional pass over memory.
constexpr int maxRow = 4;

/// Returns whether recomputing the result costs no more than reading the operands, and can be fused
/// with its reader.
bool isCheapToRecompute(Operation *op) {
  // Batch normalization is cheap to recompute, because its statistics are retained.
  return isCheapMath(op) || op->hasTrait<CheapToRecompute>();
}

bool isNorm(Operation *op) { return isa<BatchNormOp, BatchNormTrainOp>(op); }

/// Returns whether the operation casts a parameter. Such a cast is computed once for the forward
/// and the backward pass, and not rematerialized.
bool isParameterCast(Operation *op) {
  return isa<CastOp>(op) && isa<BlockArgument>(MemoryEstimator::rootOf(op->getOperand(0)));
}

class CheapRecompute {
public:
  explicit CheapRecompute(func::FuncOp function) : block(function.getBody().front()) {
    number();
    findForward(function);
  }

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    // Later operations are visited first, because their rematerialized copies are readers of
    // earlier operations.
    for (Operation *op : llvm::reverse(ops))
      visit(op);
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  void number() {
    int64_t heavy = 0, next = 0;
    for (Operation &op : block) {
      order[&op] = next++;
      heavyBefore[&op] = heavy;
      heavy += isExpensiveOp(&op);
    }
  }

  /// Collects the operations of the forward pass: those on which function results other than states
  /// depend. If all results are states, the forward pass is unknown, and the set is empty.
  void findForward(func::FuncOp function) {
    SmallVector<Operation *> work;
    auto need = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block && forward.insert(def).second)
        work.push_back(def);
    };
    for (OpOperand &result : block.getTerminator()->getOpOperands())
      if (!function.getResultAttr(result.getOperandNumber(), kStateAttr))
        need(result.get());
    while (!work.empty())
      work.pop_back_val()->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          need(operand);
      });
  }

  /// Returns the operation of this block that contains the use. In `order`, rematerialized copies
  /// have the position of their reader.
  Operation *readerOf(OpOperand &use) { return block.findAncestorOpInBlock(*use.getOwner()); }

  int64_t lastUse(Value value) {
    if (isa<BlockArgument>(value) || value.getDefiningOp<ConstantOp>())
      return std::numeric_limits<int64_t>::max();
    int64_t last = -1;
    for (OpOperand &use : value.getUses()) {
      Operation *user = readerOf(use);
      last = std::max(last, order.lookup(user));
      if (isa<ReshapeOp>(user))
        last = std::max(last, lastUse(user->getResult(0)));
    }
    return last;
  }

  /// Collects in `chain` the operations that recompute `value` from values that are live at
  /// position `at` anyway. Returns false if this requires operations that are not cheap.
  bool chainFor(Value value, int64_t at, llvm::SetVector<Operation *> &chain, int depth) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || !isCheapToRecompute(op) || depth > maxDepth ||
        isParameterCast(op) || value != op->getResult(0))
      return false;
    for (Value operand : op->getOperands()) {
      if (Operation *def = operand.getDefiningOp(); def && chain.contains(def))
        continue;
      if (lastUse(operand) >= at && tensorBytes(operand.getType()) > 0)
        continue;
      if (tensorBytes(operand.getType()) < smallBytes && operand.getDefiningOp())
        continue; // a small operand is retained at almost no cost
      if (!chainFor(operand, at, chain, depth + 1))
        return false;
    }
    chain.insert(op);
    return true;
  }

  void visit(Operation *op) {
    if ((op->getNumResults() != 1 && !isNorm(op)) || op->getNumRegions() != 0)
      return;
    Value value = op->getResult(0);
    if (tensorBytes(value.getType()) < smallBytes)
      return;
    SmallVector<Operation *> late = lateReaders(value);
    if (late.empty())
      return;
    if (isCheapToRecompute(op) && !isa<ReshapeOp>(op) && !isParameterCast(op))
      recompute(value, late);
    keepAnswers(value);
  }

  /// Returns the readers in the backward pass that are separated from the value by heavy
  /// operations, in program order.
  SmallVector<Operation *> lateReaders(Value value) {
    Operation *def = value.getDefiningOp();
    int64_t made = heavyBefore.lookup(def) + isExpensiveOp(def);
    llvm::SetVector<Operation *> late;
    for (OpOperand &use : value.getUses())
      if (Operation *user = readerOf(use); heavyBefore.lookup(user) > made &&
                                           !forward.contains(user) &&
                                           !user->hasTrait<OpTrait::IsTerminator>())
        late.insert(user);
    SmallVector<Operation *> sorted = late.takeVector();
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return sorted;
  }

  /// Creates one rematerialized copy of the value for each group of late readers that are close to
  /// each other.
  void recompute(Value value, ArrayRef<Operation *> late) {
    while (!late.empty()) {
      Operation *first = late.front();
      llvm::SmallPtrSet<Operation *, 8> sharing;
      while (!late.empty() &&
             heavyBefore.lookup(late.front()) - heavyBefore.lookup(first) <= maxSpan) {
        sharing.insert(late.front());
        late = late.drop_front();
      }
      llvm::SetVector<Operation *> chain;
      if (!chainFor(value, order.lookup(first), chain, 0))
        return;
      int row = rows.lookup(first) + int(llvm::any_of(chain, isNorm));
      if (row > maxRow)
        return;
      Value again = copy(chain, first, row, value);
      value.replaceUsesWithIf(again,
                              [&](OpOperand &use) { return sharing.contains(readerOf(use)); });
    }
  }

  Value copy(const llvm::SetVector<Operation *> &chain, Operation *reader, int row, Value value) {
    OpBuilder builder(reader);
    IRMapping mapping;
    for (Operation *link : chain) {
      Operation *copy = cloneForRecompute(link, builder, mapping);
      copy->setAttr(kRecomputedAttr, builder.getUnitAttr());
      order[copy] = order.lookup(reader);
      heavyBefore[copy] = heavyBefore.lookup(reader);
      rows[copy] = row;
    }
    return mapping.lookup(value);
  }

  /// If all late readers compare the value with constants, moves these comparisons directly after
  /// the value, so that only their results, with one byte per element, are retained.
  void keepAnswers(Value value) {
    SmallVector<Operation *> late = lateReaders(value);
    if (late.empty() || !isa<FloatType>(typeOf(value).getElementType()))
      return;
    for (Operation *reader : late) {
      if (!isa<CompareOp, IsNanOp>(reader) || shapeOf(reader->getResult(0)) != shapeOf(value))
        return;
      for (Value operand : reader->getOperands())
        if (operand != value && !splatValue(operand))
          return;
    }
    Operation *after = value.getDefiningOp();
    for (Operation *reader : late) {
      for (Value operand : reader->getOperands())
        if (Operation *def = operand.getDefiningOp(); isa_and_nonnull<ConstantOp>(def))
          if (after->isBeforeInBlock(def))
            def->moveBefore(after);
      reader->moveAfter(after);
      order[reader] = order.lookup(after);
      heavyBefore[reader] = heavyBefore.lookup(after);
    }
  }

  Block &block;
  llvm::DenseMap<Operation *, int64_t> order, heavyBefore;
  /// By rematerialized copy: number of residual blocks (chains with a normalization) that are
  /// recomputed from this copy on to a reader that is not a copy; at most maxRow.
  llvm::DenseMap<Operation *, int> rows;
  llvm::DenseSet<Operation *> forward;
};

} // namespace

bool isExpensiveOp(Operation *op) {
  return !op->hasTrait<Elementwise>() && !op->hasTrait<Movement>() &&
         !isa<ConstantOp, ReduceOp, RandomOp>(op) && !op->hasTrait<OpTrait::IsTerminator>();
}

void recomputeCheap(func::FuncOp function) { CheapRecompute(function).run(); }

} // namespace dlc::grad
