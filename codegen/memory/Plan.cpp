//===- Plan.cpp - lifetimes, and where each buffer lies -------------------===//
#include "codegen/memory/Memory.h"

using namespace mlir;

namespace dlc {

std::pair<Value, int64_t> rootOf(Value buffer) {
  int64_t offset = 0;
  while (auto view = buffer.getDefiningOp<exec::ViewOp>()) {
    offset += int64_t(view.getOffset());
    buffer = view.getSource();
  }
  return {buffer, offset};
}

namespace {

constexpr int64_t kAlign = 64;

struct Life {
  exec::AllocOp alloc;
  int64_t bytes = 0, first = INT64_MAX, last = -1, offset = -1;
  Life *mergedInto = nullptr;

  Life *representative() { return mergedInto ? mergedInto->representative() : this; }
  bool overlaps(const Life &other) const { return first <= other.last && other.first <= last; }
};

class Planner {
public:
  explicit Planner(exec::ProgramOp program) : program(program) {}

  void run() {
    number(program.getBody().front());
    visit(program.getBody().front());
    mergeInPlace();
    place();
  }

private:
  void number(Block &block) {
    for (Operation &op : block) {
      begin[&op] = clock++;
      for (Region &region : op.getRegions())
        number(region.front());
      end[&op] = clock - 1;
    }
  }

  void use(Value buffer, Operation *by) {
    auto alloc = rootOf(buffer).first.getDefiningOp<exec::AllocOp>();
    if (!alloc)
      return;
    Life &life = lives[alloc];
    if (!life.alloc) {
      life.alloc = alloc;
      life.bytes = alloc.getBuffer().getType().getBytes();
      order.push_back(&life);
    }
    int64_t from = begin[by], to = end[by];
    // What a loop uses from outside must outlive every iteration.
    for (Operation *parent = by->getParentOp(); parent != alloc->getParentOp(); parent = parent->getParentOp())
      if (isa<exec::LoopOp>(parent)) {
        from = std::min(from, begin[parent]);
        to = std::max(to, end[parent]);
      }
    life.first = std::min(life.first, from);
    life.last = std::max(life.last, to);
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (isa<exec::ViewOp>(op))
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
      llvm::SmallPtrSet<Life *, 4> taken; // each operand has room for one result
      for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        Value written = op->getOperand(pairs[i]), read = op->getOperand(pairs[i + 1]);
        // Whole buffers only: a view may leave the rest alive.
        auto to = written.getDefiningOp<exec::AllocOp>(), from = read.getDefiningOp<exec::AllocOp>();
        if (!to || !from || to == from || to->getBlock() != from->getBlock())
          continue;
        Life &target = lives[to];
        Life *source = lives[from].representative();
        if (target.mergedInto || target.representative() == source || target.bytes > source->bytes)
          continue;
        if (source->last != begin[op] || target.first != begin[op] || taken.contains(source))
          continue;
        // Another operand that looks into the same buffer would be overwritten while it is read.
        bool shared = false;
        for (auto [p, operand] : llvm::enumerate(op->getOperands()))
          if (auto alloc = rootOf(operand).first.getDefiningOp<exec::AllocOp>(); alloc && int64_t(p) != pairs[i + 1])
            shared |= lives[alloc].representative() == source;
        if (shared)
          continue;
        target.mergedInto = source;
        source->last = std::max(source->last, target.last);
        taken.insert(source);
      }
    }
  }

  /// Large buffers first, each at the lowest place that no buffer alive at the same time takes.
  void place() {
    SmallVector<Life *> roots;
    for (Life *life : order)
      if (!life->mergedInto)
        roots.push_back(life);
    llvm::stable_sort(roots, [](Life *a, Life *b) { return a->bytes > b->bytes; });
    SmallVector<Life *> placed; // by offset
    int64_t arena = 0;
    for (Life *life : roots) {
      int64_t bytes = (life->bytes + kAlign - 1) / kAlign * kAlign, best = 0;
      for (Life *other : placed) {
        if (!other->overlaps(*life))
          continue;
        if (other->offset >= best + bytes)
          break;
        best = std::max(best, (other->offset + other->bytes + kAlign - 1) / kAlign * kAlign);
      }
      life->offset = best;
      arena = std::max(arena, best + bytes);
      placed.insert(llvm::upper_bound(placed, life, [](Life *a, Life *b) { return a->offset < b->offset; }), life);
    }
    OpBuilder b(program.getContext());
    for (Life *life : order)
      life->alloc.setOffsetAttr(b.getI64IntegerAttr(life->representative()->offset));
    program.walk([&](exec::AllocOp alloc) {
      if (!alloc.getOffset())
        alloc.setOffsetAttr(b.getI64IntegerAttr(0)); // never used
    });
    program.setArenaAttr(b.getI64IntegerAttr(arena));
  }

  exec::ProgramOp program;
  int64_t clock = 0;
  llvm::DenseMap<Operation *, int64_t> begin, end;
  std::map<Operation *, Life> lives; // stable addresses
  SmallVector<Life *> order;
  SmallVector<Operation *> commands;
};

} // namespace

LogicalResult planMemory(ModuleOp module) {
  for (auto program : module.getOps<exec::ProgramOp>())
    Planner(program).run();
  return success();
}

} // namespace dlc
