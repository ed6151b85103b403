//===- Tables.cpp - chains of operations between 8 bits as tables ---------===//
//
//   f(x), of 8 bits each          ->  lookup x in [f(0), f(1), .., f(255)]
//   g(concat(f(x), h(y)))         ->  concat(lookup x in g(f), lookup y in g(h))
//
// where f, g and h are operations element by element with single numbers beside them: an activation
// of dequantised values that are quantised again, with whatever is quantised on the way. Between
// them may be what only moves elements, to computed places too, or takes the largest: that then
// moves 8 bits.
//
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/Widened.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc {
namespace {

/// A table pays from so many additions on: less is about what a lookup costs.
constexpr int kLeastWork = 6;

/// A constant of one number, as a scalar.
std::optional<ref::Tensor> numberOf(Value value) {
  auto splat = splatValue(value);
  if (!splat)
    return std::nullopt;
  ref::Tensor number =
      ref::Tensor::empty(RankedTensorType::get({}, typeOf(value).getElementType()));
  number.setDouble(0, *splat);
  return number;
}

bool isOfBytes(Value value) {
  return isInt8(value.getType()) && !value.getDefiningOp<ConstantOp>();
}

/// Windows that each have an element of the image in them.
bool hasFullWindows(MaxPoolOp pool) {
  for (auto [low, high, size] : llvm::zip(pool.getLow(), pool.getHigh(), pool.getWindow()))
    if (low >= size || high >= size)
      return false;
  return true;
}

/// The operands whose elements an operation's result is; none where it makes others.
OperandRange carriedBy(Operation *op) {
  auto pool = dyn_cast<MaxPoolOp>(op);
  bool carriesAll = (pool && hasFullWindows(pool)) || isa<ConcatOp>(op) ||
                    (op->hasTrait<ViewLike>() && op->getNumOperands() == 1);
  return op->getOperands().take_front(carriesAll          ? op->getNumOperands()
                                      : isa<GatherOp>(op) ? 1
                                                          : 0);
}

bool isIdentity(const ref::Tensor &table, Type of) {
  if (table.getElementType() != of)
    return false;
  for (int64_t i = 0; i < table.size(); ++i)
    if ((table.getInt(i) & 255) != i)
      return false;
  return true;
}

/// Whether a larger element of `of` never has a smaller one in the table.
bool ascends(const ref::Tensor &table, Type of) {
  int64_t least = of.isUnsignedInteger() ? 0 : -128;
  for (int64_t x = least; x < least + 255; ++x)
    if (!(table.getDouble(x & 255) <= table.getDouble((x + 1) & 255)))
      return false;
  return true;
}

/// The operations from a value to another.
struct Segment {
  Value from, to;
  SmallVector<Operation *> ops;
};

/// How a value of 8 bits is made of others: by a table, or by an operation that moves them.
struct Plan {
  Value x;
  ref::Tensor table;
  bool ascends = true; ///< and so does what is made of it on the way
  Operation *carrier = nullptr;
  std::vector<Plan> operands;
};

class Chains {
public:
  explicit Chains(Block &block) {
    for (Operation &op : block)
      if (op.getNumResults() == 1) {
        find(&op);
        results.push_back(op.getResult(0));
      }
  }

  /// From the last to the first: chains are as long as they can be.
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
    if (!carriers.contains(x) && work < kLeastWork)
      return;
    std::optional<Plan> plan = planFor(y, nullptr, {});
    if (!plan)
      return;
    OpBuilder builder(op);
    Value made = make(*plan, builder);
    y.replaceAllUsesWith(made);
    eraseUnused(op);
  }

  /// The value that alone decides the operation's result, element by element: one of 8 bits, or one
  /// whose elements are those of such.
  void find(Operation *op) {
    Value y = op->getResult(0), x;
    if (!isa<RankedTensorType>(y.getType()))
      return;
    if (isOfBytes(y)) {
      sources[y] = y;
    } else if (OperandRange carried = carriedBy(op);
               !carried.empty() &&
               llvm::all_of(carried, [&](Value x) { return bool(sources.lookup(x)); })) {
      sources[y] = y;
      carriers.insert(y);
      return;
    }
    bool isChain = op->hasTrait<Elementwise>() && !isa<LookupOp>(op);
    for (Value operand : op->getOperands()) {
      if (!isChain || numberOf(operand))
        continue;
      Value source = sources.lookup(operand);
      if (!source && isOfBytes(operand))
        source = operand; // of another block
      isChain = source && (!x || x == source);
      x = source;
    }
    if (isChain && x && shapeOf(x) == shapeOf(y) &&
        typeOf(x).getEncoding() == typeOf(y).getEncoding())
      sources[y] = x;
  }

  /// What makes y of x, each operation behind those that it needs.
  static SmallVector<Operation *> chainOf(Value y, Value x) {
    llvm::SetVector<Operation *> chain;
    collect(y, x, chain);
    return chain.takeVector();
  }
  static void collect(Value y, Value x, llvm::SetVector<Operation *> &chain) {
    Operation *op = y.getDefiningOp();
    if (y == x || numberOf(y) || chain.contains(op))
      return;
    for (Value operand : op->getOperands())
      collect(operand, x, chain);
    chain.insert(op);
  }

  /// Of what `rest` makes of a value, for `user` alone.
  std::optional<Plan> planFor(Value value, Operation *user, ArrayRef<Segment> rest) {
    Value x = sources.lookup(value);
    if (!x && isOfBytes(value))
      x = value;
    if (!x)
      return std::nullopt;
    SmallVector<Segment> all{{x, value, chainOf(value, x)}};
    all.append(rest.begin(), rest.end());
    Plan plan;
    if (!carriers.contains(x)) {
      plan.x = x;
      return fill(plan, all) ? std::optional(plan) : std::nullopt;
    }
    // Who else wants the wide elements has them made once, for all.
    if (llvm::any_of(x.getUsers(), [&](Operation *other) {
          return other != user && !llvm::is_contained(all[0].ops, other);
        }))
      return std::nullopt;
    plan.carrier = x.getDefiningOp();
    for (Value operand : carriedBy(plan.carrier)) {
      std::optional<Plan> inner = planFor(operand, plan.carrier, all);
      if (!inner)
        return std::nullopt;
      plan.ascends &= inner->ascends;
      plan.operands.push_back(std::move(*inner));
    }
    if (isa<MaxPoolOp>(plan.carrier) && !plan.ascends)
      return std::nullopt;
    return plan;
  }

  Value make(const Plan &plan, OpBuilder &builder) {
    if (const Plan *source = onlySource(plan))
      return lookedUp(moved(plan, builder), source->table, builder);
    SmallVector<Value> operands;
    for (const Plan &each : plan.operands)
      operands.push_back(make(each, builder));
    return carried(plan, operands, builder);
  }

  /// The only table of a plan where nothing on the way makes more elements: it comes last, so that
  /// tables of several readers share what is moved.
  static const Plan *onlySource(const Plan &plan) {
    if (!plan.carrier)
      return &plan;
    auto from = typeOf(plan.carrier->getOperand(0)), to = typeOf(plan.carrier->getResult(0));
    return plan.operands.size() == 1 && from.hasStaticShape() && to.hasStaticShape() &&
                   to.getNumElements() <= from.getNumElements()
               ? onlySource(plan.operands.front())
               : nullptr;
  }

  static Value lookedUp(Value x, const ref::Tensor &table, OpBuilder &builder) {
    return isIdentity(table, typeOf(x).getElementType())
               ? x
               : LookupOp::create(builder, x.getLoc(), x, table.toAttr()).getY();
  }

  static Value moved(const Plan &plan, OpBuilder &builder) {
    return plan.carrier ? carried(plan, moved(plan.operands.front(), builder), builder) : plan.x;
  }

  static Value carried(const Plan &plan, ValueRange operands, OpBuilder &builder) {
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

  /// Computes the plan's table; false where an operation cannot be evaluated.
  static bool fill(Plan &plan, ArrayRef<Segment> segments) {
    auto all = [](Type element) { return RankedTensorType::get({256}, element); };
    Type element = typeOf(plan.x).getElementType();
    plan.table = ref::Tensor::empty(all(element));
    for (int64_t i = 0; i < plan.table.size(); ++i)
      plan.table.setInt(i, i);
    for (const Segment &segment : segments) {
      DenseMap<Value, ref::Tensor> values{{segment.from, plan.table}};
      for (Operation *op : segment.ops) {
        SmallVector<ref::Tensor> inputs, outputs;
        for (Value operand : op->getOperands()) {
          auto number = numberOf(operand);
          inputs.push_back(number ? *number : values.lookup(operand));
        }
        // The same operation on 256 elements.
        OwningOpRef<Operation *> clone = op->clone();
        Value result = clone.get()->getResult(0);
        result.setType(all(typeOf(result).getElementType()));
        auto outer = [](Value) { return ref::Tensor(); };
        if (failed(ref::evaluateOp(clone.get(), inputs, outer, outputs)) || outputs.size() != 1)
          return false;
        values[op->getResult(0)] = outputs.front();
      }
      plan.table = values.lookup(segment.to);
      plan.ascends &= ascends(plan.table, element);
    }
    return true;
  }

  SmallVector<Value> results;
  DenseMap<Value, Value> sources; ///< of the operations that are still there
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
      Chains chains(*block);
      chains.rewrite();
    }
    // Several readers of what is moved have it moved once.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createTablesPass() { return std::make_unique<TablesPass>(); }

} // namespace dlc
