//===- Split.cpp - how reductions are split and their partial results combined ---===//
#include "codegen/cpu/kernel/Split.h"
#include "codegen/cpu/kernel/Nest.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Minimum number of elements for several threads. With fewer, one core finishes before another one
/// wakes up.
constexpr int64_t kSmallest = 8192;
/// Maximum number of sequential additions to an accumulator in a work unit, which limits the
/// rounding error.
constexpr int64_t kSums = 64;
/// Number of memory streams that a work unit with lanes along the reduced dimension reads at a
/// time.
constexpr int64_t kRuns = 4;
/// Number of memory streams of each operand that a work unit with lanes along columns reads at a
/// time.
constexpr int64_t kColumnRuns = 2;
constexpr int64_t kLongRun = 4096, kUnits = 256;
/// Maximum number of columns for which one iteration processes many rows.
constexpr int64_t kNarrow = 64;
constexpr int64_t kManyRows = 8;
/// Maximum number of columns in a work unit, so that its accumulators for a few reductions fit in
/// the first-level cache.
constexpr int64_t kColumns = 1024;
constexpr int64_t kRowParts = 8, kMinRows = 12;
/// Minimum number of elements for which rows are split into more work units. Below it, copying the
/// operand between caches takes less time than combining partial results.
constexpr int64_t kCached = 32768;
constexpr int64_t kFewRows = 64, kLongRow = 32768;

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Returns whether `value` depends on a reduction in the fusion.
bool dependsOnReduction(Value value, llvm::DenseMap<Value, bool> &known) {
  auto [it, fresh] = known.try_emplace(value, false);
  if (!fresh)
    return it->second;
  Operation *op = value.getDefiningOp();
  bool reduced = op && (isa<ReduceOp>(op) || llvm::any_of(op->getOperands(), [&](Value v) {
                          return dependsOnReduction(v, known);
                        }));
  return known[value] = reduced;
}

/// Splits a dimension of `size` into equal chunks (the last one may be shorter) of at most about
/// `wanted` elements. The chunk size is a multiple of `multiple`.
void cut(int64_t size, int64_t wanted, int64_t multiple, int64_t &chunk, int64_t &chunks) {
  chunks = divideUp(size, std::max<int64_t>(1, wanted));
  chunk = divideUp(divideUp(size, chunks), multiple) * multiple;
  chunks = divideUp(size, chunk);
}

/// Collects the reductions of the fusion. Returns whether the fusion can be split: all reductions
/// have the same axes and operand shape, none depends on another, and each result has the shape of
/// their results or operands.
bool collectReductions(FusionOp fusion, SplitPlan &plan) {
  llvm::DenseMap<Value, bool> known;
  Block &body = fusion.getBody().front();
  for (auto op : body.getOps<ReduceOp>()) {
    auto type = tensorType(op.getX());
    if (!op.getKeepdims() || !isa<FloatType>(type.getElementType()) ||
        dependsOnReduction(op.getX(), known))
      return false;
    if (plan.reduces.empty())
      plan.shape = llvm::to_vector(type.getShape());
    ReduceOp first = plan.reduces.empty() ? op : plan.reduces.front();
    if (type.getShape() != ArrayRef<int64_t>(plan.shape) || op.getAxes() != first.getAxes())
      return false;
    plan.reduces.push_back(op);
  }
  if (plan.reduces.empty() || plan.reduces.size() > 8 || multiplyDims(plan.shape) < kSmallest)
    return false;
  // The reductions' operands may be any computation. Operations on the reductions' results must be
  // elementwise and have their shape.
  auto kept = tensorType(plan.reduces.front().getY()).getShape();
  for (Operation &op : body.without_terminator())
    if (dependsOnReduction(op.getResult(0), known) && !isa<ReduceOp>(op) &&
        (!op.hasTrait<Elementwise>() || tensorType(op.getResult(0)).getShape() != kept))
      return false;
  // A result that has the shape of the reductions' results but does not depend on a reduction is
  // allowed (such as a saved factor or the first row).
  return kept != ArrayRef<int64_t>(plan.shape) &&
         llvm::all_of(body.getTerminator()->getOperands(), [&](Value v) {
           auto shape = tensorType(v).getShape();
           return shape == kept ||
                  (!dependsOnReduction(v, known) && shape == ArrayRef<int64_t>(plan.shape));
         });
}

/// Returns the concatenation from which all values with the reductions' operand shape are computed
/// elementwise. It must be along a dimension that is not reduced. Returns null if there is none.
ConcatOp findReducedConcat(FusionOp fusion, const SplitPlan &plan) {
  // Maximum number of runs of concatenation operands. It is limited because the kernel has separate
  // code for each run.
  constexpr size_t most = 8;
  ConcatOp concat = findElementwiseReadConcat(fusion, [](ReduceOp, ConcatOp) { return true; });
  if (!concat || tensorType(concat.getY()).getShape() != ArrayRef<int64_t>(plan.shape) ||
      groupSimilarOperands(concat).size() > most)
    return nullptr;
  int64_t axis = int64_t(concat.getAxis());
  auto isPart = [&](Value value) { return tensorType(value).getDimSize(axis) > 0; };
  return axis != plan.fine && axis != plan.outer && llvm::all_of(concat.getXs(), isPart) ? concat
                                                                                         : nullptr;
}

} // namespace

