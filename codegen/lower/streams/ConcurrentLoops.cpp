//===- ConcurrentLoops.cpp - independent loops that run at the same time --===//
#include "codegen/lower/streams/ConcurrentLoops.h"

#include "codegen/lower/streams/Access.h"
#include "codegen/memory/Memory.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::lower {

namespace {

/// Estimated microseconds of a command with all threads and with one.
struct CommandTime {
  double all = 0, one = 0;
};

class ConcurrentLoopMarker {
public:
  ConcurrentLoopMarker(exec::ProgramOp program, const CostModel &cost)
      : program(program), cost(cost) {
    for (Operation &op : program.getBody().front())
      if (exec::getStreamNumber(&op)) {
        commands.push_back(&op);
        accesses.push_back(getMemoryAccesses(&op));
      }
  }

  void run() {
    for (size_t first = 0; first < commands.size(); ++first)
      if (isa<exec::LoopOp>(commands[first]))
        first = extend(first);
  }

private:
  /// Extends the group of concurrent loops that begins with the loop at index `first` by later
  /// loops. Returns the index of the group's last loop.
  size_t extend(size_t first) {
    size_t last = first;
    CommandTime sum = timeOf(commands[first]);
    double longest = sum.one;
    for (size_t next = last + 1; next < commands.size(); ++next) {
      if (!isa<exec::LoopOp>(commands[next]))
        continue;
      CommandTime time = timeOf(commands[next]);
      CommandTime together{sum.all + time.all, sum.one + time.one};
      double concurrent = std::max({longest, time.one, together.one / cost.threads});
      if (concurrent >= together.all)
        continue;
      std::optional<SmallVector<size_t>> needed = commandsBefore(first, last, next);
      if (!needed)
        continue;
      for (size_t command : *needed)
        moveTo(command, first++), ++last;
      moveTo(next, last + 1);
      cast<exec::LoopOp>(commands[++last]).setConcurrent(true);
      sum = together;
      longest = std::max(longest, time.one);
    }
    return last;
  }

  /// Returns the indices of the loop `next` and of the commands that it depends on, in order. Only
  /// commands after the group of concurrent loops [first, last] are included. Returns std::nullopt
  /// if one of them depends on the group.
  std::optional<SmallVector<size_t>> commandsBefore(size_t first, size_t last, size_t next) {
    SmallVector<size_t> needed{next};
    for (size_t i = next; i-- > last + 1;)
      if (llvm::any_of(needed,
                       [&](size_t user) { return haveConflict(accesses[i], accesses[user]); }))
        needed.push_back(i);
    for (size_t command : needed)
      for (size_t i = first; i <= last; ++i)
        if (haveConflict(accesses[i], accesses[command]))
          return std::nullopt;
    std::reverse(needed.begin(), needed.end());
    needed.pop_back();
    return needed;
  }

  /// Moves the command at index `from` to the lower index `to`, with the operations that name its
  /// buffers.
  void moveTo(size_t from, size_t to) {
    if (from == to)
      return;
    Operation *op = commands[from], *before = commands[to];
    commands.erase(commands.begin() + from);
    commands.insert(commands.begin() + to, op);
    SmallVector<MemoryAccess> moved = std::move(accesses[from]);
    accesses.erase(accesses.begin() + from);
    accesses.insert(accesses.begin() + to, std::move(moved));
    op->moveBefore(before);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        moveNames(operand.getDefiningOp(), op);
    });
  }

  /// Moves an operation that names a buffer, and those that it uses, before the command.
  void moveNames(Operation *name, Operation *command) {
    if (name->getBlock() != command->getBlock() || name->isBeforeInBlock(command))
      return;
    name->moveBefore(command);
    for (Value operand : name->getOperands())
      moveNames(operand.getDefiningOp(), name);
  }

  CommandTime timeOf(Operation *command) {
    CommandTime time;
    auto add = [&](double flops, double bytes, double cores, double overhead) {
      // Kernels are assumed to scale with the number of cores, so that large ones keep all threads.
      double work = std::max(flops / cost.machine.libraryGflops, cost.traffic(bytes, 1));
      time.one += cost.ended(work, overhead, 1);
      time.all += cost.ended(work / cores, overhead, cores);
    };
    llvm::TypeSwitch<Operation *>(command)
        .Case([&](exec::LaunchOp launch) {
          double cores = std::clamp(double(launch.getExtent()) /
                                        double(std::max<int64_t>(1, launch.getGrain())),
                                    1.0, cost.threads);
          add(launch.getFlops().convertToDouble(), launch.getTraffic().convertToDouble(), cores,
              cost.machine.launch);
        })
        .Case([&](exec::LibraryOp call) {
          double flops = call.getFlops().convertToDouble(),
                 bytes = call.getTraffic().convertToDouble();
          add(flops, bytes, cost.coresFor(flops + bytes), cost.machine.call);
        })
        .Case([&](exec::CopyOp copy) { add(0, 2 * double(copy.getBytes()), 1, 0); })
        .Case([&](exec::FillOp fill) { add(0, double(fill.getTo().getType().getBytes()), 1, 0); });
    for (Region &region : command->getRegions())
      for (Operation &inner : region.front()) {
        CommandTime each = timeOf(&inner);
        time.all += each.all;
        time.one += each.one;
      }
    if (auto loop = dyn_cast<exec::LoopOp>(command)) {
      double trips = tripCount(loop);
      time.all *= trips;
      time.one *= trips;
    }
    return time;
  }

  /// Returns the number of iterations of a loop if it is constant, otherwise 1.
  static double tripCount(exec::LoopOp loop) {
    auto constant = loop.getTrip() ? loop.getTrip().getDefiningOp<exec::ConstantOp>() : nullptr;
    auto value = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
    return value ? double((*value.begin()).getSExtValue()) : 1;
  }

  exec::ProgramOp program;
  const CostModel &cost;
  SmallVector<Operation *> commands;
  SmallVector<SmallVector<MemoryAccess>> accesses; ///< bytes that each command accesses
};

} // namespace

void markConcurrentLoops(exec::ProgramOp program, const CostModel &cost) {
  if (cost.threads > 1 && !program.getStreamsAttr())
    ConcurrentLoopMarker(program, cost).run();
}

} // namespace dlc::lower
