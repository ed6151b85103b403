//===- Order.cpp - how states are updated, and the order that this requires ---===//
#include "codegen/lower/Order.h"

#include "codegen/lower/Graph.h"
#include "codegen/lower/Queue.h"
#include "codegen/lower/Views.h"

#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace dlc::lower {

namespace {

class OrderPlanner {
public:
  OrderPlanner(func::FuncOp function, ArrayRef<ProgramState> states, const OldValues &old,
               const CompileOptions &options)
      : body(function.getBody().front()), states(states), old(old), options(options), graph(0),
        updates(states.size()), copies(states.size()) {}

  SmallVector<StateUpdatePlan> run() {
    for (Operation &op : body.without_terminator()) {
      numbers[&op] = graph.addNode();
      nodes.push_back({&op, 0});
    }
    for (Operation &op : body.without_terminator())
      for (Value used : usedBy(&op))
        if (Operation *def = used.getDefiningOp())
          graph.addEdge(numbers[def], numbers[&op]);
    choose();
    for (unsigned s = 0; s < states.size(); ++s)
      if (updates[s].kind == StateUpdatePlan::Kind::Direct && !tryDirect(s))
        makeCopy(s);
    for (unsigned s = 0; s < states.size(); ++s)
      if (updates[s].kind == StateUpdatePlan::Kind::Copied)
        placeCopy(s);
    reorder();
    return std::move(updates);
  }

private:
  /// Returns the values defined in the block that the operation uses, itself or in its regions.
  SmallVector<Value> usedBy(Operation *op) {
    llvm::SetVector<Value> used;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &body)
          used.insert(operand);
    });
    return used.takeVector();
  }

  /// Makes an initial decision for each state, independently of other states: Direct if the new
  /// value's command may write into the state's memory, else Copied.
  void choose() {
    llvm::DenseSet<Value> claimed;
    for (auto [s, state] : llvm::enumerate(states)) {
      if (!state.result)
        continue;
      StateUpdatePlan &update = updates[s];
      update.value = body.getTerminator()->getOperand(*state.result);
      auto part = old.find(update.value);
      // If the new value is the whole old value, nothing is copied. A smaller part of the old value
      // would have another size.
      if (part && part->state == s)
        continue;
      Value made = skipReshapes(update.value);
      Operation *op = made.getDefiningOp();
      bool command = op && !isa<ConstantOp>(op) && !matchView(op) && !part &&
                     layoutOf(tensorTypeOf(made)).empty() &&
                     getCommandDevice(op) == getTypeDeviceName(state.old.getType());
      update.kind = command && writersOf(made, s) && claimed.insert(made).second
                        ? StateUpdatePlan::Kind::Direct
                        : StateUpdatePlan::Kind::Copied;
      if (update.kind == StateUpdatePlan::Kind::Copied)
        makeCopy(s);
    }
  }

  /// Collects the operations that write into the memory of state `s` if `made` is computed there.
  /// Returns false if one of them also reads the old value and may not overwrite it while reading.
  bool writersOf(Value made, unsigned s) {
    SmallVector<unsigned> &list = writers[s];
    list.clear();
    SmallVector<Value> work{made};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      auto result = dyn_cast<OpResult>(value);
      if (!result || result.getOwner()->getBlock() != &body || !numbers.count(result.getOwner()))
        continue;
      Operation *op = result.getOwner();
      list.push_back(numbers[op]);
      // The operands of a concatenation are written in place by the operations that compute them.
      if (auto concat = dyn_cast<ConcatOp>(op)) {
        for (Value part : concat.getXs())
          work.push_back(skipReshapes(part));
        continue;
      }
      if (value == made && !mayReplace(result, s, old, options))
        return false;
    }
    if (made.getDefiningOp<ConcatOp>())
      for (Operation *reader : old.readers(s))
        if (llvm::is_contained(list, numbers[reader]))
          return false;
    return true;
  }

  SmallVector<unsigned> readersOf(unsigned s, ArrayRef<unsigned> without) {
    SmallVector<unsigned> list;
    for (Operation *op : old.readers(s))
      if (!llvm::is_contained(without, numbers[op]))
        list.push_back(numbers[op]);
    // Copies that store the old value of `s` into other states also read the old value.
    for (unsigned t = 0; t < states.size(); ++t)
      if (copies[t] && readsOld(t) == int64_t(s) && t != s)
        list.push_back(*copies[t]);
    return list;
  }

  /// Returns the state whose old value is read by the copy into state `t`; -1 if that copy reads no
  /// old value.
  int64_t readsOld(unsigned t) const {
    auto part = old.find(updates[t].value);
    return part && !updates[t].saved ? int64_t(part->state) : -1;
  }

  void makeCopy(unsigned s) {
    updates[s].kind = StateUpdatePlan::Kind::Copied;
    copies[s] = graph.addNode();
    nodes.push_back({nullptr, s});
    if (Operation *def = updates[s].value.getDefiningOp())
      graph.addEdge(numbers[def], *copies[s]);
  }

  bool tryDirect(unsigned s) {
    SmallVector<unsigned> readers = readersOf(s, writers[s]);
    for (unsigned writer : writers[s])
      if (graph.leadsTo(writer, readers))
        return false;
    for (unsigned reader : readers)
      for (unsigned writer : writers[s])
        graph.addEdge(reader, writer);
    return true;
  }

  void placeCopy(unsigned s) {
    unsigned copy = *copies[s];
    SmallVector<unsigned> readers = readersOf(s, {});
    if (graph.leadsTo(copy, readers)) {
      // The copies of several states form a cycle (such as a swap of two states), because each
      // reads an old value that another one overwrites. The old value is therefore saved first.
      updates[s].saved = true;
      graph.clearEdgesFrom(copy);
    }
    for (unsigned reader : readers)
      graph.addEdge(reader, copy);
  }

  void reorder() {
    std::vector<bool> outputs(body.getTerminator()->getNumOperands(), true);
    for (const ProgramState &state : states)
      if (state.result)
        outputs[*state.result] = false;
    llvm::DenseSet<Value> direct;
    for (StateUpdatePlan &update : updates)
      if (update.kind == StateUpdatePlan::Kind::Direct)
        direct.insert(skipReshapes(update.value));
    Operation *end = body.getTerminator();
    SmallVector<unsigned> waiting;
    unsigned turns = 0;
    for (unsigned node : ListScheduler(body, graph, steps(), outputs, direct).run()) {
      Operation *op = nodes[node].op;
      if (!op) {
        updates[nodes[node].state].turn = turns++;
        waiting.push_back(nodes[node].state);
        continue;
      }
      op->moveBefore(end);
      for (unsigned s : waiting)
        updates[s].copiedBefore = op;
      waiting.clear();
    }
    for (unsigned s : waiting)
      updates[s].copiedBefore = end;
  }

  /// Returns the nodes of the graph as steps for the scheduler: the operation of each node and the
  /// values that it uses.
  std::vector<SchedulerStep> steps() {
    std::vector<SchedulerStep> list;
    for (const Node &node : nodes) {
      if (node.op)
        list.push_back({node.op, usedBy(node.op)});
      else
        list.push_back({nullptr, {updates[node.state].value}});
    }
    return list;
  }

  /// Node of the dependency graph: an operation, or, if `op` is null, the copy of a new value into
  /// the buffer of a state.
  struct Node {
    Operation *op;
    unsigned state;
  };

  Block &body;
  ArrayRef<ProgramState> states;
  const OldValues &old;
  const CompileOptions &options;
  DependencyGraph graph;
  std::vector<Node> nodes;
  llvm::DenseMap<Operation *, unsigned> numbers;
  std::map<unsigned, SmallVector<unsigned>> writers;
  SmallVector<StateUpdatePlan> updates;
  /// For each state: graph node that copies its new value, if any.
  SmallVector<std::optional<unsigned>> copies;
};

} // namespace

SmallVector<StateUpdatePlan> orderUpdates(func::FuncOp function, ArrayRef<ProgramState> states,
                                          const OldValues &old, const CompileOptions &options) {
  if (states.empty())
    return {};
  return OrderPlanner(function, states, old, options).run();
}

} // namespace dlc::lower
