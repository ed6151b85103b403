//===- Queue.cpp - command order that ends live ranges early --------------===//
#include "codegen/lower/Queue.h"

#include "codegen/lower/Views.h"
#include "codegen/providers/LibraryCall.h"
#include "ir/dlc/Collective.h"

#include <set>

using namespace mlir;

namespace dlc::lower {

/// Sizes in bytes below which a tensor is negligible for memory: counters, learning rates, norms.
constexpr int64_t kTiny = 4096;
/// Limit of the bytes of all-reduced gradients whose optimizer updates may be delayed even if the
/// delay increases the peak memory: 50 MiB, two large all-reduce buckets.
constexpr int64_t kHeldBytes = int64_t(50) << 20;

/// Returns the tensor that a chain of views starts from.
static Value findViewRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto view = matchView(op);
    if (!view)
      break;
    value = view->first;
  }
  return value;
}

ListScheduler::ListScheduler(Block &body, const DependencyGraph &graph,
                             std::vector<SchedulerStep> given, const std::vector<bool> &outputs,
                             const llvm::DenseSet<Value> &direct)
    : graph(graph), steps(std::move(given)), reads(steps.size()), takes(steps.size()),
      meets(steps.size()) {
  llvm::DenseSet<Value> kept(direct);
  // Values that are outputs of the program are stored in the caller's memory, not in the arena.
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (outputs[i])
      kept.insert(findViewRoot(value));
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (isFree(i))
      continue;
    for (Value used : step.uses)
      if (Operation *made = findViewRoot(used).getDefiningOp(); made && dlc::isCollective(made))
        meets[i].push_back(made);
    llvm::SmallDenseSet<Value> roots;
    for (Value used : step.uses)
      if (Value root = findViewRoot(used);
          root.getDefiningOp() && !isa<ConstantOp>(root.getDefiningOp()) && !kept.contains(root))
        roots.insert(root);
    reads[i].assign(roots.begin(), roots.end());
    for (Value root : reads[i])
      ++readersLeft[root];
    if (step.op)
      for (Value result : step.op->getResults())
        if (!kept.contains(result))
          takes[i] += storageBytes(tensorTypeOf(result));
  }
  markUpdates(body, outputs);
}

bool ListScheduler::isFree(unsigned step) const {
  Operation *op = steps[step].op;
  return op && (isa<ConstantOp>(op) || matchView(op));
}

void ListScheduler::markUpdates(Block &body, const std::vector<bool> &outputs) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [i, step] : llvm::enumerate(steps))
    if (step.op)
      numbers[step.op] = i;
  updates.assign(steps.size(), true);
  std::vector<unsigned> work;
  auto needed = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && updates[numbers[op]]) {
      updates[numbers[op]] = false;
      work.push_back(numbers[op]);
    }
  };
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (outputs[i])
      needed(value);
  while (!work.empty()) {
    unsigned step = work.back();
    work.pop_back();
    for (Value used : steps[step].uses)
      needed(used);
  }
}

bool ListScheduler::endsLives(unsigned step) const {
  int64_t frees = 0;
  for (Value root : reads[step])
    if (readersLeft.lookup(root) == 1)
      frees += storageBytes(tensorTypeOf(root));
  return takes[step] <= std::max(frees, kTiny);
}

bool ListScheduler::isHeld(unsigned step) const {
  return llvm::any_of(meets[step], [&](Operation *op) { return llvm::is_contained(held, op); });
}

static int64_t getResultBytes(Operation *collective) {
  return storageBytes(tensorTypeOf(collective->getResult(0)));
}

bool ListScheduler::mayWait() const { return heldBytes <= kHeldBytes || live <= most; }

void ListScheduler::start(Operation *collective) {
  held.push_back(collective);
  heldBytes += getResultBytes(collective);
  hasGradients |= getResultBytes(collective) > kTiny;
  while (held.size() > 1 && !mayWait())
    letGo();
}

void ListScheduler::letGo() {
  heldBytes -= getResultBytes(held.front());
  held.pop_front();
}

std::vector<unsigned> ListScheduler::run() {
  std::vector<unsigned> waits(steps.size());
  for (unsigned step = 0; step < steps.size(); ++step)
    for (unsigned next : graph.following(step))
      ++waits[next];
  std::set<unsigned> ready, readyUpdates;
  std::vector<unsigned> order, free;
  auto release = [&](unsigned step) {
    if (isFree(step)) {
      free.push_back(step);
      return;
    }
    ready.insert(step);
    if (isUpdate(step))
      readyUpdates.insert(step);
  };
  auto take = [&](unsigned step) {
    order.push_back(step);
    live += takes[step];
    if (!hasGradients)
      most = std::max(most, live);
    for (Value root : reads[step])
      if (--readersLeft[root] == 0)
        live -= storageBytes(tensorTypeOf(root));
    if (Operation *op = steps[step].op; op && dlc::isCollective(op))
      start(op);
    for (unsigned next : graph.following(step))
      if (--waits[next] == 0)
        release(next);
  };
  for (unsigned step = 0; step < steps.size(); ++step)
    if (waits[step] == 0)
      release(step);
  while (!free.empty() || !ready.empty()) {
    if (!free.empty()) {
      unsigned step = free.back();
      free.pop_back();
      take(step);
      continue;
    }
    auto update = llvm::find_if(readyUpdates,
                                [&](unsigned step) { return endsLives(step) && !isHeld(step); });
    auto next = llvm::find_if(ready, [&](unsigned step) { return !isHeld(step); });
    if (next == ready.end()) {
      letGo();
      continue;
    }
    unsigned step = update != readyUpdates.end() ? *update : *next;
    ready.erase(step);
    readyUpdates.erase(step);
    take(step);
  }
  assert(order.size() == steps.size() && "commands that wait for one another");
  return order;
}

} // namespace dlc::lower
