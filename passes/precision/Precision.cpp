//===- Precision.cpp - the precision pass: which numbers are narrow -------===//
#include "passes/Passes.h"
#include "passes/precision/Narrow.h"
#include "passes/simplify/Patterns.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace precision {
namespace {

struct PrecisionPass : PassWrapper<PrecisionPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrecisionPass)

  PrecisionPass() = default;
  explicit PrecisionPass(const PrecisionOptions &options) {
    mode = options.mode;
    matmul = options.matmul;
    overrides = options.overrides;
  }
  PrecisionPass(const PrecisionPass &other) : PassWrapper(other) {
    mode = other.mode.getValue();
    matmul = other.matmul.getValue();
    overrides = llvm::ArrayRef<std::string>(other.overrides);
    patterns = other.patterns;
  }

  StringRef getArgument() const final { return "dlc-precision"; }
  StringRef getDescription() const final { return "16-bit operands for products"; }

  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet set(context);
    addConstantFolding(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() final {
    std::optional<Question> question = asked();
    if (!question)
      return signalPassFailure();
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || !hasWork(function, *question))
        return;
      Demand demand(function, *question);
      Narrowing narrowing(*question, demand);
      for (Block &block : function.getFunctionBody())
        narrowing.run(block);
      dropDead(function);
      // Constants become narrow at once, and casts there and back go.
      GreedyRewriteConfig config;
      config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
      (void)applyPatternsGreedily(function.getFunctionBody(), patterns, config);
    });
    if (matmul != "highest")
      getOperation()->walk(
          [&](Operation *op) { allowMath(op, *question, matmul == "medium" ? "bf16" : "tf32"); });
  }

  std::optional<Question> asked() {
    Operation *op = getOperation();
    if (mode != "none" && mode != "f32" && mode != "bf16" && mode != "f16")
      return op->emitError("precision: required: none, bf16 or f16; found '") << mode << "'",
             std::nullopt;
    if (matmul != "highest" && matmul != "high" && matmul != "medium")
      return op->emitError("precision of products: required: highest, high or medium; found '")
                 << matmul << "'",
             std::nullopt;
    std::string wrong;
    std::optional<Overrides> parsed = Overrides::parse(*overrides, &getContext(), wrong);
    if (!parsed)
      return op->emitError("precision by name: required: PATTERN=f32, PATTERN=bf16 or "
                           "PATTERN=f16; found '")
                 << wrong << "'",
             std::nullopt;
    FloatType narrow = typeNamed(mode, &getContext());
    if (narrow && narrow.isF32())
      narrow = {};
    return Question{narrow, *parsed};
  }

  /// Programs that nobody wants changed are left alone.
  static bool hasWork(FunctionOpInterface function, const Question &question) {
    return function
        ->walk([&](Operation *op) {
          FloatType type = question.typeOf(op);
          bool narrows = type && !type.isF32() && question.classOf(op) == NumericClass::Product;
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

  /// Products of f32 that may be computed from rounded operands: of bf16, or of tf32 or what is
  /// closer.
  static void allowMath(Operation *op, const Question &question, StringRef math) {
    FloatType asked = question.overrides.of(op);
    if ((asked && asked.isF32()) || precision::classOf(op) != NumericClass::Product ||
        !llvm::all_of(op->getOperands(), [](Value operand) {
          return isWide(operand) || getElementTypeOrSelf(operand.getType()).isInteger(1);
        }))
      return;
    op->setAttr(kMathAttr, StringAttr::get(op->getContext(), math));
  }

  Option<std::string> mode{*this, "mode", llvm::cl::desc("none, bf16 or f16"),
                           llvm::cl::init("none")};
  Option<std::string> matmul{*this, "matmul",
                             llvm::cl::desc("products of f32: highest, high or medium"),
                             llvm::cl::init("highest")};
  ListOption<std::string> overrides{*this, "override",
                                    llvm::cl::desc("PATTERN=f32|bf16|f16, by name")};
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace precision

std::unique_ptr<Pass> createPrecisionPass(const PrecisionOptions &options) {
  return std::make_unique<precision::PrecisionPass>(options);
}

} // namespace dlc
