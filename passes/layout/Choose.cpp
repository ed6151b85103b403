//===- Choose.cpp - the layouts of a graph, all together ------------------===//
#include "passes/layout/Choose.h"

#include "passes/TensorBuilder.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

/// The layouts that a value is there in, as bits.
using Mask = uint32_t;

struct Partial {
  std::vector<Mask> alive; ///< by the values' places
  double cost = 0;
  uint32_t from = 0, way = 0; ///< the partial choice before it, and what was chosen then
};

class Chooser {
public:
  Chooser(Block &block, const LayoutQuestions &questions) : block(block), questions(questions) {}

  llvm::DenseMap<Operation *, Way> run() {
    findLastUses();
    Partial first;
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
    std::vector<Way> ways;
    std::vector<std::pair<uint32_t, uint32_t>>
        back; ///< of each partial choice: the one before, and the way
  };

  /// Whether it may lie in more than one way: a sequence, an image, or one of several dimensions.
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

  /// Gives a value a place among those alive; what nobody uses has none.
  Mask born(Value value, const std::string &layout = "") {
    places[value] = order.size();
    order.push_back(value);
    return bit(layout);
  }

  /// Makes the operand there in a layout, and says what that costs.
  double bring(Partial &partial, Value value, const std::string &layout) {
    auto place = places.find(value);
    if (place == places.end())
      return 0;
    Mask wanted = bit(layout);
    Mask &there = partial.alive[place->second];
    if (there & wanted)
      return 0;
    // Partial choices have the same questions.
    auto [known, isNew] = brought.try_emplace({value, uint64_t(there) << 32 | wanted}, 1e30);
    if (isNew)
      for (size_t i = 0; i < layouts.size(); ++i)
        if (there & (Mask(1) << i))
          known->second = std::min(known->second, questions.reorder(value, layouts[i], layout));
    there |= wanted;
    return known->second;
  }

  /// What an operation without a say takes: plain tensors, its regions' operands too.
  Way plainWay(Operation *op) {
    Way way;
    way.gives.assign(op->getNumResults(), "");
    return way;
  }

  /// Whether an operation has to do with anything that may lie in more than one way.
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
    Step step{op, questions.ways(op), {}};
    bool hasSay = !step.ways.empty();
    if (!hasSay)
      step.ways.push_back(plainWay(op));
    std::vector<Partial> next;
    for (uint32_t from = 0; from < front.size(); ++from)
      for (uint32_t way = 0; way < step.ways.size(); ++way) {
        Partial partial = front[from];
        partial.from = from;
        partial.way = way;
        partial.cost += step.ways[way].cost;
        if (hasSay) {
          for (auto &[number, layout] : step.ways[way].takes)
            partial.cost += bring(partial, op->getOperand(number), layout);
        } else {
          op->walk([&](Operation *inner) {
            for (Value operand : inner->getOperands())
              if (operand.getParentBlock() == &block)
                partial.cost += bring(partial, operand, "");
          });
        }
        for (auto [result, layout] : llvm::zip(op->getResults(), step.ways[way].gives))
          if (isTensor(result))
            partial.alive.push_back(bit(layout));
        next.push_back(std::move(partial));
      }
    for (Value result : op->getResults())
      if (isTensor(result))
        born(result);
    bury(op, next);
    keepBest(next);
    for (const Partial &partial : front)
      step.back.push_back({partial.from, partial.way});
    steps.push_back(std::move(step));
  }

  /// Takes out whom nobody asks for after this operation.
  void bury(Operation *op, std::vector<Partial> &partials) {
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
    for (Partial &partial : partials)
      leave(partial.alive);
  }

  static bool isBefore(Operation *a, Operation *b) { return a->isBeforeInBlock(b); }

  void keepBest(std::vector<Partial> &partials) {
    std::stable_sort(partials.begin(), partials.end(),
                     [](const Partial &a, const Partial &b) { return a.cost < b.cost; });
    front.clear();
    llvm::DenseSet<uint64_t> seen;
    for (Partial &partial : partials) {
      if (front.size() == kMostAlive)
        break;
      // A number of 63 bits in the place of what is alive: two that are alike by chance are very
      // rare, and cost a choice only.
      uint64_t number = uint64_t(llvm::hash_combine_range(partial.alive)) >> 1;
      if (seen.insert(number).second)
        front.push_back(std::move(partial));
    }
  }

  llvm::DenseMap<Operation *, Way> trace() {
    llvm::DenseMap<Operation *, Way> chosen;
    uint32_t at = 0; // the cheapest is in front
    for (Step &step : llvm::reverse(steps)) {
      auto [from, way] = step.back[at];
      if (step.ways.size() > 1 || !step.ways[way].takes.empty())
        chosen[step.op] = step.ways[way];
      at = from;
    }
    return chosen;
  }

  Block &block;
  const LayoutQuestions &questions;
  std::vector<std::string> layouts;
  llvm::DenseMap<Value, Operation *> lastUse;
  llvm::DenseMap<Value, size_t> places;
  /// What it costs to have a value in a layout, from those that it is there in.
  llvm::DenseMap<std::pair<Value, uint64_t>, double> brought;
  std::vector<Value> order;
  std::vector<Partial> front;
  std::vector<Step> steps;
};

} // namespace

llvm::DenseMap<Operation *, Way> chooseWays(Block &block, const LayoutQuestions &questions) {
  return Chooser(block, questions).run();
}

} // namespace dlc
