//===- Passes.cpp - registers the passes by name --------------------------===//
#include "passes/Passes.h"

#include "passes/size/Specialize.h"

#include "mlir/Pass/PassRegistry.h"

void dlc::registerPasses(const CostsFactory &kernels) {
  mlir::registerPass([] { return createSpecializePass(); });
  mlir::registerPass([] { return createSimplifyPass(); });
  mlir::registerPass(
      [] { return createWherePass("dlc.gradient", mlir::OpPassManager("builtin.module")); });
  mlir::registerPass([=] { return createMarkAttentionPass({}, /*gradients=*/false, kernels); });
  mlir::registerPass([] { return createGradPass(); });
  mlir::registerPass([] { return createPrecisionPass(); });
  mlir::registerPass([] { return createRecomputePass(); });
  mlir::registerPass([] { return createAccuracyPass(); });
  mlir::registerPass([] { return createWeightsPass(); });
  mlir::registerPass([] { return createRaiseQuantizedPass(); });
  mlir::registerPass([=] { return createIntegerSumsPass({}, kernels); });
  mlir::registerPass([=] { return createHalfPrecisionPass({}, kernels); });
  mlir::registerPass([] { return createExpandQuantizedPass(); });
  mlir::registerPass([] { return createPackIntegersPass(); });
  mlir::registerPass([] { return createTablesPass(); });
  mlir::registerPass([] { return createSplitPass(); });
  mlir::registerPass([] { return createBucketsPass(); });
  mlir::registerPass([] { return createHoistCollectivesPass(); });
  mlir::registerPass([] { return createSyncBatchNormPass(); });
  mlir::registerPass([] { return createRememberDevicesPass(); });
  mlir::registerPass([] { return createPlacePass(); });
  mlir::registerPass([] { return createVerifyPlacementPass(); });
  mlir::registerPass([] { return createVerifyShapesPass(); });
  mlir::registerPass([=] { return createLayoutPass({}, kernels); });
  mlir::registerPass([] { return createVerifyLayoutPass(); });
  mlir::registerPass([] { return createDecomposePass(); });
  mlir::registerPass([] { return createExcessPrecisionPass(); });
  mlir::registerPass([] { return createFusePass(); });
}
