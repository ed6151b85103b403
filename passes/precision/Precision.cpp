//===- Precision.cpp - the precision pass: 16-bit operands ----------------===//
#include "ir/dlc/Attributes.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/precision/Narrow.h"
#include "passes/simplify/Patterns.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace precision {
namespace {

struct PrecisionPass : OptionPass<PrecisionPass> {
  explicit PrecisionPass(const ModelOptions &options)
      : OptionPass("dlc-precision", "casts the operands of matmuls and convolutions to 16 bits",
                   {"precision", "precision-of", "matmul-precision", "accuracy"}, options) {}

  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet set(context);
    addConstantFolding(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    std::optional<PrecisionRequest> request = asked(module, options);
    if (!request)
      return failure();
    module->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || !hasWork(function, *request))
        return;
      PrecisionDemand demand(function, *request);
      PrecisionNarrowing narrowing(*request, demand);
      for (Block &block : function.getFunctionBody())
        narrowing.run(block);
      dropDead(function);
      // Greedy rewriting folds casts of constants, and removes pairs of inverse casts.
      GreedyRewriteConfig config;
      config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
      (void)applyPatternsGreedily(function.getFunctionBody(), patterns, config);
    });
    std::string matmul = getMatmulPrecision(options);
    if (matmul != "highest")
      module->walk(
          [&](Operation *op) { allowMath(op, *request, matmul == "medium" ? "bf16" : "tf32"); });
    return success();
  }

  std::optional<PrecisionRequest> asked(ModuleOp module, const ModelOptions &options) {
    std::string wrong;
    std::optional<PrecisionOverrides> parsed =
        PrecisionOverrides::parse(options.precisionOf, &getContext(), wrong);
    if (!parsed)
      return module.emitError("precision by name: required: PATTERN=f32, PATTERN=bf16 or "
                              "PATTERN=f16; found '")
                 << wrong << "'",
             std::nullopt;
    return PrecisionRequest{parseFloatType(options.precision, &getContext()), *parsed};
  }

  /// Returns whether any product (matmul, convolution or attention) of the function gets 16-bit
  /// operands. Other functions are not changed.
  static bool hasWork(FunctionOpInterface function, const PrecisionRequest &request) {
    return function
        ->walk([&](Operation *op) {
          FloatType type = request.typeOf(op);
          bool narrows = type && !type.isF32() && request.classOf(op) == NumericClass::Product;
          return narrows ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  static void dropDead(FunctionOpInterface function) {
    SmallVector<CastOp> casts;
    function->walk([&](CastOp op) { casts.push_back(op); });
    for (CastOp op : llvm::reverse(casts))
      if (op->use_empty())
        op.erase();
  }

  /// Sets the attribute that permits rounding the operands of an f32 matmul, convolution or
  /// attention to `math`: to bf16, or to tf32 and any type that is more precise.
  static void allowMath(Operation *op, const PrecisionRequest &request, StringRef math) {
    FloatType asked = request.overrides.of(op);
    if ((asked && asked.isF32()) || precision::classOf(op) != NumericClass::Product ||
        !llvm::all_of(op->getOperands(), [](Value operand) {
          return isF32Tensor(operand) || getElementTypeOrSelf(operand.getType()).isInteger(1);
        }))
      return;
    op->setAttr(kMathAttr, StringAttr::get(op->getContext(), math));
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace precision

std::unique_ptr<Pass> createPrecisionPass(const ModelOptions &options) {
  return std::make_unique<precision::PrecisionPass>(options);
}

} // namespace dlc
