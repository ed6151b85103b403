//===- Verify.cpp - checks that every byte read belongs to the buffer that is read ---===//
#include "codegen/memory/Memory.h"
#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc {

namespace {

/// Simulated memory of an arena or a state: its size, and the buffer that owns each byte. The owner
/// of a state's byte is the first StateOp of its old or new value. A null owner means that the
/// contents are unknown.
struct SimulatedMemory {
  int64_t bytes = 0;
  // Map from the start of a range to its end and its owner.
  std::map<int64_t, std::pair<int64_t, Value>> owners;

  /// Splits the range that contains the offset `at` into two ranges.
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

  void give(int64_t start, int64_t end, Value owner) {
    cut(start), cut(end);
    owners.erase(owners.lower_bound(start), owners.lower_bound(end));
    if (start < end)
      owners[start] = {end, owner};
  }

  /// Returns the first byte in [start, end) that does not belong to `owner`, and its owner (null:
  /// none). Returns std::nullopt if all bytes belong to `owner`.
  std::optional<std::pair<int64_t, Value>> findOther(int64_t start, int64_t end,
                                                     Value owner) const {
    for (int64_t at = start; at < end;) {
      auto it = owners.upper_bound(at);
      if (it == owners.begin() || std::prev(it)->second.first <= at)
        return std::pair(at, Value());
      --it;
      if (it->second.second != owner)
        return std::pair(at, it->second.second);
      at = it->second.first;
    }
    return std::nullopt;
  }
};

class ProgramSimulator {
public:
  explicit ProgramSimulator(exec::ProgramOp program) : program(program), memories(1) {
    memories[0].bytes = program.getArena().value_or(0);
    devices.push_back(exec::kHost);
    if (DictionaryAttr arenas = program.getArenasAttr())
      for (NamedAttribute arena : arenas) {
        devices.push_back(arena.getName().getValue());
        memories.emplace_back().bytes = cast<IntegerAttr>(arena.getValue()).getInt();
      }
    // At the beginning, states contain their old values.
    for (auto state : program.getBody().getOps<exec::StateOp>()) {
      size_t index = devices.size() + state.getIndex();
      memories.resize(std::max(memories.size(), index + 1));
      int64_t bytes = memories[index].bytes = state.getBuffer().getType().getBytes();
      Value &name = names[{index, state.getFresh()}];
      if (!name)
        name = state;
      if (!state.getFresh())
        memories[index].give(0, bytes, name);
    }
  }

  LogicalResult playAll() {
    if (failed(play(program.getBody().front())))
      return failure();
    for (auto [key, name] : names)
      if (auto &[index, fresh] = key; fresh)
        if (auto other = memories[index].findOther(0, memories[index].bytes, name))
          return name.getDefiningOp()->emitError("invalid memory plan (a bug of dlc unless the "
                                                 "module was edited): no command has written byte ")
                 << other->first << " of state " << index - devices.size()
                 << "'s new value when the program ends";
    return success();
  }

private:
  LogicalResult play(Block &block) {
    for (Operation &op : block) {
      if (op.hasTrait<exec::NamesMemory>() || isa<exec::RecordOp, exec::WaitOp>(op))
        continue;
      if (failed(command(op)))
        return failure();
    }
    return success();
  }

  struct Range {
    // Index of a device with an arena, or the number of devices plus the index of a state.
    size_t memory;
    int64_t start, end;
    Value owner;
    bool overlaps(const Range &other) const {
      return memory == other.memory && start < other.end && other.start < end;
    }
  };

  std::optional<Range> rangeOf(Value buffer, bool whole) {
    auto [root, offset] = findRootBuffer(buffer);
    int64_t start = whole ? 0 : offset;
    int64_t bytes = cast<exec::BufferType>((whole ? root : buffer).getType()).getBytes();
    if (auto state = root.getDefiningOp<exec::StateOp>()) {
      size_t index = devices.size() + state.getIndex();
      return Range{index, start, start + bytes, names[{index, state.getFresh()}]};
    }
    auto alloc = root.getDefiningOp<exec::AllocOp>();
    if (!alloc)
      return std::nullopt;
    start += int64_t(*alloc.getOffset());
    size_t device = llvm::find(devices, alloc.getBuffer().getType().getDevice()) - devices.begin();
    // A device without an arena has no memory, so that the range is invalid.
    if (device == devices.size())
      return Range{0, start, INT64_MAX, root};
    return Range{device, start, start + bytes, root};
  }

  LogicalResult write(Operation &op, Value buffer) {
    auto range = rangeOf(buffer, getViewStep(buffer) != 0);
    if (!range)
      return success();
    SimulatedMemory &memory = memories[range->memory];
    if (range->start < 0 || range->end > memory.bytes)
      return op.emitError(
                 "invalid memory plan (a bug of dlc unless the module was edited): writes bytes ")
             << range->start << " to " << range->end << " of "
             << (range->memory >= devices.size() ? "a state" : "an arena") << " of "
             << memory.bytes;
    if (auto state = range->owner.getDefiningOp<exec::StateOp>(); state && !state.getFresh())
      return op.emitError("invalid memory plan (a bug of dlc unless the module was edited): writes "
                          "the old value of state ")
             << state.getIndex();
    memory.give(range->start, range->end, range->owner);
    return success();
  }

