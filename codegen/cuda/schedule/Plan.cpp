//===- Plan.cpp - splits a fusion into launches ---------------------------===//
#include "codegen/cuda/Plan.h"
#include "codegen/cuda/contract/Bytes.h"
#include "ir/dlc/Contraction.h"

#include "codegen/cpu/Inplace.h"
#include "codegen/cuda/contract/Attention.h"
#include "codegen/cuda/contract/TileShape.h"
#include "passes/fuse/attention/FusedAttention.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

bool isStandaloneKernelOp(Operation *op) {
  return isa<TopKOp, NmsOp, CumulativeOp, ScatterElementsOp, ScatterNdOp, GroupedMatmulOp,
             GroupedWeightGradOp>(op);
}

/// A reduction with fewer terms is computed by a loop in the thread that needs its result.
constexpr int64_t kFewTerms = 16;
/// A contraction with fewer multiply-adds is computed by loops in the threads that need its result.
constexpr int64_t kSmallProduct = 1 << 13;
/// A reduction of fewer than kFewRows rows that are longer than kLongRow elements is split into
/// parts.
constexpr int64_t kFewRows = 64, kLongRow = 4096;

Block &bodyOf(FusionOp fusion) { return fusion.getBody().front(); }

void emitContractionKernel(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  !isIntegerContraction(op) && usesWindowKernel(plan, op) ? emitWindowKernel(plan, op, targets)
                                                          : emitTiledContraction(plan, op, targets);
}

} // namespace

int64_t countMultiplyAdds(Operation *op) {
  return typeOf(op->getResult(0)).getNumElements() * multiplyDims(foldedExtents(op));
}

std::optional<Indices> indexInTarget(const KernelGenerator &plan, Emitter &e, Operation *op,
                                     Value target, const Indices &at) {
  Operation *def = target.getDefiningOp();
  if (def == op)
    return at;
  if (!def || plan.known.count(target))
    return std::nullopt;
  for (Value operand : def->getOperands()) {
    if (typeOf(operand).getNumElements() != typeOf(target).getNumElements())
      continue;
    auto from = indexInTarget(plan, e, op, operand, at);
    if (!from)
      continue;
    if (auto transpose = dyn_cast<TransposeOp>(def)) {
      Indices transposed;
      for (int64_t d : transpose.getPermutation())
        transposed.push_back((*from)[d]);
      return transposed;
    }
    return shapeOf(operand) == shapeOf(target)
               ? *from
               : e.x.reshape(shapeOf(operand), shapeOf(target), *from);
  }
  return std::nullopt;
}

bool isKernelOp(Operation *op) {
  return isStandaloneKernelOp(op) || isAttention(op) ||
         (op->hasTrait<OwnKernel>() && isa<IndexMapped>(op)) || isa<FusionOp, RandomOp>(op);
}

FusionOp wrapInFusion(OpBuilder &b, Operation *op) {
  if (auto fusion = dyn_cast<FusionOp>(op))
    return fusion;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  auto fusion = FusionOp::create(b, op->getLoc(), op->getResultTypes(), op->getOperands());
  Block &body = fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : bodyOf(fusion);
  body.clear();
  IRMapping map;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    map.map(operand, body.addArgument(operand.getType(), operand.getLoc()));
  b.setInsertionPointToEnd(&body);
  Operation *inner = b.clone(*op, map);
  // If a value is used as several operands, the mapping contains only the last of its arguments, so
  // each operand is set separately.
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inner->setOperand(i, body.getArgument(i));
  YieldOp::create(b, op->getLoc(), inner->getResults());
  return fusion;
}

bool canGenerate(FusionOp fusion, std::string *why) {
  if (Operation *attention = findAttention(fusion))
    return canGenerateAttention(fusion, attention, why);
  int64_t wholes = 0, others = 0;
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    bool known = op.hasTrait<Elementwise>() || isa<IndexMapped>(op) || isStandaloneKernelOp(&op) ||
                 isa<ConstantOp, IotaOp, RandomOp>(op);
    (isStandaloneKernelOp(&op) ? wholes : others) += 1;
    if (!known) {
      if (why)
        *why = ("generated code does not support '" + op.getName().getStringRef() + "'").str();
      return false;
    }
  }
  if (wholes > 1 || (wholes == 1 && others > 0)) {
    if (why)
      *why = "sorts, cumulative sums, scatters and grouped matmuls cannot be fused";
    return false;
  }
  return true;
}

