//===- ImportStablehlo.cpp - the pass that imports StableHLO modules -------===//
#include "tools/opt/Registration.h"

#include "frontend/mlir/stablehlo/Import.h"
#include "ir/dlc/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace {
struct ImportStablehloPass : PassWrapper<ImportStablehloPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImportStablehloPass)

  StringRef getArgument() const override { return "dlc-import-stablehlo"; }
  StringRef getDescription() const override {
    return "Import a module of StableHLO operations as dlc operations";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<dlc::DlcDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!dlc::isStablehlo(module))
      return;
    auto imported = dlc::importStablehlo(module);
    if (failed(imported))
      return signalPassFailure();
    module.getBodyRegion().takeBody((*imported)->getBodyRegion());
  }
};
} // namespace

void dlc::registerImportPasses() { PassRegistration<ImportStablehloPass>(); }

void dlc::addImportPasses(OpPassManager &passes) {
  passes.addPass(std::make_unique<ImportStablehloPass>());
}
