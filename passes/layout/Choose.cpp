//===- Choose.cpp - joint choice of all layouts in a block ----------------===//
#include "passes/layout/Choose.h"

#include "passes/TensorBuilder.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

/// Set of layouts in which a value is available, as a bit set.
using Mask = uint32_t;

struct PartialAssignment {
  std::vector<Mask> alive; ///< for each live value: the layouts in which it is available
  double cost = 0;
  /// Indices of the preceding partial solution and of the layout option that was chosen.
  uint32_t from = 0, option = 0;
};

class LayoutChooser {
public:
  LayoutChooser(Block &block, const LayoutCosts &layoutCosts)
      : block(block), layoutCosts(layoutCosts) {}

  llvm::DenseMap<Operation *, LayoutOption> run() {
    findLastUses();
    PartialAssignment first;
    for (BlockArgument argument : block.getArguments())
      if (isTensor(argument))
        first.alive.push_back(born(argument, layoutOf(argument.getType()).str()));
    front.push_back(first);
    for (Operation &op : block)
      step(&op);
    return trace();
  }

private:
  struct Step {
    Operation *op;
    std::vector<LayoutOption> layoutOptions;
    std::vector<std::pair<uint32_t, uint32_t>>
        back; ///< for each partial solution: indices of the preceding one and of the layout option
  };

  /// Returns whether layouts are chosen for the value: a tensor of rank 3 to 5, such as a sequence,
  /// image or volume.
  static bool isTensor(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() >= 3 && type.getRank() <= 5;
  }

  Mask bit(const std::string &layout) {
    auto at = std::find(layouts.begin(), layouts.end(), layout);
    if (at == layouts.end())
      at = layouts.insert(layouts.end(), layout);
    return Mask(1) << (at - layouts.begin());
  }

