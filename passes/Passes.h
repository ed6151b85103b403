//===- Passes.h - the passes from dlc to dlc ------------------------------===//
#ifndef DLC_PASSES_PASSES_H
#define DLC_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace dlc {

/// `dlc-simplify`: constants, algebra, dead code. Works on unplaced and placed modules.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `dlc-grad`: spells every dlc.gradient out, in reverse mode.
std::unique_ptr<mlir::Pass> createGradPass();

/// `dlc-place`: every tensor that has no device yet gets this one.
std::unique_ptr<mlir::Pass> createPlacePass(std::string device = "cpu");
/// `dlc-verify-placement`: every tensor is placed, and only dlc.transfer crosses devices.
std::unique_ptr<mlir::Pass> createVerifyPlacementPass();

/// `dlc-layout`: the blocked layouts that oneDNN asks for with so many threads (0: all).
std::unique_ptr<mlir::Pass> createLayoutPass(int threads = 0);
/// `dlc-verify-layout`: only operations that understand a blocked layout see one.
std::unique_ptr<mlir::Pass> createVerifyLayoutPass();

/// `dlc-decompose`: layers that no kernel does whole become elementwise operations, reductions and
/// products.
std::unique_ptr<mlir::Pass> createDecomposePass();
/// `dlc-fuse`: what runs as one kernel becomes one dlc.fusion.
std::unique_ptr<mlir::Pass> createFusePass();

/// Makes all of them known to pass pipelines by name.
void registerPasses();

} // namespace dlc

#endif // DLC_PASSES_PASSES_H