SmallVector<int64_t> SplitPlan::partialShape() const {
  SmallVector<int64_t> result = shape;
  result[fine] = fineChunks;
  if (outer >= 0)
    result[outer] = outerChunks;
  return result;
}

Type SplitPlan::slotType(ReduceOp op) const {
  // f64 accumulators require that many rows are added per iteration. With few rows, they would
  // increase the run time.
  return unroll >= kManyRows ? getPartialType(op)
                             : getComputeType(tensorType(op.getX()).getElementType());
}

int64_t SplitPlan::ahead() const {
  // The prefetch distance covers the memory latency. It is a multiple of the number of columns, so
  // that it addresses the same columns of later rows.
  constexpr int64_t nearest = 512;
  int64_t columnCount = columns ? shape.back() : 1;
  return divideUp(std::max(nearest, columnCount * (unroll / runs)), columnCount) * columnCount;
}

std::optional<SplitPlan> planSplit(FusionOp fusion, const Target &target) {
  SplitPlan plan;
  if (!collectReductions(fusion, plan))
    return std::nullopt;
  ArrayRef<int64_t> axes = plan.reduces.front().getAxes();
  int64_t rank = int64_t(plan.shape.size());
  if (axes.empty() || axes.size() > 2)
    return std::nullopt;
  plan.fine = axes.back();
  plan.outer = axes.size() == 2 ? axes.front() : -1;
  plan.columns = plan.fine != rank - 1;
  if (plan.columns && plan.fine != rank - 2)
    return std::nullopt;
  plan.joined = findReducedConcat(fusion, plan);
  int64_t width = target.lanes32(), fine = plan.shape[plan.fine],
          outer = plan.outer >= 0 ? plan.shape[plan.outer] : 1;
  if (plan.columns) {
    int64_t columns = plan.shape.back();
    if (columns < 2)
      return std::nullopt;
    plan.lanes = std::min(width, columns);
    plan.unroll = columns <= kNarrow ? kManyRows : 4;
    plan.runs = kColumnRuns;
    int64_t rows = kSums * plan.unroll;
    // Accumulation in f64 permits sums of many terms, and long sequential streams are read faster.
    // However, there must be enough work units for all cores.
    if (plan.unroll == kManyRows)
      rows = std::clamp(multiplyDims(plan.shape) / columns / kUnits, rows, kLongRun);
    // The reduction is split along the rows like the kernels that produce and read the rows, so
    // that each core finds its rows in its cache. If one core reads columns that another core
    // writes next, the columns are copied between caches.
    int64_t images = multiplyDims(plan.shape) / (columns * fine * outer);
    bool onlyReduces = llvm::none_of(fusion.getResultTypes(), [&](Type type) {
      return cast<RankedTensorType>(type).getNumElements() == multiplyDims(plan.shape);
    });
    if (onlyReduces && images < kRowParts && multiplyDims(plan.shape) >= kCached)
      rows = std::min(rows, std::max(kMinRows, divideUp(fine * outer * images, kRowParts)));
    if (fine * outer < 2 * plan.unroll)
      return std::nullopt;
    if (fine >= rows || plan.outer < 0)
      cut(fine, rows, 1, plan.fineChunk, plan.fineChunks);
    else
      plan.fineChunk = fine;
    if (plan.outer >= 0)
      cut(outer, rows / fine, 1, plan.outerChunk, plan.outerChunks);
    int64_t others =
        multiplyDims(plan.shape) / (columns * fine * outer) * plan.fineChunks * plan.outerChunks;
    // If there are few work units, narrower strips of columns create more units. Strips must be
    // wide enough to be read efficiently.
    int64_t wanted = others >= 8 ? kColumns : std::max<int64_t>(256, divideUp(columns * others, 8));
    cut(columns, std::min(kColumns, wanted), plan.lanes, plan.width, plan.strips);
    plan.width = std::min(plan.width, columns);
    if (plan.joined && int64_t(plan.joined.getAxis()) == rank - 1) {
      plan.strips = 0;
      for (Value part : plan.joined.getXs())
        plan.strips += divideUp(tensorType(part).getShape().back(), plan.width);
    }
    plan.units = others * plan.strips;
    return plan;
  }
  // Reductions of many contiguous rows are not split, because the schedule `rows` is faster for
  // them.
  int64_t rows = multiplyDims(plan.shape) / (fine * outer);
  if (fine < 4 || (plan.outer < 0 && (rows >= kFewRows || fine < kLongRow)))
    return std::nullopt;
  plan.lanes = std::min(width, fine);
  plan.unroll = plan.runs = fine >= kRuns * kRuns * width ? kRuns : 1;
  int64_t most = kSums * plan.unroll * plan.lanes;
  if (fine >= most)
    cut(fine, most, plan.lanes, plan.fineChunk, plan.fineChunks);
  else
    plan.fineChunk = fine;
  if (plan.outer >= 0)
    cut(outer, most / fine, 1, plan.outerChunk, plan.outerChunks);
  plan.units = rows * plan.fineChunks * plan.outerChunks;
  return plan;
}