  void findLastUses() {
    for (Operation &op : block)
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          lastUse[operand] = &op;
      });
  }

  /// Appends a value to the live values. Returns the bit set that contains only the given layout.
  Mask born(Value value, const std::string &layout = "") {
    places[value] = order.size();
    order.push_back(value);
    return bit(layout);
  }

  /// Makes a value available in a layout, and returns the cost of the reorder (0 if the value is
  /// already available in the layout).
  double bring(PartialAssignment &partial, Value value, const std::string &layout) {
    auto place = places.find(value);
    if (place == places.end())
      return 0;
    Mask wanted = bit(layout);
    Mask &there = partial.alive[place->second];
    if (there & wanted)
      return 0;
    // Reorder costs are cached, because partial solutions have many queries in common.
    auto [known, isNew] = brought.try_emplace({value, uint64_t(there) << 32 | wanted}, 1e30);
    if (isNew)
      for (size_t i = 0; i < layouts.size(); ++i)
        if (there & (Mask(1) << i))
          known->second = std::min(known->second, layoutCosts.reorder(value, layouts[i], layout));
    there |= wanted;
    return known->second;
  }

  /// Returns the layout option of an operation without layout support: all operands, including
  /// those of its regions, and all results are row-major.
  LayoutOption rowMajorOption(Operation *op) {
    LayoutOption option;
    option.resultLayouts.assign(op->getNumResults(), "");
    return option;
  }

  /// Returns whether the operation reads or returns any value for which layouts are chosen.
  bool isOfImages(Operation *op) {
    if (llvm::any_of(op->getResults(), isTensor))
      return true;
    return op
        ->walk([&](Operation *inner) {
          bool uses = llvm::any_of(inner->getOperands(), [&](Value v) { return places.count(v); });
          return uses ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void step(Operation *op) {
    if (!isOfImages(op))
      return;
    Step step{op, layoutCosts.layoutOptions(op), {}};
    bool hasSay = !step.layoutOptions.empty();
    if (!hasSay)
      step.layoutOptions.push_back(rowMajorOption(op));
    std::vector<PartialAssignment> next;
    for (uint32_t from = 0; from < front.size(); ++from)
      for (uint32_t option = 0; option < step.layoutOptions.size(); ++option) {
        PartialAssignment partial = front[from];
        partial.from = from;
        partial.option = option;
        partial.cost += step.layoutOptions[option].cost;
        if (hasSay) {
          for (auto &[number, layout] : step.layoutOptions[option].operandLayouts)
            partial.cost += bring(partial, op->getOperand(number), layout);
        } else {
          op->walk([&](Operation *inner) {
            for (Value operand : inner->getOperands())
              if (operand.getParentBlock() == &block)
                partial.cost += bring(partial, operand, "");
          });
        }
        for (auto [result, layout] :
             llvm::zip(op->getResults(), step.layoutOptions[option].resultLayouts))
          if (isTensor(result))
            partial.alive.push_back(bit(layout));
        next.push_back(std::move(partial));
      }
    for (Value result : op->getResults())
      if (isTensor(result))
        born(result);
    bury(op, next);
    keepBest(next);
    for (const PartialAssignment &partial : front)
      step.back.push_back({partial.from, partial.option});
    steps.push_back(std::move(step));
  }

  /// Removes values that have no users after this operation from the live values.
  void bury(Operation *op, std::vector<PartialAssignment> &partials) {
    SmallVector<size_t> gone;
    for (size_t i = 0; i < order.size(); ++i) {
      auto last = lastUse.find(order[i]);
      if (last == lastUse.end() || last->second == op || isBefore(last->second, op))
        gone.push_back(i);
    }
    if (gone.empty())
      return;
    auto leave = [&](auto &list) {
      for (size_t i : llvm::reverse(gone))
        list.erase(list.begin() + ptrdiff_t(i));
    };
    for (size_t i : gone)
      places.erase(order[i]);
    leave(order);
    for (size_t i = gone.front(); i < order.size(); ++i)
      places[order[i]] = i;
    for (PartialAssignment &partial : partials)
      leave(partial.alive);
  }

  static bool isBefore(Operation *a, Operation *b) { return a->isBeforeInBlock(b); }

  void keepBest(std::vector<PartialAssignment> &partials) {
    std::stable_sort(
        partials.begin(), partials.end(),
        [](const PartialAssignment &a, const PartialAssignment &b) { return a.cost < b.cost; });
    front.clear();
    llvm::DenseSet<uint64_t> seen;
    for (PartialAssignment &partial : partials) {
      if (front.size() == kMaxAlive)
        break;
      // Partial solutions are compared by a 63-bit hash of the layouts of all live values.
      // Collisions are very rare, and only drop a candidate.
      uint64_t number = uint64_t(llvm::hash_combine_range(partial.alive)) >> 1;
      if (seen.insert(number).second)
        front.push_back(std::move(partial));
    }
  }

  llvm::DenseMap<Operation *, LayoutOption> trace() {
    llvm::DenseMap<Operation *, LayoutOption> chosen;
    uint32_t at = 0; // the first partial solution is the cheapest
    for (Step &step : llvm::reverse(steps)) {
      auto [from, option] = step.back[at];
      if (step.layoutOptions.size() > 1 || !step.layoutOptions[option].operandLayouts.empty())
        chosen[step.op] = step.layoutOptions[option];
      at = from;
    }
    return chosen;
  }

  Block &block;
  const LayoutCosts &layoutCosts;
  std::vector<std::string> layouts;
  llvm::DenseMap<Value, Operation *> lastUse;
  llvm::DenseMap<Value, size_t> places;
  /// Cache of the costs of making a value available in a layout. Key: the value, and the bits of
  /// the layouts in which it is available and of the required layout.
  llvm::DenseMap<std::pair<Value, uint64_t>, double> brought;
  std::vector<Value> order;
  std::vector<PartialAssignment> front;
  std::vector<Step> steps;
};

} // namespace

llvm::DenseMap<Operation *, LayoutOption> chooseLayouts(Block &block,
                                                        const LayoutCosts &layoutCosts) {
  return LayoutChooser(block, layoutCosts).run();
}

} // namespace dlc
