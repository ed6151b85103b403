//===- Plan.cpp - live ranges and offsets of buffers ----------------------===//
#include "codegen/memory/Clocks.h"
#include "codegen/memory/Memory.h"
#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc {

std::pair<Value, int64_t> findRootBuffer(Value buffer) {
  int64_t offset = 0;
  while (auto view = buffer.getDefiningOp<exec::ViewOp>()) {
    offset += int64_t(view.getOffset());
    buffer = view.getSource();
  }
  return {buffer, offset};
}

int64_t getViewStep(Value buffer) {
  int64_t step = 0;
  while (auto view = buffer.getDefiningOp<exec::ViewOp>()) {
    step += int64_t(view.getStep());
    buffer = view.getSource();
  }
  return step;
}

BufferExtent getBufferExtent(Value buffer) {
  auto [root, start] = findRootBuffer(buffer);
  bool moves = getViewStep(buffer) != 0;
  Value whole = moves ? root : buffer;
  return {root, moves ? 0 : start, cast<exec::BufferType>(whole.getType()).getBytes()};
}

namespace {

constexpr int64_t kAlign = 64;
/// Minimum bytes of an unused arena range that is offered to a library as scratch memory.
constexpr int64_t kMinRoom = 4096;

struct LiveRange {
  exec::AllocOp alloc;
  int64_t bytes = 0, offset = -1;
  /// Live range of the buffer. first[s]: commands of stream s below this number are complete before
  /// the first use. last[s]: number of the last command of stream s that uses the buffer.
  SmallVector<int64_t> first, last;
  /// Loops that use the buffer and run concurrently with other loops.
  llvm::SmallDenseSet<Operation *, 2> concurrent;
  LiveRange *mergedInto = nullptr;

  LiveRange *representative() { return mergedInto ? mergedInto->representative() : this; }
  bool isOverBefore(const LiveRange &other) const {
    return llvm::all_of(llvm::zip(last, other.first),
                        [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
  }
  bool overlaps(const LiveRange &other) const {
    return !isOverBefore(other) && !other.isOverBefore(*this);
  }
};

class ArenaPlanner {
public:
  explicit ArenaPlanner(exec::ProgramOp program) : program(program), clocks(program) {
    for (auto [number, group] : llvm::enumerate(exec::concurrentLoops(program)))
      for (exec::LoopOp loop : group)
        groupOf[loop] = number;
  }

  void run() {
    visit(program.getBody().front());
    mergeInPlace();
    place();
  }

private:
  void use(Value buffer, Operation *by) {
    auto alloc = findRootBuffer(buffer).first.getDefiningOp<exec::AllocOp>();
    if (!alloc)
      return;
    LiveRange &life = lives[alloc];
    if (!life.alloc) {
      life.alloc = alloc;
      life.bytes = alloc.getBuffer().getType().getBytes();
      life.first.assign(clocks.streams(), INT64_MAX);
      life.last.assign(clocks.streams(), -1);
      order.push_back(&life);
    }
    unsigned stream = clocks.stream(by);
    SmallVector<int64_t> from = clocks.known(by);
    int64_t to = clocks.end(by);
    // A buffer that is used in a loop and allocated outside of it must stay alive for all
    // iterations.
    for (Operation *parent = by->getParentOp(); parent != alloc->getParentOp();
         parent = parent->getParentOp())
      if (isa<exec::LoopOp>(parent)) {
        from[stream] = std::min(from[stream], clocks.begin(parent));
        to = std::max(to, clocks.end(parent));
      }
    for (auto [first, mine] : llvm::zip(life.first, from))
      first = std::min(first, mine);
    life.last[stream] = std::max(life.last[stream], to);
    if (Operation *loop = concurrentLoop(by))
      life.concurrent.insert(loop);
  }

  /// Returns the top-level loop that is or contains the command if it runs concurrently with other
  /// loops; otherwise null.
  Operation *concurrentLoop(Operation *command) {
    Operation *top = program.getBody().findAncestorOpInRegion(*command);
    return groupOf.count(top) ? top : nullptr;
  }

  /// Returns true if two loops that run concurrently use the buffers `a` and `b`, which then cannot
  /// share memory.
  bool areConcurrent(const LiveRange &a, const LiveRange &b) const {
    for (Operation *loop : a.concurrent)
      for (Operation *other : b.concurrent)
        if (loop != other && groupOf.lookup(loop) == groupOf.lookup(other))
          return true;
    return false;
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (!exec::getStreamNumber(&op))
        continue;
      for (Value operand : op.getOperands())
        use(operand, &op);
      for (Region &region : op.getRegions())
        visit(region.front());
      if (isa<exec::LaunchOp, exec::LibraryOp>(op))
        commands.push_back(&op);
    }
  }

  void mergeInPlace() {
    for (Operation *op : commands) {
      auto pairs = op->getAttrOfType<DenseI64ArrayAttr>("inplace").asArrayRef();
      // Operand buffers that a result of the command already reuses.
      llvm::SmallPtrSet<LiveRange *, 4> taken;
      for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        Value written = op->getOperand(pairs[i]), read = op->getOperand(pairs[i + 1]);
        // Only whole buffers are merged: if an operand is a view, other views may keep the rest of
        // its buffer alive.
        auto to = written.getDefiningOp<exec::AllocOp>(),
             from = read.getDefiningOp<exec::AllocOp>();
        if (!to || !from || to == from || to->getBlock() != from->getBlock())
          continue;
        LiveRange &target = lives[to];
        LiveRange *source = lives[from].representative();
        if (target.mergedInto || target.representative() == source || target.bytes > source->bytes)
          continue;
        if (!diesAt(*source, op) || areConcurrent(*source, target) ||
            (concurrentLoop(op) && areConcurrent(*source, *source)) ||
            target.first[clocks.stream(op)] != clocks.begin(op) || taken.contains(source))
          continue;
        // If another operand of the command refers to the same buffer, the command would overwrite
        // that operand while it reads it.
        bool shared = false;
        for (auto [p, operand] : llvm::enumerate(op->getOperands()))
          if (auto alloc = findRootBuffer(operand).first.getDefiningOp<exec::AllocOp>();
              alloc && int64_t(p) != pairs[i + 1])
            shared |= lives[alloc].representative() == source;
        if (shared)
          continue;
        target.mergedInto = source;
        for (auto [mine, theirs] : llvm::zip(source->last, target.last))
          mine = std::max(mine, theirs);
        for (auto [mine, theirs] : llvm::zip(source->first, target.first))
          mine = std::min(mine, theirs);
        source->concurrent.insert(target.concurrent.begin(), target.concurrent.end());
        taken.insert(source);
      }
    }
  }