int64_t getSplitScratchBytes(const SplitPlan &plan) {
  int64_t bytes = 0;
  for (ReduceOp op : plan.reduces)
    bytes += plan.columns
                 ? divideUp(plan.width * plan.slotType(op).getIntOrFloatBitWidth() / 8, 64) * 64
                 : 0;
  return bytes;
}

bool isSum(ReduceOp op) {
  return op.getKind() == ReduceKind::sum || op.getKind() == ReduceKind::mean;
}

Type getPartialType(ReduceOp op) {
  return isSum(op) ? Float64Type::get(op.getContext())
                   : getComputeType(tensorType(op.getX()).getElementType());
}

SmallVector<unsigned> getFirstKernelOutputs(FusionOp fusion, const SplitPlan &plan) {
  SmallVector<unsigned> outputs;
  for (auto [i, value] : llvm::enumerate(fusion.getBody().front().getTerminator()->getOperands()))
    if (plan.isWhole() || tensorType(value).getShape() == ArrayRef<int64_t>(plan.shape))
      outputs.push_back(unsigned(i));
  return outputs;
}

CombiningFusion createCombiningFusion(OpBuilder &b, FusionOp fusion, const SplitPlan &plan) {
  CombiningFusion result;
  Location loc = fusion.getLoc();
  Block &body = fusion.getBody().front();
  auto yield = body.getTerminator();
  auto first = getFirstKernelOutputs(fusion, plan);
  SmallVector<Value> wanted;
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (!llvm::is_contained(first, i)) {
      result.outputs.push_back(unsigned(i));
      wanted.push_back(value);
    }
  // Values that the second kernel computes or reads: the operands of its results, back to the
  // reductions.
  llvm::DenseSet<Value> needed;
  std::function<void(Value)> need = [&](Value v) {
    if (needed.insert(v).second)
      if (Operation *op = v.getDefiningOp(); op && !isa<ReduceOp>(op))
        for (Value operand : op->getOperands())
          need(operand);
  };
  for (Value v : wanted)
    need(v);
  SmallVector<Type> types;
  SmallVector<Value> placeholders;
  auto operand = [&](unsigned which, Type type) {
    result.operands.push_back(which);
    placeholders.push_back(
        UnrealizedConversionCastOp::create(b, loc, type, ValueRange{}).getResult(0));
  };
  for (size_t i = 0; i < plan.reduces.size(); ++i) {
    ReduceOp op = plan.reduces[i];
    auto type = RankedTensorType::get(plan.partialShape(), getPartialType(op),
                                      tensorType(op.getY()).getEncoding());
    operand(unsigned(body.getNumArguments() + i), type);
  }
  for (BlockArgument argument : body.getArguments())
    if (needed.contains(argument))
      operand(argument.getArgNumber(), argument.getType());
  for (Value v : wanted)
    types.push_back(v.getType());
  result.fusion = FusionOp::create(b, loc, types, placeholders);
  Region &region = result.fusion.getBody();
  Block *to = region.empty() ? &region.emplaceBlock() : &region.front();
  to->clear();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(to);
  IRMapping map;
  for (auto [which, value] : llvm::zip(result.operands, placeholders)) {
    Value argument = to->addArgument(value.getType(), loc);
    if (which < body.getNumArguments()) {
      map.map(body.getArgument(which), argument);
      continue;
    }
    ReduceOp op = plan.reduces[which - body.getNumArguments()];
    auto y = tensorType(op.getY());
    bool mean = op.getKind() == ReduceKind::mean;
    auto type = RankedTensorType::get(y.getShape(), getPartialType(op), y.getEncoding());
    Value total = ReduceOp::create(b, loc, type, mean ? ReduceKind::sum : op.getKind(), argument,
                                   op.getAxes(), /*keepdims=*/true);
    if (mean) {
      auto count = DenseElementsAttr::get(
          RankedTensorType::get({}, type.getElementType(), y.getEncoding()),
          Attribute(b.getFloatAttr(type.getElementType(), double(multiplyDims(plan.shape)) /
                                                              double(multiplyDims(y.getShape())))));
      total =
          DivOp::create(b, loc, type, total, ConstantOp::create(b, loc, count.getType(), count));
    }
    if (type != y)
      total = CastOp::create(b, loc, total, y.getElementType());
    map.map(op.getY(), total);
  }
  for (Operation &op : body.without_terminator())
    if (!isa<ReduceOp>(op) && needed.contains(op.getResult(0)))
      b.clone(op, map);
  YieldOp::create(b, loc, llvm::map_to_vector(wanted, [&](Value v) { return map.lookup(v); }));
  return result;
}

} // namespace dlc::cpu
