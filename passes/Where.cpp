//===- Where.cpp - runs passes only if the module contains a given operation ----===//
#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace dlc {
namespace {

struct WherePass : PassWrapper<WherePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WherePass)

  WherePass() = default;
  WherePass(StringRef name, OpPassManager given) : inner(std::move(given)) {
    operation = name.str();
    std::string text;
    llvm::raw_string_ostream os(text);
    inner.printAsTextualPipeline(os);
    passes = text;
  }
  WherePass(const WherePass &other) : PassWrapper(other), inner(other.inner) {}

  StringRef getArgument() const final { return "dlc-where"; }
  StringRef getDescription() const final {
    return "runs other passes if the module contains an operation";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    inner.getDependentDialects(registry);
  }
  LogicalResult initializeOptions(StringRef options,
                                  function_ref<LogicalResult(const Twine &)> errorHandler) final {
    if (failed(Pass::initializeOptions(options, errorHandler)))
      return failure();
    FailureOr<OpPassManager> parsed = parsePassPipeline(passes);
    if (succeeded(parsed))
      inner = std::move(*parsed);
    return parsed;
  }

  void runOnOperation() final {
    bool holds = getOperation()
                     ->walk([&](Operation *op) {
                       return op->getName().getStringRef() == operation ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
                     })
                     .wasInterrupted();
    if (holds && failed(runPipeline(inner, getOperation())))
      signalPassFailure();
  }

  OpPassManager inner{ModuleOp::getOperationName()};
  Option<std::string> operation{*this, "operation",
                                llvm::cl::desc("name of the operation, such as dlc.gradient")};
  Option<std::string> passes{
      *this, "passes", llvm::cl::desc("pass pipeline to run, such as builtin.module(dlc-grad)")};
};

} // namespace

std::unique_ptr<Pass> createWherePass(StringRef operation, OpPassManager passes) {
  return std::make_unique<WherePass>(operation, std::move(passes));
}

} // namespace dlc
