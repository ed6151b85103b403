//===- Tables.cpp - elementwise chains on 8-bit values as lookup tables ----===//
//
//   f(x), x and f(x) of 8 bits    ->  lookup x in [f(0), f(1), .., f(255)]
//   g(concat(f(x), h(y)))         ->  concat(lookup x in g(f), lookup y in g(h))
//
// f, g and h are chains of elementwise operations whose other operands are scalar constants, such
// as dequantize, an activation, and quantize. Operations between them that only move elements
// (views, concat, gather) or take the maximum of windows then run on 8-bit values.
//
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc {
namespace {

/// Minimum cost of a chain of operations, in additions, for which a table is used, because a lookup
/// costs about as much as 6 additions.
constexpr int kMinWork = 6;

/// Returns a splat constant as a 0-d tensor.
std::optional<ref::Tensor> getSplatTensor(Value value) {
  auto splat = splatValue(value);
  if (!splat)
    return std::nullopt;
  ref::Tensor number =
      ref::Tensor::empty(RankedTensorType::get({}, typeOf(value).getElementType()));
  number.setDouble(0, *splat);
  return number;
}

bool isNonConstantInt8(Value value) {
  return isInt8(value.getType()) && !value.getDefiningOp<ConstantOp>();
}

/// Checks that every window of the pool contains at least one element that is not padding.
bool hasFullWindows(MaxPoolOp pool) {
  for (auto [low, high, size] : llvm::zip(pool.getLow(), pool.getHigh(), pool.getWindow()))
    if (low >= size || high >= size)
      return false;
  return true;
}

/// Returns the operands from which the result's elements are taken unchanged (concatenations,
/// views, gathers, max pools); empty for operations that compute new elements.
OperandRange getCarriedOperands(Operation *op) {
  auto pool = dyn_cast<MaxPoolOp>(op);
  bool carriesAll = (pool && hasFullWindows(pool)) || isa<ConcatOp>(op) ||
                    (op->hasTrait<ViewLike>() && op->getNumOperands() == 1);
  return op->getOperands().take_front(carriesAll          ? op->getNumOperands()
                                      : isa<GatherOp>(op) ? 1
                                                          : 0);
}

bool isIdentityTable(const ref::Tensor &table, Type of) {
  if (table.getElementType() != of)
    return false;
  for (int64_t i = 0; i < table.size(); ++i)
    if ((table.getInt(i) & 255) != i)
      return false;
  return true;
}

/// Checks that the table is monotonically increasing (not strictly) over the values of the type
/// `of`.
bool isMonotonicTable(const ref::Tensor &table, Type of) {
  int64_t least = of.isUnsignedInteger() ? 0 : -128;
  for (int64_t x = least; x < least + 255; ++x)
    if (!(table.getDouble(x & 255) <= table.getDouble((x + 1) & 255)))
      return false;
  return true;
}

/// A chain of elementwise operations that compute one value from another.
struct OpChain {
  Value from, to;
  SmallVector<Operation *> ops;
};

/// Plan to compute an 8-bit value: by a lookup of `x` in a table, or by an operation (`carrier`)
/// that moves elements of planned operands.
struct LookupPlan {
  Value x;
  ref::Tensor table;
  bool ascends = true; ///< whether the tables of all intermediate values increase
  Operation *carrier = nullptr;
  std::vector<LookupPlan> operands;
};

class LookupTableBuilder {
public:
  explicit LookupTableBuilder(Block &block) {
    for (Operation &op : block)
      if (op.getNumResults() == 1) {
        find(&op);
        results.push_back(op.getResult(0));
      }
  }

  /// Replaces chains of operations by table lookups. Results are visited from last to first, so
  /// that each chain is as long as possible.
  void rewrite() {
    for (Value y : llvm::reverse(results))
      if (sources.contains(y))
        rewrite(y.getDefiningOp());
  }

private:
  void rewrite(Operation *op) {
    Value y = op->getResult(0), x = sources.lookup(y);
    if (x == y || !isInt8(y.getType()))
      return;
    int work = 0;
    for (Operation *each : chainOf(y, x))
      work += cast<FactsInterface>(each).getWeight();
    if (!carriers.contains(x) && work < kMinWork)
      return;
    std::optional<LookupPlan> plan = planFor(y, nullptr, {});
    if (!plan)
      return;
    OpBuilder builder(op);
    Value made = make(*plan, builder);
    y.replaceAllUsesWith(made);
    eraseUnused(op);
  }

  /// Records the source of an operation's result: the one value from which the result is computed
  /// elementwise, and that has 8-bit elements or is moved from 8-bit values.
  void find(Operation *op) {
    Value y = op->getResult(0), x;
    if (!isa<RankedTensorType>(y.getType()))
      return;
    if (isNonConstantInt8(y)) {
      sources[y] = y;
    } else if (OperandRange carried = getCarriedOperands(op);
               !carried.empty() &&
               llvm::all_of(carried, [&](Value x) { return bool(sources.lookup(x)); })) {
      sources[y] = y;
      carriers.insert(y);
      return;
    }
    bool isChain = op->hasTrait<Elementwise>() && !isa<LookupOp>(op);
    for (Value operand : op->getOperands()) {
      if (!isChain || getSplatTensor(operand))
        continue;
      Value source = sources.lookup(operand);
      if (!source && isNonConstantInt8(operand))
        source = operand; // the operand is defined in another block
      isChain = source && (!x || x == source);
      x = source;
    }
    if (isChain && x && shapeOf(x) == shapeOf(y) &&
        typeOf(x).getEncoding() == typeOf(y).getEncoding())
      sources[y] = x;
  }

  /// Returns the operations that compute y from x, in topological order.
  static SmallVector<Operation *> chainOf(Value y, Value x) {
    llvm::SetVector<Operation *> chain;
    collect(y, x, chain);
    return chain.takeVector();
  }
  static void collect(Value y, Value x, llvm::SetVector<Operation *> &chain) {
    Operation *op = y.getDefiningOp();
    if (y == x || getSplatTensor(y) || chain.contains(op))
      return;
    for (Value operand : op->getOperands())
      collect(operand, x, chain);
    chain.insert(op);
  }

  /// Returns a plan for the 8-bit value that the chains of operations `rest` compute from `value`.
  /// `user` is the operation that reads `value`, or null if `value` is the 8-bit value itself.
  /// Returns nullopt if there is no plan.
  std::optional<LookupPlan> planFor(Value value, Operation *user, ArrayRef<OpChain> rest) {
    Value x = sources.lookup(value);
    if (!x && isNonConstantInt8(value))
      x = value;
    if (!x)
      return std::nullopt;
    SmallVector<OpChain> all{{x, value, chainOf(value, x)}};
    all.append(rest.begin(), rest.end());
    LookupPlan plan;
    if (!carriers.contains(x)) {
      plan.x = x;
      return fill(plan, all) ? std::optional(plan) : std::nullopt;
    }
    // If another operation reads the moved elements in their wide type, they are computed anyway,
    // so that a plan saves nothing.
    if (llvm::any_of(x.getUsers(), [&](Operation *other) {
          return other != user && !llvm::is_contained(all[0].ops, other);
        }))
      return std::nullopt;
    plan.carrier = x.getDefiningOp();
    for (Value operand : getCarriedOperands(plan.carrier)) {
      std::optional<LookupPlan> inner = planFor(operand, plan.carrier, all);
      if (!inner)
        return std::nullopt;
      plan.ascends &= inner->ascends;
      plan.operands.push_back(std::move(*inner));
    }
    if (isa<MaxPoolOp>(plan.carrier) && !plan.ascends)
      return std::nullopt;
    return plan;
  }

  Value make(const LookupPlan &plan, OpBuilder &builder) {
    if (const LookupPlan *source = onlySource(plan))
      return lookedUp(moved(plan, builder), source->table, builder);
    SmallVector<Value> operands;
    for (const LookupPlan &each : plan.operands)
      operands.push_back(make(each, builder));
    return carried(plan, operands, builder);
  }

  /// If one table is sufficient and no data movement increases the number of elements, returns the
  /// plan that has the table, otherwise null. The lookup then follows all data movements, so that
  /// several readers share the moved 8-bit values.
  static const LookupPlan *onlySource(const LookupPlan &plan) {
    if (!plan.carrier)
      return &plan;
    auto from = typeOf(plan.carrier->getOperand(0)), to = typeOf(plan.carrier->getResult(0));
    return plan.operands.size() == 1 && from.hasStaticShape() && to.hasStaticShape() &&
                   to.getNumElements() <= from.getNumElements()
               ? onlySource(plan.operands.front())
               : nullptr;
  }

  static Value lookedUp(Value x, const ref::Tensor &table, OpBuilder &builder) {
    return isIdentityTable(table, typeOf(x).getElementType())
               ? x
               : LookupOp::create(builder, x.getLoc(), x, table.toAttr()).getY();
  }

  static Value moved(const LookupPlan &plan, OpBuilder &builder) {
    return plan.carrier ? carried(plan, moved(plan.operands.front(), builder), builder) : plan.x;
  }

  static Value carried(const LookupPlan &plan, ValueRange operands, OpBuilder &builder) {
    Operation *moved = builder.clone(*plan.carrier);
    for (auto [i, operand] : llvm::enumerate(operands))
      moved->setOperand(i, operand);
    Value y = moved->getResult(0);
    y.setType(typeOf(y).clone(typeOf(operands.front()).getElementType()));
    return y;
  }

  void eraseUnused(Operation *last) {
    llvm::SetVector<Operation *> left;
    left.insert(last);
    while (!left.empty()) {
      Operation *op = left.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          left.insert(maker);
      for (Value result : op->getResults())
        sources.erase(result);
      op->erase();
    }
  }

  /// Computes the plan's table by evaluating the operations of the segments on all 256 values.
  /// Returns false if an operation cannot be evaluated.
  static bool fill(LookupPlan &plan, ArrayRef<OpChain> segments) {
    auto all = [](Type element) { return RankedTensorType::get({256}, element); };
    Type element = typeOf(plan.x).getElementType();
    plan.table = ref::Tensor::empty(all(element));
    for (int64_t i = 0; i < plan.table.size(); ++i)
      plan.table.setInt(i, i);
    for (const OpChain &segment : segments) {
      DenseMap<Value, ref::Tensor> values{{segment.from, plan.table}};
      for (Operation *op : segment.ops) {
        SmallVector<ref::Tensor> inputs, outputs;
        for (Value operand : op->getOperands()) {
          auto number = getSplatTensor(operand);
          inputs.push_back(number ? *number : values.lookup(operand));
        }
        // The operation is cloned with a result type of 256 elements, to evaluate it on all values
        // at once.
        OwningOpRef<Operation *> clone = op->clone();
        Value result = clone.get()->getResult(0);
        result.setType(all(typeOf(result).getElementType()));
        auto outer = [](Value) { return ref::Tensor(); };
        if (failed(ref::evaluateOp(clone.get(), inputs, outer, outputs)) || outputs.size() != 1)
          return false;
        values[op->getResult(0)] = outputs.front();
      }
      plan.table = values.lookup(segment.to);
      plan.ascends &= isMonotonicTable(plan.table, element);
    }
    return true;
  }

  SmallVector<Value> results;
  DenseMap<Value, Value> sources; ///< source of each result; erased operations are removed
  DenseSet<Value> carriers;
};

struct TablesPass : PassWrapper<TablesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TablesPass)

  StringRef getArgument() const final { return "dlc-tables"; }
  StringRef getDescription() const final {
    return "chains of operations between values of 8 bits as lookups in tables";
  }

  void runOnOperation() final {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      LookupTableBuilder chains(*block);
      chains.rewrite();
    }
    // CSE merges the equal data movements that were created for several readers.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createTablesPass() { return std::make_unique<TablesPass>(); }

} // namespace dlc