  LogicalResult read(Operation &op, Value buffer) {
    auto range = rangeOf(buffer, false);
    if (!range)
      return success();
    auto other = memories[range->memory].findOther(range->start, range->end, range->owner);
    if (!other)
      return success();
    if (auto state = range->owner.getDefiningOp<exec::StateOp>())
      return op.emitError(
                 "invalid memory plan (a bug of dlc unless the module was edited): reads byte ")
             << other->first << " of state " << state.getIndex() << "'s "
             << (state.getFresh() ? "new value, which no command has written yet"
                                  : "old value, which was overwritten");
    if (!other->second)
      return op.emitError(
                 "invalid memory plan (a bug of dlc unless the module was edited): reads byte ")
             << other->first << " of the arena, which no command has written";
    auto diag =
        op.emitError("invalid memory plan (a bug of dlc unless the module was edited): reads byte ")
        << other->first << " of the arena, but another live buffer has overwritten it";
    diag.attachNote(other->second.getLoc()) << "overwritten by this command";
    return diag;
  }

  /// Joins the states after the two branches of an exec.if. A state whose contents differ gets no
  /// owner, because they are unknown.
  void joinStates(const std::vector<SimulatedMemory> &other) {
    for (size_t i = devices.size(); i < memories.size(); ++i)
      if (memories[i].owners != other[i].owners)
        memories[i].give(0, memories[i].bytes, Value());
  }

  /// Checks that the arena range that a library uses as scratch memory does not overlap the
  /// command's operands. The range has no owner afterwards.
  LogicalResult clearRoom(Operation &op, ArrayRef<int64_t> workspace) {
    Range range{0, workspace[0], workspace[0] + workspace[1], Value()};
    if (range.start < 0 || range.end > memories[0].bytes)
      return op.emitError("invalid memory plan (a bug of dlc unless the module was edited): its "
                          "scratch range, bytes ")
             << range.start << " to " << range.end << ", exceeds the arena of "
             << memories[0].bytes;
    for (auto [i, buffer] : llvm::enumerate(op.getOperands()))
      if (auto used = rangeOf(buffer, getViewStep(buffer) != 0); used && used->overlaps(range))
        return op.emitError("invalid memory plan (a bug of dlc unless the module was edited): its "
                            "scratch range overlaps buffer ")
               << i;
    memories[0].give(range.start, range.end, Value());
    return success();
  }

  LogicalResult command(Operation &op) {
    if (isa<exec::LaunchOp, exec::LibraryOp>(op)) {
      if (auto workspace = op.getAttrOfType<DenseI64ArrayAttr>(kWorkspaceAttr);
          workspace && failed(clearRoom(op, workspace.asArrayRef())))
        return failure();
      auto writes = op.getAttrOfType<DenseI64ArrayAttr>("writes").asArrayRef();
      for (auto [i, buffer] : llvm::enumerate(op.getOperands()))
        if (!llvm::is_contained(writes, int64_t(i)) && failed(read(op, buffer)))
          return failure();
      // A command may write a buffer that overlaps another operand only if its attribute `inplace`
      // allows this pair.
      auto inplace = op.getAttrOfType<DenseI64ArrayAttr>("inplace").asArrayRef();
      for (int64_t w : writes) {
        auto target = rangeOf(op.getOperand(w), false);
        for (auto [i, buffer] : llvm::enumerate(op.getOperands())) {
          auto source = rangeOf(buffer, false);
          if (int64_t(i) == w || !target || !source || !target->overlaps(*source))
            continue;
          bool allowed = false;
          for (size_t p = 0; p + 1 < inplace.size(); p += 2)
            allowed |=
                inplace[p] == w && inplace[p + 1] == int64_t(i) && source->start == target->start;
          if (!allowed)
            return op.emitError(
                       "invalid memory plan (a bug of dlc unless the module was edited): buffers ")
                   << w << " and " << i << " overlap, which the command does not allow";
        }
      }
      for (int64_t w : writes)
        if (failed(write(op, op.getOperand(w))))
          return failure();
      return success();
    }
    if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      auto from = rangeOf(copy.getFrom(), false), to = rangeOf(copy.getTo(), false);
      // The old and the new value of a state share memory, so that a copy between them at the same
      // offset has no effect. A copy to an overlapping range at another offset would overwrite its
      // own source.
      if (from && to && from->memory >= devices.size() && from->overlaps(*to) &&
          from->start != to->start)
        return op.emitError("invalid memory plan (a bug of dlc unless the module was edited): "
                            "copies a part of a state over another part of it");
      return failure(failed(read(op, copy.getFrom())) || failed(write(op, copy.getTo())));
    }
    if (auto fill = dyn_cast<exec::FillOp>(op))
      return write(op, fill.getTo());
    if (auto branch = dyn_cast<exec::IfOp>(op)) {
      if (failed(read(op, branch.getCondition())))
        return failure();
      auto before = memories;
      if (failed(play(branch.getThenRegion().front())))
        return failure();
      // After a branch, the contents of a byte are known only if they are the same on both paths.
      // Both paths write the results.
      auto afterThen = std::exchange(memories, before);
      if (failed(play(branch.getElseRegion().front())))
        return failure();
      joinStates(afterThen);
      return success();
    }
    auto loop = cast<exec::LoopOp>(op);
    // The loop is simulated twice: the second iteration starts with the memory that the first one
    // leaves.
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

  exec::ProgramOp program;
  std::vector<SimulatedMemory> memories;
  SmallVector<StringRef> devices; ///< devices that have an arena
  /// Owner of each state's bytes, by the state's index and whether the value is new.
  std::map<std::pair<size_t, bool>, Value> names;
};

} // namespace

LogicalResult verifyMemory(ModuleOp module) {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(ProgramSimulator(program).playAll()) || failed(verifyRaces(program)))
      return failure();
  return success();
}

} // namespace dlc
