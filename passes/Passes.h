//===- Passes.h - the passes from dlc to dlc ------------------------------===//
#ifndef DLC_PASSES_PASSES_H
#define DLC_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc {

/// `dlc-simplify`: constants, algebra, dead code. Works on unplaced and placed modules.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `dlc-grad`: spells every dlc.gradient out, in reverse mode. `device` is where most will stand:
/// there is attention that a GPU does whole.
std::unique_ptr<mlir::Pass> createGradPass(const std::string &device = "cpu");

/// What is computed in 16 bits.
struct PrecisionOptions {
  /// none, bf16 or f16: the type of products' operands.
  std::string mode = "none";
  /// highest, high or medium: how exact products of f32 are.
  std::string matmul = "highest";
  /// PATTERN=f32|bf16|f16: operations of such names, whatever the mode.
  std::vector<std::string> overrides = {};
  /// f32, bf16 or int8: what constant weights of matrix products are kept in.
  std::string weights = "f32";
};
/// `dlc-precision`: 16-bit operands for products, f32 where sums and exponentials need it.
std::unique_ptr<mlir::Pass> createPrecisionPass(const PrecisionOptions &options = {});
/// `dlc-weights`: constant weights of products in fewer bits, with what makes f32 of them in front.
std::unique_ptr<mlir::Pass> createWeightsPass(const std::string &weights = "f32");

struct RecomputeOptions {
  /// Bytes of state, constants and what is alive at once, by estimate; 0: as many as it takes.
  int64_t maxMemory = 0;
  /// Where that is too little, go as far as possible without an error.
  bool mayFail = false;
};
/// On a module whose memory was bounded: the bytes that it takes by estimate.
constexpr llvm::StringLiteral kEstimateAttr = "dlc.estimated_memory";
/// `dlc-recompute`: computes again what is not worth keeping for a training step's backward pass.
std::unique_ptr<mlir::Pass> createRecomputePass(const RecomputeOptions &options = {});

struct CostTable;

/// Which device does what.
struct PlaceOptions {
  /// Where inputs and outputs stand, and what nobody asks to be elsewhere when all is equal.
  std::string device = "cpu";
  /// PATTERN=DEVICE by the names of operations, input:PATTERN=DEVICE and output:PATTERN=DEVICE by
  /// the names of arguments and results; auto:DEVICE,DEVICE=2GiB or split:DEVICE,DEVICE at most
  /// once.
  std::vector<std::string> places = {};
  /// Nothing of such a name may need a transfer that nobody wrote; empty: anything may.
  std::string forbidTransfers = {};
  /// What devices and the ways between them cost; null: the built-in figures.
  std::shared_ptr<const CostTable> costs = {};
};
/// `dlc-remember-devices`: keeps what `dlc.device` asks for where rewriting does not lose it.
std::unique_ptr<mlir::Pass> createRememberDevicesPass();
/// `dlc-place`: every tensor gets its device, and transfers where something crosses.
std::unique_ptr<mlir::Pass> createPlacePass(const PlaceOptions &options = {});
/// On a module of several devices: which operation stands where and why, and what crosses.
constexpr llvm::StringLiteral kPlacementAttr = "dlc.placement";
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
