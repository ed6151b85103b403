//===- FoldConstants.cpp - evaluates what depends on constants alone ------===//
#include "ir/reference/Evaluate.h"
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {
namespace {

/// A result this large is left to run time.
constexpr int64_t maxElements = 16 << 20;
/// A result so much larger than what it is made from is left, above this size.
constexpr int64_t smallElements = 4096;

bool isWorthIt(Operation *op) {
  int64_t read = 0, written = 0;
  for (Value operand : op->getOperands())
    read += splatValue(operand) ? 1 : typeOf(operand).getNumElements();
  for (Value result : op->getResults())
    written += typeOf(result).getNumElements();
  // A program keeps its constants: folding must not make it much larger.
  return written <= maxElements && (written <= smallElements || written <= 2 * read);
}

// op(constants) = constant
struct FoldConstants : RewritePattern {
  explicit FoldConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<ReferenceInterface>(op) || op->getNumRegions() != 0 || op->getNumResults() == 0 ||
        isa<ConstantOp, RandomOp, TransferOp, ReorderOp>(op) || op->use_empty())
      return failure();
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() || !layoutOf(tensor).empty())
        return failure();
    }
    if (!llvm::all_of(op->getOperands(), [](Value v) { return v.getDefiningOp<ConstantOp>(); }) ||
        !isWorthIt(op))
      return failure();
    SmallVector<ref::Tensor> inputs, outputs;
    for (Value operand : op->getOperands()) {
      std::optional<ref::Tensor> tensor = constantTensor(operand);
      if (!tensor)
        return failure();
      inputs.push_back(*tensor);
    }
    // What cannot be evaluated here may never run: it stays, and fails then.
    ScopedDiagnosticHandler silence(op->getContext(), [](Diagnostic &) { return success(); });
    auto nothing = [](Value) { return ref::Tensor(); };
    if (failed(ref::evaluateOp(op, inputs, nothing, outputs)) ||
        outputs.size() != op->getNumResults())
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
