//===- EvaluatePass.cpp - the reference evaluator as a pass ---------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "ir/reference/Passes.h"
#include "ir/reference/World.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace dlc::ref {

namespace {
struct EvaluatePass : PassWrapper<EvaluatePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EvaluatePass)

  EvaluatePass() = default;
  EvaluatePass(const EvaluatePass &other) : PassWrapper(other) {}

  Option<int> ranks{*this, "ranks",
                    llvm::cl::desc("number of ranks that evaluate the module together"),
                    llvm::cl::init(1)};
  Option<int> rank{*this, "rank", llvm::cl::desc("rank whose results replace the body"),
                   llvm::cl::init(0)};

  StringRef getArgument() const override { return "dlc-evaluate"; }
  StringRef getDescription() const override {
    return "replaces the body of each function without arguments by its results, computed by the "
           "reference evaluator";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<DlcDialect>();
  }

  LogicalResult evaluateBody(func::FuncOp function) {
    if (rank < 0 || rank >= ranks)
      return function.emitError("rank must be one of the ranks, 0 to ")
             << ranks - 1 << "; found " << rank.getValue() << "; choose another rank";
    std::vector<SmallVector<Tensor>> all;
    if (failed(evaluateWorld(function, std::vector<SmallVector<Tensor>>(size_t(ranks)), all)))
      return failure();
    SmallVector<Tensor> &outputs = all[size_t(rank)];
    Block &body = function.getFunctionBody().front();
    Operation *terminator = body.getTerminator();
    OpBuilder builder(terminator);
    SmallVector<Value> values;
    SmallVector<Type> types;
    for (const Tensor &output : outputs) {
      ElementsAttr value = output.toAttr();
      types.push_back(value.getType());
      values.push_back(
          ConstantOp::create(builder, terminator->getLoc(), value.getType(), value).getResult());
    }
    terminator->setOperands(values);
    function.setFunctionType(FunctionType::get(&getContext(), {}, types));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (&op != terminator && op.use_empty())
        op.erase();
    return success();
  }

  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function.getNumArguments() == 0 && !function.isExternal() &&
          failed(evaluateBody(function)))
        signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> createEvaluatePass() { return std::make_unique<EvaluatePass>(); }

void registerReferencePasses() { registerPass(createEvaluatePass); }

} // namespace dlc::ref