  /// Returns true if the command is the last use of the buffer and all other uses are complete when
  /// it begins.
  bool diesAt(const LiveRange &life, Operation *op) const {
    unsigned stream = clocks.stream(op);
    for (auto [i, bound] : llvm::enumerate(clocks.known(op)))
      if (i == stream ? life.last[i] != clocks.begin(op) : life.last[i] >= bound)
        return false;
    return true;
  }

  using Arenas = std::map<std::string, int64_t>;

  /// Assigns offsets twice: in descending order of size, and of size times lifetime. Keeps the
  /// assignment that needs less memory.
  void place() {
    SmallVector<LiveRange *> roots;
    for (LiveRange *life : order)
      if (!life->mergedInto)
        roots.push_back(life);
    auto total = [](const Arenas &arenas) {
      int64_t sum = 0;
      for (auto &[device, bytes] : arenas)
        sum += bytes;
      return sum;
    };
    llvm::DenseMap<LiveRange *, double> spaceAndTime;
    for (LiveRange *life : roots) {
      double time = 1;
      for (auto [first, last] : llvm::zip(life->first, life->last))
        time += first <= last ? double(last - first) : 0;
      spaceAndTime[life] = double(life->bytes) * time;
    }
    SmallVector<LiveRange *> bySize(roots), bySpaceAndTime(roots);
    llvm::stable_sort(bySize, [](LiveRange *a, LiveRange *b) { return a->bytes > b->bytes; });
    llvm::stable_sort(bySpaceAndTime, [&](LiveRange *a, LiveRange *b) {
      return spaceAndTime.lookup(a) > spaceAndTime.lookup(b);
    });
    Arenas other = placeInOrder(bySpaceAndTime);
    SmallVector<int64_t> offsets =
        llvm::map_to_vector(roots, [](LiveRange *l) { return l->offset; });
    Arenas arenas = placeInOrder(bySize);
    if (total(other) < total(arenas)) {
      arenas = other;
      for (auto [life, offset] : llvm::zip(roots, offsets))
        life->offset = offset;
    }
    write(arenas);
    // Unused ranges are offered only in programs with one stream, because commands of concurrent
    // streams would have to share them.
    auto streams = program.getStreamDevices();
    if (streams.size() == 1 && streams[0] == exec::kHost)
      for (Operation *op : commands)
        if (isa<exec::LibraryOp>(op))
          writeRoom(op, roots, arenas[exec::kHost.str()]);
  }