KernelGenerator::KernelGenerator(FusionOp fusion, StringRef name, const KernelOptions &options)
    : fusion(fusion), name(name.str()), options(options) {
  int64_t largest = 0;
  auto alignment = [&](size_t i) {
    return i < options.alignments.size() ? options.alignments[i] : int64_t(16);
  };
  auto count = [&](Value v) { largest = std::max(largest, typeOf(v).getNumElements()); };
  for (Operation &op : bodyOf(fusion).without_terminator())
    for (Value result : op.getResults())
      count(result);
  for (auto [i, argument] : llvm::enumerate(fusion.getBody().getArguments())) {
    count(argument);
    Buffer buffer{"in" + std::to_string(i), elementOf(argument), alignment(i)};
    buffers[buffer.name] = {{LaunchArgument::Kind::Input, unsigned(i), false}, buffer.element};
    known[argument] = buffer;
    kernel.bytes += double(typeOf(argument).getNumElements() * ref::elementBytes(buffer.element));
  }
  size_t inputs = known.size();
  for (auto [i, value] : llvm::enumerate(bodyOf(fusion).getTerminator()->getOperands())) {
    count(value);
    Buffer buffer{"out" + std::to_string(i), elementOf(value), alignment(inputs + i)};
    buffers[buffer.name] = {{LaunchArgument::Kind::Output, unsigned(i), true}, buffer.element};
    outputs.push_back({value, buffer});
    kernel.bytes += double(typeOf(value).getNumElements() * ref::elementBytes(buffer.element));
  }
  if (largest > (int64_t(1) << 30))
    indexType = "long long";
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    if (op.hasTrait<Contraction>())
      kernel.flops += 2 * double(countMultiplyAdds(&op));
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      kernel.flops += double(typeOf(reduce.getX()).getNumElements());
    else if (op.hasTrait<Elementwise>())
      kernel.flops += double(typeOf(op.getResult(0)).getNumElements());
  }
}

Buffer KernelGenerator::scratch(Type element, int64_t elements) {
  unsigned index = kernel.scratch.size();
  Buffer buffer{"tmp" + std::to_string(index), element};
  buffers[buffer.name] = {{LaunchArgument::Kind::Scratch, index, false}, element};
  kernel.scratch.push_back(elements * ref::elementBytes(element));
  return buffer;
}

Buffer KernelGenerator::place(Value value, Type element) {
  for (const LaunchOutput &output : outputs)
    if (output.value == value && value.hasOneUse()) {
      stored.insert(value);
      return output.buffer;
    }
  return scratch(element, typeOf(value).getNumElements());
}

std::optional<KernelGenerator::Row> KernelGenerator::rowOf(Operation *op) const {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getAxes().empty())
    return std::nullopt;
  auto shape = shapeOf(reduce.getX());
  auto axes = reduce.getAxes();
  int64_t first = axes.front();
  if (int64_t(shape.size()) - first != int64_t(axes.size()))
    return std::nullopt; // the reduction is not over the innermost dimensions
  return Row{multiplyDims(shape.take_front(first)), multiplyDims(shape.drop_front(first))};
}

bool KernelGenerator::dependsOn(Value value, function_ref<bool(Operation *)> is) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    Operation *op = v.getDefiningOp();
    if (!op || !seen.insert(v).second)
      continue;
    if (is(op))
      return true;
    if (!kept.contains(op))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Returns whether each result element depends only on operand elements at the same index or in the
/// same row.
static bool isRowLocal(Operation *op) {
  return op->hasTrait<Elementwise>() || isa<BroadcastOp, ReshapeOp>(op);
}

