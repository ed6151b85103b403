//===- Passes.cpp - makes the passes known by name ------------------------===//
#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"

void dlc::registerPasses() {
  mlir::registerPass([] { return createSimplifyPass(); });
  mlir::registerPass([] { return createGradPass(); });
  mlir::registerPass([] { return createPrecisionPass(); });
  mlir::registerPass([] { return createWeightsPass(); });
  mlir::registerPass([] { return createRecomputePass(); });
  mlir::registerPass([] { return createRememberDevicesPass(); });
  mlir::registerPass([] { return createPlacePass(); });
  mlir::registerPass([] { return createVerifyPlacementPass(); });
  mlir::registerPass([] { return createLayoutPass(); });
  mlir::registerPass([] { return createVerifyLayoutPass(); });
  mlir::registerPass([] { return createDecomposePass(); });
  mlir::registerPass([] { return createFusePass(); });
}
