//===- Grad.cpp - the grad pass: expands every dlc.gradient ---------------===//
#include "ir/dlc/Attributes.h"
#include "passes/Passes.h"
#include "passes/fuse/attention/FusedAttention.h"
#include "passes/grad/Rules.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace dlc {
namespace grad {
namespace {

const GradientRules &allRules() {
  static const GradientRules rules = [] {
    GradientRules all;
    addElementwiseGradients(all);
    addShapeOpGradients(all);
    addGatherGradients(all);
    addReduceGradients(all);
    addMatmulGradients(all);
    addConvGradients(all);
    addPoolGradients(all);
    addNormGradients(all);
    addAttentionGradients(all);
    addRecurrentGradients(all);
    addControlFlowGradients(all);
    addTransferGradients(all);
    addCollectiveGradients(all);
    addCustomGradientRule(all);
    return all;
  }();
  return rules;
}

/// Returns the user-visible name of a value: the name of an input or a parameter, otherwise the
/// name in its location.
std::string nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
        return name.str();
  if (auto name = dyn_cast<NameLoc>(value.getLoc()))
    return name.getName().str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, OpPrintingFlags());
  return text;
}

LogicalResult emitIndependentError(GradientOp op, Value x) {
  InFlightDiagnostic error =
      op.emitError("the loss does not depend on '")
      << nameOf(x) << "'; do not differentiate by it, use it in the loss, or allow it to be unused";
  error.attachNote(x.getLoc()) << "'" << nameOf(x) << "' is this value, " << x.getType();
  return error;
}

LogicalResult expandGradientOp(GradientOp op) {
  OpBuilder builder(op);
  TensorBuilder b(builder, op.getLoc());
  SmallVector<Value> seeds(op.getSeeds());
  if (seeds.empty())
    for (Value y : op.getYs())
      seeds.push_back(b.reshape(b.scalar(1, y), shapeOf(y)));
  FailureOr<SmallVector<Value>> gradients = failure();
  {
    // An error is reported at the operation that has no gradient, with a note at the dlc.gradient
    // that requests it.
    ScopedDiagnosticHandler note(op.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostic.attachNote(op.getLoc()) << "the gradient is requested here";
      return failure();
    });
    BackwardPass backward(allRules(), builder);
    gradients = backward.run({op.getYs(), seeds, op.getXs(), op.getLoc()});
  }
  if (failed(gradients))
    return failure();
  LogicalResult found = success();
  for (auto [x, gradient] : llvm::zip_equal(op.getXs(), *gradients)) {
    if (!gradient && !op.getAllowUnused())
      found = emitIndependentError(op, x);
    else if (!gradient)
      gradient = zeros(b, x.getType());
  }
  if (failed(found))
    return failure();
  op->replaceAllUsesWith(*gradients);
  op->erase();
  return success();
}

struct GradPass : PassWrapper<GradPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GradPass)

  StringRef getArgument() const final { return "dlc-grad"; }
  StringRef getDescription() const final {
    return "expands dlc.gradient by reverse-mode differentiation";
  }

  void runOnOperation() final {
    // Nested and earlier dlc.gradient operations are expanded first, so that a gradient of a
    // gradient differentiates ordinary operations.
    SmallVector<GradientOp> ops;
    getOperation()->walk<WalkOrder::PostOrder>([&](GradientOp op) { ops.push_back(op); });
    for (GradientOp op : ops)
      if (failed(expandGradientOp(op)))
        return signalPassFailure();
    eraseCustomGradients(getOperation());
    getOperation()->walk([](Operation *op) { op->removeAttr(kKeepFusedAttr); });
  }
};

} // namespace
} // namespace grad

std::unique_ptr<Pass> createGradPass() { return std::make_unique<grad::GradPass>(); }

} // namespace dlc