void KernelGenerator::classify() {
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    how[&op] = How::Inline;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      int64_t terms = 1;
      for (int64_t axis : reduce.getAxes())
        terms *= shapeOf(reduce.getX())[axis];
      auto row = rowOf(&op);
      if (terms < kFewTerms)
        continue;
      bool few = row && row->first < kFewRows && row->second > kLongRow;
      how[&op] = row && !few ? How::Row : How::Split;
    } else if (op.hasTrait<Contraction>() && countMultiplyAdds(&op) >= kSmallProduct &&
               (!isIntegerContraction(&op) || (options.bytes && matchByteOperands(&op)))) {
      how[&op] = How::Tile;
    } else if (op.hasTrait<Pooling>() && usesWindowKernel(*this, &op)) {
      how[&op] = How::Tile;
    }
  }
  for (auto [op, h] : how)
    if (h == How::Split)
      kept.insert(op);
  // A contraction is part of an output's launch if all of its users are elementwise operations on
  // its result. Otherwise its result is kept: a separate launch stores it in scratch memory.
  for (bool changed = true; changed;) {
    changed = false;
    auto keep = [&](Operation *op) { changed |= kept.insert(op).second; };
    // Values from which a kept value is computed must be computed in earlier launches.
    llvm::DenseMap<Operation *, bool> feeds;
    for (Operation &op : llvm::reverse(bodyOf(fusion).without_terminator())) {
      bool feedsKept = false;
      for (Operation *user : op.getUsers())
        feedsKept |= !isa<YieldOp>(user) && (kept.contains(user) || feeds[user]);
      feeds[&op] = feedsKept;
      if (how[&op] != How::Inline && feedsKept)
        keep(&op);
    }
    for (const LaunchOutput &output : outputs) {
      // The first reduction or contraction that is found determines the schedule of the output's
      // launch.
      Operation *anchor = nullptr;
      int64_t elements = typeOf(output.value).getNumElements();
      std::function<void(Value, bool, bool)> visit = [&](Value value, bool own, bool transposed) {
        Operation *op = value.getDefiningOp();
        if (!op || kept.contains(op))
          return;
        How h = how[op];
        int64_t size = typeOf(value).getNumElements();
        if (h == How::Tile) {
          if (!own || size != elements || (anchor && anchor != op) ||
              (transposed && !usesWindowKernel(*this, op) &&
               !getContractionGeometry(op).channelsLast))
            return keep(op);
          anchor = op;
          for (Value operand : op->getOperands())
            visit(operand, false, false);
          return;
        }
        if (h == How::Row) {
          Row row = *rowOf(op);
          bool fits = own && !transposed &&
                      (elements == row.first || elements == row.first * row.second) &&
                      (!anchor || (how[anchor] == How::Row && *rowOf(anchor) == row));
          if (!fits)
            return keep(op);
          anchor = op;
          visit(op->getOperand(0), true, false);
          return;
        }
        for (Value operand : op->getOperands())
          visit(operand, own && (isRowLocal(op) || isa<TransposeOp>(op)),
                transposed || isa<TransposeOp>(op));
      };
      visit(output.value, true, false);
    }
  }
}

void KernelGenerator::makeLevels() {
  for (BlockArgument argument : fusion.getBody().getArguments())
    levels[argument] = 0;
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    int level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels[operand]);
    for (Value result : op.getResults())
      levels[result] = level + kept.contains(&op);
  }
}

/// Returns the element type in which a float value is stored for later launches: f32 instead of a
/// 16-bit float.
static Type getKeptElement(Value value) {
  Type element = elementOf(value);
  return isFloat(element) && !element.isF64() ? Float32Type::get(value.getContext()) : element;
}

void KernelGenerator::launchKept(int level) {
  llvm::MapVector<Row, SmallVector<ReduceOp>> rows;
  SmallVector<SmallVector<ReduceOp>> splits;
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    if (!kept.contains(&op) || levels[op.getResult(0)] != level + 1)
      continue;
    if (how[&op] == How::Tile) {
      Value result = op.getResult(0);
      LaunchOutput target{result, scratch(getKeptElement(result), typeOf(result).getNumElements())};
      emitContractionKernel(*this, &op, target);
      known[result] = target.buffer;
      continue;
    }
    auto reduce = cast<ReduceOp>(op);
    if (how[&op] == How::Row) {
      rows[*rowOf(&op)].push_back(reduce);
      continue;
    }
    auto *same = llvm::find_if(splits, [&](auto &group) {
      return shapeOf(group[0].getX()) == shapeOf(reduce.getX()) &&
             group[0].getAxes() == reduce.getAxes();
    });
    if (same == splits.end())
      splits.push_back({reduce});
    else
      same->push_back(reduce);
  }
  for (auto &[row, reductions] : rows)
    launchKeptRows(row, reductions);
  for (auto &group : splits)
    launchKeptSplit(group);
}

void KernelGenerator::launchKeptRows(Row row, ArrayRef<ReduceOp> reductions) {
  // Row reductions that the launch computes: those whose results it stores (`reductions`), and
  // reductions over the same rows on which these depend.
  SmallVector<ReduceOp> all;
  SmallVector<LaunchOutput> targets;
  for (Operation &op : bodyOf(fusion).without_terminator()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || how[&op] != How::Row || *rowOf(&op) != row)
      continue;
    if (llvm::is_contained(reductions, reduce)) {
      targets.push_back({reduce.getY(), scratch(getKeptElement(reduce.getY()), row.first)});
      all.push_back(reduce);
    } else if (!kept.contains(&op) && llvm::any_of(reductions, [&](ReduceOp r) {
                 return dependsOn(r.getX(), [&](Operation *below) { return below == &op; });
               })) {
      all.push_back(reduce);
    }
  }
  emitRowKernel(*this, targets, all, row.first, row.second);
  for (const LaunchOutput &target : targets)
    known[target.value] = target.buffer;
}

