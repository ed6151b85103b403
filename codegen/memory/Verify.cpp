//===- Verify.cpp - whose bytes does each command read? -------------------===//
#include "codegen/memory/Memory.h"

using namespace mlir;

namespace dlc {

namespace {

class Player {
public:
  explicit Player(exec::ProgramOp program) : arena(program.getArena().value_or(0)) {}

  LogicalResult play(Block &block) {
    for (Operation &op : block) {
      if (isa<exec::ViewOp, exec::AllocOp, exec::InputOp, exec::OutputOp, exec::ConstantOp>(op))
        continue;
      if (failed(command(op)))
        return failure();
    }
    return success();
  }

private:
  struct Range {
    int64_t start, end;
    Value root;
  };

  std::optional<Range> rangeOf(Value buffer, bool whole) {
    auto [root, offset] = rootOf(buffer);
    auto alloc = root.getDefiningOp<exec::AllocOp>();
    if (!alloc)
      return std::nullopt;
    int64_t start = int64_t(*alloc.getOffset()) + (whole ? 0 : offset);
    int64_t bytes = cast<exec::BufferType>((whole ? root : buffer).getType()).getBytes();
    return Range{start, start + bytes, root};
  }

  LogicalResult write(Operation &op, Value buffer, bool whole = false) {
    auto range = rangeOf(buffer, whole);
    if (!range)
      return success();
    if (range->start < 0 || range->end > arena)
      return op.emitError("memory: writes bytes ") << range->start << " to " << range->end << " of an arena of " << arena;
    cut(range->start), cut(range->end);
    owners.erase(owners.lower_bound(range->start), owners.lower_bound(range->end));
    if (range->start < range->end)
      owners[range->start] = {range->end, range->root};
    return success();
  }

  LogicalResult read(Operation &op, Value buffer) {
    auto range = rangeOf(buffer, false);
    if (!range)
      return success();
    int64_t at = range->start;
    while (at < range->end) {
      auto it = owners.upper_bound(at);
      if (it == owners.begin() || std::prev(it)->second.first <= at)
        return op.emitError("memory: reads byte ") << at << " of the arena, which nothing has written";
      --it;
      if (it->second.second != range->root) {
        auto diag = op.emitError("memory: reads byte ") << at << " of the arena, but another live buffer was written there";
        diag.attachNote(it->second.second.getLoc()) << "by this one";
        return diag;
      }
      at = it->second.first;
    }
    return success();
  }

  /// Splits the range that spans `at`.
  void cut(int64_t at) {
    auto it = owners.upper_bound(at);
    if (it == owners.begin())
      return;
    --it;
    if (it->first < at && it->second.first > at) {
      auto [end, root] = it->second;
      it->second.first = at;
      owners[at] = {end, root};
    }
  }

  LogicalResult command(Operation &op) {
    if (isa<exec::LaunchOp, exec::LibraryOp>(op)) {
      auto writes = op.getAttrOfType<DenseI64ArrayAttr>("writes").asArrayRef();
      for (auto [i, buffer] : llvm::enumerate(op.getOperands()))
        if (!llvm::is_contained(writes, int64_t(i)) && failed(read(op, buffer)))
          return failure();
      // A buffer written while a different one at the same place is still being read is legal only where the command
      // says so.
      auto inplace = op.getAttrOfType<DenseI64ArrayAttr>("inplace").asArrayRef();
      for (int64_t w : writes) {
        auto target = rangeOf(op.getOperand(w), false);
        for (auto [i, buffer] : llvm::enumerate(op.getOperands())) {
          auto source = rangeOf(buffer, false);
          if (int64_t(i) == w || !target || !source || target->end <= source->start || source->end <= target->start)
            continue;
          bool allowed = false;
          for (size_t p = 0; p + 1 < inplace.size(); p += 2)
            allowed |= inplace[p] == w && inplace[p + 1] == int64_t(i) && source->start == target->start;
          if (!allowed)
            return op.emitError("memory: buffers ") << w << " and " << i << " overlap, which the command does not allow";
        }
      }
      for (int64_t w : writes)
        if (failed(write(op, op.getOperand(w))))
          return failure();
      return success();
    }
    if (auto copy = dyn_cast<exec::CopyOp>(op))
      return failure(failed(read(op, copy.getFrom())) || failed(write(op, copy.getTo(), copy.getToStep() != 0)));
    if (auto fill = dyn_cast<exec::FillOp>(op))
      return write(op, fill.getTo());
    if (auto branch = dyn_cast<exec::IfOp>(op)) {
      if (failed(read(op, branch.getCondition())))
        return failure();
      auto before = owners;
      if (failed(play(branch.getThenRegion().front())))
        return failure();
      // After a branch only what both sides agree on is certain; both write the results.
      auto afterThen = std::exchange(owners, before);
      return play(branch.getElseRegion().front());
    }
    auto loop = cast<exec::LoopOp>(op);
    // Twice: the second round meets what the first one left behind.
    for (int round = 0; round < 2; ++round) {
      if (loop.getTrip() && failed(read(op, loop.getTrip())))
        return failure();
      if (loop.getCondition() && failed(read(op, loop.getCondition())))
        return failure();
      if (loop.getIndex() && failed(write(op, loop.getIndex())))
        return failure();
      if (failed(play(loop.getBody().front())))
        return failure();
    }
    return success();
  }

  int64_t arena;
  std::map<int64_t, std::pair<int64_t, Value>> owners; // start -> end, whose
};

} // namespace

LogicalResult verifyMemory(ModuleOp module) {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(Player(program).play(program.getBody().front())))
      return failure();
  return success();
}

} // namespace dlc
