//===- Tables.cpp - chains of operations between 8 bits as tables ---------===//
//
//   f(x), of 8 bits each  ->  lookup x in [f(0), f(1), .., f(255)]
//
// where f is operations element by element with single numbers beside them: an activation of
// dequantised values that are quantised again, with whatever is quantised on the way.
//
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/Widened.h"

#include "mlir/IR/BuiltinOps.h"
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

class Chains {
public:
  explicit Chains(Block &block) {
    for (Operation &op : block)
      if (op.getNumResults() == 1)
        find(&op);
  }

  /// What stands for the operation then: itself, or the lookup.
  Operation *rewrite(Operation *op) {
    Value y = op->getNumResults() == 1 ? op->getResult(0) : Value();
    Value x = y ? sources.lookup(y) : Value();
    if (!x || x == y || !isInt8(y.getType()))
      return op;
    llvm::SetVector<Operation *> chain;
    collect(y, x, chain);
    int work = 0;
    for (Operation *each : chain)
      work += cast<FactsInterface>(each).getWeight();
    if (work < kLeastWork)
      return op;
    std::optional<ref::Tensor> table = tableOf(chain.getArrayRef(), x);
    if (!table)
      return op;
    OpBuilder builder(op);
    auto lookup = LookupOp::create(builder, op->getLoc(), x, table->toAttr());
    y.replaceAllUsesWith(lookup);
    for (Operation *each : llvm::reverse(chain.takeVector()))
      if (each->use_empty())
        each->erase();
    return lookup;
  }

private:
  /// The value of 8 bits that alone decides the operation's result, element by element.
  void find(Operation *op) {
    Value y = op->getResult(0), x;
    bool isChain = op->hasTrait<Elementwise>() && !isa<LookupOp>(op);
    for (Value operand : op->getOperands()) {
      if (!isChain || numberOf(operand))
        continue;
      Value source = sources.lookup(operand);
      if (!source && isInt8(operand.getType()))
        source = operand; // of another block
      isChain = source && (!x || x == source);
      x = source;
    }
    if (isChain && x && shapeOf(x) == shapeOf(y) &&
        typeOf(x).getEncoding() == typeOf(y).getEncoding())
      sources[y] = x;
    else if (isInt8(y.getType()))
      sources[y] = y;
  }

  /// What makes y of x, each operation behind those that it needs.
  static void collect(Value y, Value x, llvm::SetVector<Operation *> &chain) {
    Operation *op = y.getDefiningOp();
    if (y == x || numberOf(y) || chain.contains(op))
      return;
    for (Value operand : op->getOperands())
      collect(operand, x, chain);
    chain.insert(op);
  }

  static std::optional<ref::Tensor> tableOf(ArrayRef<Operation *> chain, Value x) {
    auto all = [](Type element) { return RankedTensorType::get({256}, element); };
    DenseMap<Value, ref::Tensor> values;
    ref::Tensor each = ref::Tensor::empty(all(typeOf(x).getElementType()));
    for (int64_t i = 0; i < each.size(); ++i)
      each.setInt(i, i);
    values[x] = each;
    for (Operation *op : chain) {
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
        return std::nullopt;
      values[op->getResult(0)] = outputs.front();
    }
    return values[chain.back()->getResult(0)];
  }

  DenseMap<Value, Value> sources;
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
      for (Operation *op = &block->back(); op; op = chains.rewrite(op)->getPrevNode()) {
      }
    }
  }
};

} // namespace

std::unique_ptr<Pass> createTablesPass() { return std::make_unique<TablesPass>(); }

} // namespace dlc