void KernelGenerator::launchKeptSplit(ArrayRef<ReduceOp> group) {
  emitSplitReduction(*this, group);
  // If many threads would combine the partial results, a separate launch combines them once.
  SmallVector<LaunchOutput> finished;
  for (ReduceOp op : group) {
    int64_t size = typeOf(op.getY()).getNumElements(), readers = 0;
    for (const LaunchOutput &output : outputs)
      readers = std::max(readers, typeOf(output.value).getNumElements());
    for (Operation *other : kept)
      if (llvm::none_of(group, [&](ReduceOp r) { return r.getOperation() == other; }))
        readers = std::max(readers, typeOf(other->getOperand(0)).getNumElements());
    if (known[op.getY()].parts == 1 || (readers <= 4 * size && op.getY().hasOneUse()))
      continue;
    finished.push_back({op.getY(), scratch(getKeptElement(op.getY()), size)});
  }
  if (!finished.empty())
    emitElementwiseKernel(*this, finished);
  for (const LaunchOutput &target : finished)
    known[target.value] = target.buffer;
}

void KernelGenerator::launchResults(int level) {
  auto heavyBelow = [&](Value value, How h) -> Operation * {
    Operation *found = nullptr;
    dependsOn(value, [&](Operation *op) {
      if (!kept.contains(op) && how[op] == h)
        found = op;
      return found != nullptr;
    });
    return found;
  };
  llvm::MapVector<Operation *, SmallVector<LaunchOutput>> tiles;
  llvm::MapVector<Row, SmallVector<LaunchOutput>> rows;
  llvm::MapVector<int64_t, SmallVector<LaunchOutput>> maps;
  SmallVector<LaunchOutput> plain;
  for (const LaunchOutput &target : outputs) {
    if (levels[target.value] != level || typeOf(target.value).getNumElements() == 0 ||
        stored.contains(target.value))
      continue;
    if (Operation *op = heavyBelow(target.value, How::Tile))
      tiles[op].push_back(target);
    else if (Operation *op = heavyBelow(target.value, How::Row))
      rows[*rowOf(op)].push_back(target);
    else
      plain.push_back(target);
  }
  for (const LaunchOutput &target : plain) {
    int64_t size = typeOf(target.value).getNumElements();
    auto fits =
        llvm::find_if(rows, [&](auto &row) { return size == row.first.first * row.first.second; });
    if (fits != rows.end())
      fits->second.push_back(target);
    else
      maps[size].push_back(target);
  }
  for (auto &[op, targets] : tiles)
    emitContractionKernel(*this, op, targets);
  for (auto &[row, targets] : rows) {
    SmallVector<ReduceOp> reductions;
    for (Operation &op : bodyOf(fusion).without_terminator())
      if (how[&op] == How::Row && !kept.contains(&op) && *rowOf(&op) == row &&
          llvm::any_of(targets, [&](const LaunchOutput &target) {
            return dependsOn(target.value, [&](Operation *below) { return below == &op; });
          }))
        reductions.push_back(cast<ReduceOp>(op));
    emitRowKernel(*this, targets, reductions, row.first, row.second);
  }
  for (auto &[size, targets] : maps)
    emitElementwiseKernel(*this, targets);
}

LogicalResult KernelGenerator::emit() {
  std::string why;
  if (!canGenerate(fusion, &why))
    return fusion.emitError(why);
  kernel.inplace.clear();
  if (Operation *attention = findAttention(fusion)) {
    emitAttentionKernel(*this, attention);
    return success();
  }
  for (auto pair : cpu::findElementwiseInplacePairs(fusion))
    kernel.inplace.push_back(pair);
  Operation &first = bodyOf(fusion).front();
  if (isStandaloneKernelOp(&first)) {
    kernel.inplace.clear();
    SmallVector<LaunchOutput> targets;
    for (const LaunchOutput &output : outputs)
      targets.push_back(output);
    emitStandaloneKernel(*this, &first, targets);
    return success();
  }
  classify();
  if (!kept.empty())
    kernel.inplace.clear();
  makeLevels();
  int deepest = 0;
  for (auto &[value, level] : levels)
    deepest = std::max(deepest, level);
  for (int level = 0; level <= deepest; ++level) {
    launchKept(level);
    launchResults(level);
  }
  // With several launches, an output must not share an input's buffer, because a later launch could
  // read the input.
  if (kernel.launches.size() > 1)
    kernel.inplace.clear();
  return success();
}

FailureOr<Kernel> KernelGenerator::run() {
  if (failed(emit()))
    return failure();
  std::string text;
  for (const std::string &file : includes)
    text += "#include \"" + file + "\"\n";
  kernel.text = text + kernel.text;
  return std::move(kernel);
}

FailureOr<Kernel> generateKernel(FusionOp fusion, StringRef name, const KernelOptions &options) {
  return KernelGenerator(fusion, name, options).run();
}

} // namespace dlc::cuda
