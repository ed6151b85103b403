//===- FoldConstants.cpp - evaluates operations on constants --------------===//
#include "ir/dlc/Collective.h"
#include "ir/dlc/Shape.h"
#include "ir/reference/Evaluate.h"
#include "passes/Costs.h"
#include "passes/QuantizedWeights.h"
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {

static int64_t elementsOf(ValueRange values) {
  int64_t elements = 0;
  for (Value value : values)
    elements += staticElements(typeOf(value));
  return elements;
}

/// Returns whether the operation widens weights that should remain narrow (4 or 8 bits) in memory:
/// quantized weights that a kernel reads, and 8-bit weights of matmuls that are bound by weight
/// bandwidth.
static bool isWideningOfWeights(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  if (isa<DequantizeOp>(op) && isQuantizedWeights(op->getResult(0)))
    return true;
  return cast && isInt8(cast.getX().getType()) && typeOf(cast.getY()).getElementType().isF32() &&
         llvm::all_of(cast.getY().getUsers(), [&](Operation *user) {
           auto product = dyn_cast<MatmulOp>(user);
           return product && product.getA() != cast.getY() && isWeightBandwidthBound(product);
         });
}

bool isEvaluable(Operation *op) {
  if (!op || isWideningOfWeights(op) || !isa<ReferenceInterface>(op) || op->getNumRegions() != 0 ||
      op->getNumResults() == 0 || dependsOnRank(op) || op->hasTrait<NoConstantFold>())
    return false;
  return llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      [](Type type) {
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        return tensor && tensor.hasStaticShape() && layoutOf(tensor).empty();
                      });
}

int64_t countEvaluatorReads(Operation *op) {
  int64_t reads = elementsOf(op->getResults());
  if (auto mapped = dyn_cast<IndexMapped>(op))
    for (int64_t extent : mapped.foldedExtents())
      if (llvm::MulOverflow(reads, extent, reads))
        return std::numeric_limits<int64_t>::max();
  return reads;
}

namespace {

/// Maximum number of elements of a folded result.
constexpr int64_t maxElements = 16 << 20;
/// Size limits, in elements, for results that are much larger than their inputs: the first applies
/// to results that the kernel of their user can compute, the second to results that need a separate
/// kernel.
constexpr int64_t smallElements = 4096, largeElements = 4 << 20;

/// Returns whether the kernel of the result's user can compute the result while reading the inputs,
/// at about the cost of reading the result.
bool canComputeWhileReading(Operation *op) {
  constexpr double heavy = 4; // powers and sines cost much more than a load
  return (op->hasTrait<Elementwise>() && cast<FactsInterface>(op).getWeight() <= heavy) ||
         op->hasTrait<Movement>() || op->hasTrait<ElementMove>() || op->hasTrait<View>();
}

/// Cache of constants and of values that are computed from constants.
class ConstantCache {
public:
  /// Returns whether the value is computed only from constants.
  bool isConstant(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<ConstantOp>(op))
      return op;
    if (auto [at, isNew] = constant.try_emplace(op, false); !isNew)
      return at->second;
    bool is = isEvaluable(op) && elementsOf(op->getResults()) <= maxElements &&
              llvm::all_of(op->getOperands(), [&](Value v) { return isConstant(v); });
    return constant[op] = is;
  }

  std::optional<ref::Tensor> tensor(Value value) {
    if (value.getDefiningOp<ConstantOp>())
      return constantTensor(value);
    auto result = cast<OpResult>(value);
    SmallVector<ref::Tensor> outputs;
    if (failed(evaluate(result.getOwner(), outputs)))
      return std::nullopt;
    return outputs[result.getResultNumber()];
  }

  LogicalResult evaluate(Operation *op, SmallVector<ref::Tensor> &outputs) {
    if (auto found = values.find(op); found != values.end()) {
      outputs = found->second;
      return success(!outputs.empty());
    }
    SmallVector<ref::Tensor> inputs;
    for (Value operand : op->getOperands()) {
      std::optional<ref::Tensor> input = tensor(operand);
      if (!input)
        return failure();
      inputs.push_back(*input);
    }
    // If the evaluation fails, the operation remains and may fail at run time. No error is reported
    // at compile time, because the operation may never be executed.
    ScopedDiagnosticHandler silence(op->getContext(), [](Diagnostic &) { return success(); });
    auto nothing = [](Value) { return ref::Tensor(); };
    if (failed(ref::evaluateOp(op, inputs, nothing, outputs)) ||
        outputs.size() != op->getNumResults())
      outputs.clear();
    values[op] = outputs;
    return success(!outputs.empty());
  }

private:
  DenseMap<Operation *, bool> constant;
  DenseMap<Operation *, SmallVector<ref::Tensor>> values;
};

bool isFoldingProfitable(Operation *op) {
  int64_t read = 0, written = elementsOf(op->getResults());
  for (Value operand : op->getOperands())
    read += splatValue(operand) ? 1 : staticElements(typeOf(operand));
  // Results are limited in size, because constants are stored in the compiled program, which
  // folding must not enlarge much.
  return countEvaluatorReads(op) <= kMaxEvaluated && written <= maxElements &&
         (written <= (canComputeWhileReading(op) ? smallElements : largeElements) ||
          written <= 2 * read);
}

// op(constants) -> constant
struct FoldConstants : RewritePattern {
  explicit FoldConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isEvaluable(op) || isa<ConstantOp>(op) || op->use_empty() || !isFoldingProfitable(op))
      return failure();
    // If the kernel of the user can compute an operation while reading its operands, folding saves
    // little, so that all operands must be constants already. For any other operation, the whole
    // chain of operations that computes its operands from constants is evaluated, too.
    ConstantCache known;
    if (!llvm::all_of(op->getOperands(), [&](Value value) {
          return canComputeWhileReading(op) ? value.getDefiningOp<ConstantOp>() != nullptr
                                            : known.isConstant(value);
        }))
      return failure();
    SmallVector<ref::Tensor> outputs;
    if (failed(known.evaluate(op, outputs)))
      return failure();
    SmallVector<Value> values;
    for (auto [output, result] : llvm::zip(outputs, op->getResults()))
      values.push_back(makeConstant(rewriter, op->getLoc(), output, typeOf(result)));
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void addConstantFolding(RewritePatternSet &patterns) {
  patterns.add<FoldConstants>(patterns.getContext());
}

} // namespace dlc