  /// Finds the largest range of the arena that is unused while the command runs. Stores it as an
  /// attribute of the command, so that the library may use it as scratch memory.
  void writeRoom(Operation *op, ArrayRef<LiveRange *> roots, int64_t arena) {
    // An earlier plan may have set the attribute.
    op->removeAttr(kWorkspaceAttr);
    if (concurrentLoop(op))
      return; // commands of concurrent loops would use the same range at the same time
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (LiveRange *life : roots)
      if (life->first[0] <= clocks.end(op) && clocks.begin(op) <= life->last[0])
        taken.push_back({life->offset, life->offset + life->bytes});
    taken.push_back({arena, arena});
    llvm::sort(taken);
    int64_t at = 0, offset = 0, bytes = 0;
    for (auto [start, end] : taken) {
      if (start - at > bytes)
        offset = at, bytes = start - at;
      at = std::max(at, (end + kAlign - 1) / kAlign * kAlign);
    }
    if (bytes >= kMinRoom)
      op->setAttr(kWorkspaceAttr, DenseI64ArrayAttr::get(op->getContext(), {offset, bytes}));
  }

  /// Assigns an offset to each buffer, in the given order: the lowest offset that does not overlap
  /// another buffer with an overlapping live range (first fit). Returns the arena size of each
  /// device.
  Arenas placeInOrder(ArrayRef<LiveRange *> roots) {
    // Buffers of each device that have an offset, sorted by offset.
    std::map<std::string, SmallVector<LiveRange *>> placedOn;
    Arenas arenas;
    for (LiveRange *life : roots) {
      std::string device = life->alloc.getBuffer().getType().getDevice().str();
      SmallVector<LiveRange *> &placed = placedOn[device];
      int64_t &arena = arenas[device];
      int64_t bytes = (life->bytes + kAlign - 1) / kAlign * kAlign, best = 0;
      for (LiveRange *other : placed) {
        if (!other->overlaps(*life) && !areConcurrent(*other, *life))
          continue;
        if (other->offset >= best + bytes)
          break;
        best = std::max(best, (other->offset + other->bytes + kAlign - 1) / kAlign * kAlign);
      }
      life->offset = best;
      arena = std::max(arena, best + bytes);
      placed.insert(
          llvm::upper_bound(placed, life,
                            [](LiveRange *a, LiveRange *b) { return a->offset < b->offset; }),
          life);
    }
    return arenas;
  }

  void write(Arenas &arenas) {
    OpBuilder b(program.getContext());
    for (LiveRange *life : order)
      life->alloc.setOffsetAttr(b.getI64IntegerAttr(life->representative()->offset));
    program.walk([&](exec::AllocOp alloc) {
      // The buffer is never used, so that any offset is valid.
      if (!alloc.getOffset())
        alloc.setOffsetAttr(b.getI64IntegerAttr(0));
    });
    program.setArenaAttr(b.getI64IntegerAttr(arenas[exec::kHost.str()]));
    SmallVector<NamedAttribute> elsewhere;
    for (auto &[device, bytes] : arenas)
      if (device != exec::kHost)
        elsewhere.push_back(b.getNamedAttr(device, b.getI64IntegerAttr(bytes)));
    if (!elsewhere.empty())
      program.setArenasAttr(b.getDictionaryAttr(elsewhere));
  }

  exec::ProgramOp program;
  LogicalClocks clocks;
  // Live range of each buffer; a map, because pointers to its elements must remain valid.
  std::map<Operation *, LiveRange> lives;
  /// For each loop that runs concurrently with others: index of the set of loops that run at the
  /// same time.
  llvm::DenseMap<Operation *, size_t> groupOf;
  SmallVector<LiveRange *> order;
  SmallVector<Operation *> commands;
};

} // namespace

LogicalResult planMemory(ModuleOp module) {
  for (auto program : module.getOps<exec::ProgramOp>())
    ArenaPlanner(program).run();
  return success();
}

} // namespace dlc
