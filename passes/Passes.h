//===- Passes.h - the passes from dlc to dlc ------------------------------===//
#ifndef DLC_PASSES_PASSES_H
#define DLC_PASSES_PASSES_H

#include "dlc/options.hpp"
#include "passes/Costs.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace dlc {

/// `dlc-simplify`: constants, algebra, dead code. Works on unplaced and placed modules.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `dlc-where`: other passes, on modules that hold an operation of this name.
std::unique_ptr<mlir::Pass> createWherePass(llvm::StringRef operation, mlir::OpPassManager passes);

/// `dlc-mark-attention`: marks the attention that is to stay whole where it is opened, or (with
/// `gradients`) differentiated.
std::unique_ptr<mlir::Pass> createMarkAttentionPass(const ModelOptions &options = {},
                                                    bool gradients = false,
                                                    CostsMaker kernels = assumedCosts);
/// `dlc-grad`: spells every dlc.gradient out, in reverse mode.
std::unique_ptr<mlir::Pass> createGradPass();

/// `dlc-precision`: 16-bit operands for products, f32 where sums and exponentials need it.
std::unique_ptr<mlir::Pass> createPrecisionPass(const ModelOptions &options = {});
/// On a module whose memory was bounded: the bytes that it takes by estimate.
constexpr llvm::StringLiteral kEstimateAttr = "dlc.estimated_memory";
/// `dlc-recompute`: computes again what is not worth keeping for a training step's backward pass,
/// and what `maxMemory` does not suffice for. `mayFail`: as far as possible, without an error.
std::unique_ptr<mlir::Pass> createRecomputePass(const ModelOptions &options = {},
                                                bool mayFail = false);
/// `dlc-accuracy`: what single products may lose for speed, by their names. `beforeSimplify`: sets
/// the levels only, for the rewrites that follow.
std::unique_ptr<mlir::Pass> createAccuracyPass(const ModelOptions &options = {},
                                               bool beforeSimplify = false);
/// `dlc-weights`: constant weights of products in fewer bits, with what makes f32 of them in front.
std::unique_ptr<mlir::Pass> createWeightsPass(const ModelOptions &options = {});
/// `dlc-raise-quantized`: dequantizations that a model spells out with casts, subtractions and
/// multiplications become dlc.dequantize.
std::unique_ptr<mlir::Pass> createRaiseQuantizedPass();
/// `dlc-integer-sums`: contractions of dequantized operands become sums of integers where there are
/// kernels for these; sums of integers without kernels become contractions of f32, split into parts
/// that are exact.
std::unique_ptr<mlir::Pass> createIntegerSumsPass(const ModelOptions &options = {},
                                                  CostsMaker kernels = assumedCosts);
/// `dlc-expand-quantized`: quantize, dequantize and dynamic_quantize as elementwise operations, and
/// contractions of 4- or 8-bit integers as contractions of i32.
std::unique_ptr<mlir::Pass> createExpandQuantizedPass();
/// `dlc-pack-integers`: tensors of 4-bit integers as their bytes, and casts from and to them as
/// shifts. No 4-bit type remains.
std::unique_ptr<mlir::Pass> createPackIntegersPass();
/// `dlc-halves`: products of 16-bit floats for which a processor has no kernels are computed in
/// f32, and what stands between them.
std::unique_ptr<mlir::Pass> createHalvesPass(const ModelOptions &options = {},
                                             CostsMaker kernels = assumedCosts);
/// `dlc-tables`: chains of operations between values of 8 bits become lookups in tables.
std::unique_ptr<mlir::Pass> createTablesPass();

/// `dlc-split`: annotated parameters, and what follows from them, in parts for each rank.
std::unique_ptr<mlir::Pass> createSplitPass(const ModelOptions &options = {});
/// On a module: the bytes of the first bucket, and of the others.
constexpr llvm::StringLiteral kBucketsAttr = "dlc.buckets";
/// `dlc-buckets`: all-reduces that do not wait for one another become one for each bucket, whose
/// parts lie side by side in the order in which they are written.
std::unique_ptr<mlir::Pass> createBucketsPass();
std::unique_ptr<mlir::Pass> createEarlyPass();
/// `dlc-sync-batch-norm`: statistics of batch norm, and the sums of its gradient, over the batches
/// of all ranks, where kOverRanksAttr (ir/dlc/Collective.h) asks for them.
std::unique_ptr<mlir::Pass> createSyncBatchNormPass();

/// `dlc-remember-devices`: keeps what `dlc.device` asks for where rewriting does not lose it.
std::unique_ptr<mlir::Pass> createRememberDevicesPass();
/// `dlc-place`: every tensor gets its device, and transfers where something crosses.
std::unique_ptr<mlir::Pass> createPlacePass(const ModelOptions &options = {});
/// On a module of several devices: which operation stands where and why, and what crosses.
constexpr llvm::StringLiteral kPlacementAttr = "dlc.placement";
/// `dlc-verify-placement`: every tensor is placed, and only dlc.transfer crosses devices.
std::unique_ptr<mlir::Pass> createVerifyPlacementPass();

/// `dlc-verify-shapes`: every shape is known.
std::unique_ptr<mlir::Pass> createVerifyShapesPass();
/// `dlc-layout`: the layouts that make kernels and the reorders between them cost least.
std::unique_ptr<mlir::Pass> createLayoutPass(const ModelOptions &options = {},
                                             CostsMaker kernels = assumedCosts);
/// `dlc-verify-layout`: only operations that understand a blocked layout see one.
std::unique_ptr<mlir::Pass> createVerifyLayoutPass();

/// `dlc-decompose`: layers that no kernel does whole become elementwise operations, reductions and
/// products.
std::unique_ptr<mlir::Pass> createDecomposePass();
/// `dlc-excess-precision`: marks 16-bit values that kernels may keep in f32 (passes/Rounding.h).
std::unique_ptr<mlir::Pass> createExcessPrecisionPass(const ModelOptions &options = {});
/// `dlc-fuse`: what runs as one kernel becomes one dlc.fusion.
std::unique_ptr<mlir::Pass> createFusePass();

/// Makes all of them known to pass pipelines by name. `kernels`: the costs that a compilation goes
/// by.
void registerPasses(const CostsMaker &kernels = assumedCosts);

} // namespace dlc

#endif // DLC_PASSES_PASSES_H
