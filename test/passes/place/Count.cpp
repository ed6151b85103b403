//===- Count.cpp - counts the bytes that placements transfer --------------===//
// Implemented from the placement rules, independent of the pass's code.
#include "test/passes/place/Count.h"

#include "ir/dlc/Dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>

using namespace mlir;

namespace dlc::placetest {
namespace {

int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 || value.getDefiningOp<ConstantOp>())
    return 0;
  return type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
}

int ordinalOf(Attribute attribute) {
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  if (!name)
    return -1;
  auto [kind, number] = name.getValue().split(':');
  int ordinal = 0;
  if (!number.empty())
    number.getAsInteger(10, ordinal);
  return ordinal;
}

struct Use {
  Value value;
  Operation *user;
};

/// Information that all counts need: requested devices and users of values.
struct Function {
  explicit Function(func::FuncOp function) : function(function), block(function.getBody().front()) {
    for (Operation &op : block.without_terminator())
      if (!isa<ConstantOp>(op))
        op.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (operand.getParentBlock() == &block)
              uses.push_back({operand, &op});
        });
    auto results = block.getTerminator()->getOperands();
    for (unsigned i = 0; i < results.size(); ++i) {
      int state = -1;
      if (function.getResultAttr(i, "dlc.state"))
        for (unsigned a = 0; a < function.getNumArguments(); ++a)
          if (function.getArgAttr(a, "dlc.state") &&
              function.getArgAttr(a, "dlc.name") == function.getResultAttr(i, "dlc.name"))
            state = int(a);
      stateOfResult.push_back(state);
    }
  }

  bool isState(unsigned argument) { return bool(function.getArgAttr(argument, "dlc.state")); }
  int asked(Operation *op) { return ordinalOf(op->getAttr("dlc.device")); }
  int askedForArgument(unsigned i) { return ordinalOf(function.getArgAttr(i, "dlc.device")); }
  int askedForResult(unsigned i) { return ordinalOf(function.getResultAttr(i, "dlc.device")); }

  func::FuncOp function;
  Block &block;
  std::vector<Use> uses;
  std::vector<int> stateOfResult;
};

using Devices = llvm::DenseMap<Value, int>;

} // namespace

int64_t bytesMoved(func::FuncOp placed) {
  int64_t sum = 0;
  placed.walk([&](TransferOp transfer) { sum += bytesOf(transfer.getX()); });
  return sum;
}

int64_t bytesMovedNaively(func::FuncOp unplaced) {
  Function f(unplaced);
  Devices devices;
  llvm::DenseMap<Operation *, int> ofOp;
  for (BlockArgument argument : f.block.getArguments())
    devices[argument] = std::max(0, f.askedForArgument(argument.getArgNumber()));
  for (Operation &op : f.block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    int device = f.asked(&op);
    for (Value operand : op.getOperands())
      if (device < 0 && bytesOf(operand) > 0)
        device = devices[operand];
    ofOp[&op] = device = std::max(device, 0);
    for (Value result : op.getResults())
      devices[result] = device;
  }
  int64_t sum = 0;
  for (const Use &use : f.uses)
    if (bytesOf(use.value) && devices[use.value] != ofOp[use.user])
      sum += bytesOf(use.value);
  for (auto [i, value] : llvm::enumerate(f.block.getTerminator()->getOperands())) {
    int state = f.stateOfResult[i];
    int wanted = state >= 0 ? devices[f.block.getArgument(unsigned(state))]
                            : std::max(0, f.askedForResult(unsigned(i)));
    if (bytesOf(value) && devices[value] != wanted)
      sum += bytesOf(value);
  }
  return sum;
}

int64_t minBytes(func::FuncOp unplaced, unsigned most) {
  Function f(unplaced);
  // Everything that has its own device: operations and arguments.
  std::map<void *, int> fixed;
  std::vector<void *> free;
  auto decide = [&](void *what, int asked) {
    if (asked >= 0)
      fixed[what] = asked;
    else
      free.push_back(what);
  };
  // A state is on the device of the operation that computes its next value.
  std::map<void *, void *> with;
  for (auto [i, value] : llvm::enumerate(f.block.getTerminator()->getOperands())) {
    Operation *maker = value.getDefiningOp();
    if (int state = f.stateOfResult[i]; state >= 0 && maker && !isa<ConstantOp>(maker)) {
      int one = f.askedForArgument(unsigned(state)), other = f.asked(maker);
      if (one >= 0 && other >= 0 && one != other)
        continue;
      with[f.block.getArgument(unsigned(state)).getAsOpaquePointer()] = maker;
    }
  }
  std::map<void *, int> askedThroughState;
  for (auto [argument, maker] : with)
    for (BlockArgument each : f.block.getArguments())
      if (each.getAsOpaquePointer() == argument)
        if (int asked = f.askedForArgument(each.getArgNumber()); asked >= 0)
          askedThroughState[maker] = asked;
  for (BlockArgument argument : f.block.getArguments()) {
    if (with.count(argument.getAsOpaquePointer()))
      continue;
    int asked = f.askedForArgument(argument.getArgNumber());
    if (asked < 0 && !f.isState(argument.getArgNumber()))
      asked = 0;
    decide(argument.getAsOpaquePointer(), asked);
  }
  for (Operation &op : f.block.without_terminator())
    if (!isa<ConstantOp>(op)) {
      int asked = f.asked(&op);
      if (auto through = askedThroughState.find(&op);
          asked < 0 && through != askedThroughState.end())
        asked = through->second;
      decide(&op, asked);
    }
  if (free.size() > most)
    return -1;
  int64_t least = INT64_MAX;
  for (uint64_t choice = 0; choice < (uint64_t(1) << free.size()); ++choice) {
    std::map<void *, int> at = fixed;
    for (size_t i = 0; i < free.size(); ++i)
      at[free[i]] = int(choice >> i & 1);
    auto deviceOf = [&](Value value) {
      void *maker = value.getDefiningOp() ? static_cast<void *>(value.getDefiningOp())
                                          : value.getAsOpaquePointer();
      if (auto tied = with.find(maker); tied != with.end())
        maker = tied->second;
      return at[maker];
    };
    std::set<std::pair<void *, int>> moved;
    int64_t sum = 0;
    auto use = [&](Value value, int device) {
      if (bytesOf(value) && deviceOf(value) != device &&
          moved.insert({value.getAsOpaquePointer(), device}).second)
        sum += bytesOf(value);
    };
    for (const Use &each : f.uses)
      use(each.value, at[each.user]);
    for (auto [i, value] : llvm::enumerate(f.block.getTerminator()->getOperands())) {
      int state = f.stateOfResult[i];
      use(value, state >= 0 ? deviceOf(f.block.getArgument(unsigned(state)))
                            : std::max(0, f.askedForResult(unsigned(i))));
    }
    least = std::min(least, sum);
  }
  return least;
}

} // namespace dlc::placetest
