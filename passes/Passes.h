//===- Passes.h - constructors of the dlc-to-dlc passes -------------------===//
#ifndef DLC_PASSES_PASSES_H
#define DLC_PASSES_PASSES_H

#include "dlc/options.hpp"
#include "passes/Costs.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace dlc {

/// `dlc-simplify`: constant folding, algebraic simplification and dead-code elimination. Works on
/// modules with and without device placement.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `dlc-where`: runs the passes in `passes` only if the module contains an operation named
/// `operation`.
std::unique_ptr<mlir::Pass> createWherePass(llvm::StringRef operation, mlir::OpPassManager passes);

/// `dlc-mark-attention`: marks the attention operations that run as one fused kernel and must not
/// be decomposed. With `gradients`, the pass runs before dlc-grad and compares the costs of the
/// forward and backward passes together.
std::unique_ptr<mlir::Pass> createMarkAttentionPass(const ModelOptions &options = {},
                                                    bool gradients = false,
                                                    CostsFactory kernels = assumedCosts);
/// `dlc-grad`: expands every dlc.gradient by reverse-mode differentiation.
std::unique_ptr<mlir::Pass> createGradPass();

/// `dlc-precision`: gives matmuls and convolutions 16-bit operands (mixed precision), and keeps f32
/// where sums and exponentials need it.
std::unique_ptr<mlir::Pass> createPrecisionPass(const ModelOptions &options = {});
/// `dlc-recompute`: rematerializes values for the backward pass of a training step: those that are
/// cheaper to recompute than to retain, and those that would exceed `maxMemory`. If `mayFail` is
/// set, the pass reduces memory as far as possible and reports no error when the limit is exceeded.
std::unique_ptr<mlir::Pass> createRecomputePass(const ModelOptions &options = {},
                                                bool mayFail = false);
/// `dlc-accuracy`: applies the accuracy levels that the options set for single matmuls and
/// convolutions by name. With `beforeSimplify`, the pass only sets the attributes that later
/// rewrites check.
std::unique_ptr<mlir::Pass> createAccuracyPass(const ModelOptions &options = {},
                                               bool beforeSimplify = false);
/// `dlc-weights`: stores constant weights of matmuls in fewer bits (bf16, f16 or int8) and inserts
/// the conversion to f32 before their users.
std::unique_ptr<mlir::Pass> createWeightsPass(const ModelOptions &options = {});
/// `dlc-raise-quantized`: recognizes dequantizations that a model expresses by casts, subtractions
/// and multiplications, and replaces them by dlc.dequantize.
std::unique_ptr<mlir::Pass> createRaiseQuantizedPass();
/// `dlc-integer-sums`: rewrites matmuls and convolutions of dequantized operands as integer
/// contractions if the device has kernels for these. Integer contractions without kernels become
/// f32 contractions, split along the reduction dimension so that every partial sum is exact in f32.
std::unique_ptr<mlir::Pass> createIntegerSumsPass(const ModelOptions &options = {},
                                                  CostsFactory kernels = assumedCosts);
/// `dlc-expand-quantized`: expands quantize, dequantize and dynamic_quantize to elementwise
/// operations, and rewrites contractions of 4- or 8-bit integers as contractions of i32.
std::unique_ptr<mlir::Pass> createExpandQuantizedPass();
/// `dlc-pack-integers`: rewrites tensors of 4-bit integers as tensors of packed bytes, and casts
/// from and to 4 bits as shifts. No 4-bit type remains.
std::unique_ptr<mlir::Pass> createPackIntegersPass();
/// `dlc-half-precision`: computes matmuls and convolutions in f32 if the processor has no kernels
/// for their 16-bit float type, together with the operations between them.
std::unique_ptr<mlir::Pass> createHalfPrecisionPass(const ModelOptions &options = {},
                                                    CostsFactory kernels = assumedCosts);
/// `dlc-tables`: replaces chains of elementwise operations between 8-bit values by lookups in
/// tables of 256 elements.
std::unique_ptr<mlir::Pass> createTablesPass();

/// `dlc-split`: tensor parallelism. Splits annotated parameters, and all values derived from them,
/// into one part for each rank.
std::unique_ptr<mlir::Pass> createSplitPass(const ModelOptions &options = {});
/// `dlc-buckets`: combines independent all-reduces into one all-reduce for each bucket. A bucket
/// stores the reduced tensors contiguously, in the order in which they are computed.
std::unique_ptr<mlir::Pass> createBucketsPass();
std::unique_ptr<mlir::Pass> createHoistCollectivesPass();
/// `dlc-sync-batch-norm`: computes the statistics of batch norm, and the sums of its gradient, over
/// the batches of all ranks if the operation has the attribute kOverRanksAttr
/// (ir/dlc/Collective.h).
std::unique_ptr<mlir::Pass> createSyncBatchNormPass();

/// `dlc-remember-devices`: copies the devices that the attribute `dlc.device` requests to the
/// locations of operations, which rewrites preserve.
std::unique_ptr<mlir::Pass> createRememberDevicesPass();
/// `dlc-place`: assigns a device to every tensor and inserts transfers between devices.
std::unique_ptr<mlir::Pass> createPlacePass(const ModelOptions &options = {});
/// `dlc-verify-placement`: verifies that every tensor has a device and that only dlc.transfer
/// connects devices.
std::unique_ptr<mlir::Pass> createVerifyPlacementPass();

/// `dlc-verify-shapes`: verifies that all shapes are static.
std::unique_ptr<mlir::Pass> createVerifyShapesPass();
/// `dlc-layout`: chooses the layouts that minimize the total cost of kernels and reorders.
std::unique_ptr<mlir::Pass> createLayoutPass(const ModelOptions &options = {},
                                             CostsFactory kernels = assumedCosts);
/// `dlc-verify-layout`: verifies that all operations with operands or results in a blocked layout
/// support blocked layouts.
std::unique_ptr<mlir::Pass> createVerifyLayoutPass();

/// `dlc-decompose`: decomposes layers that have no kernel of their own into elementwise operations,
/// reductions and matmuls. Without `costs`, libraries are assumed to compute all recurrent layers
/// in f32.
std::unique_ptr<mlir::Pass> createDecomposePass(std::shared_ptr<Costs> costs = nullptr);
/// `dlc-excess-precision`: marks the 16-bit values that kernels may keep in f32 without rounding
/// (passes/Rounding.h).
std::unique_ptr<mlir::Pass> createExcessPrecisionPass(const ModelOptions &options = {});
/// `dlc-fuse`: groups the operations of each kernel into one dlc.fusion.
std::unique_ptr<mlir::Pass> createFusePass();

/// Registers all passes by name for pass pipelines. `kernels` creates the costs that the passes
/// query.
void registerPasses(const CostsFactory &kernels = assumedCosts);

} // namespace dlc

#endif // DLC_PASSES_PASSES_H
