//===- FuseSteps.h - the steps of the fuse pass, in order -----------------===//
#ifndef DLC_PASSES_FUSE_GROUPING_FUSESTEPS_H
#define DLC_PASSES_FUSE_GROUPING_FUSESTEPS_H

#include "passes/fuse/grouping/Grouping.h"

namespace dlc {

/// Maximum number of operations of one kernel. Larger kernels take long to compile and spill
/// registers.
inline constexpr int maxFusionOps = 64;
/// Maximum number of operations of a kernel into which an operation with an 8-bit result is fused.
/// A larger kernel reads the 8-bit result from memory instead. Without this limit, kernels would
/// end at f32 values, which take four times the memory.
inline constexpr int maxFusionOpsAtBytes = 48;
inline constexpr int maxFusionInputs = 24;

/// Step 0 of the fuse pass: replaces scatter-adds into zeros by scatter-adds into the state or
/// matmul result to which their result is added.
void sinkScatters(mlir::Block &block);

/// Step 1 of the fuse pass: groups each matmul, convolution and pool with its views, bias and
/// epilogue ops. View operations with other users are cloned.
void groupContractions(Grouping &grouping);

/// Groups each attention that is not decomposed with the view operations on its operands and
/// results.
void groupAttention(Grouping &grouping);

/// Step 2 of the fuse pass: groups elementwise operations, movements and reductions, from consumers
/// to producers. Cheap operations are cloned into several consumers.
void groupMaps(Grouping &grouping);

/// Step 3 of the fuse pass: merges kernels that read one large operand over the same iteration
/// space.
void mergeSiblings(Grouping &grouping);
/// Merges the kernels that update small states of the same size, such as biases in an optimizer
/// step.
void mergeSmallUpdates(Grouping &grouping);
/// Returns whether all of the operations can be computed in a single layout, which fusing them into
/// one kernel requires.
bool agreeOnLayout(llvm::ArrayRef<mlir::Operation *> ops);
/// Returns whether one kernel of these operations can iterate over the operands of a concatenation
/// separately, instead of selecting an operand for each element.
bool walkParts(llvm::ArrayRef<mlir::Operation *> ops);

/// Step 4 of the fuse pass: outlines each group as a dlc.fusion.
void outlineGroups(Grouping &grouping);

/// On GPUs, fuses a producer into the kernel that reads its result in slices, if each element is
/// read at most once. Example: the gates of a recurrent layer are slices of one sum.
void fuseIntoSlicingReaders(mlir::Block &block);

/// Step 5 of the fuse pass: inserts reorders to row-major around generated kernels with blocked
/// layouts whose last block is padded, because generated code does not support such layouts.
void reorderPaddedFusions(mlir::Block &block);

/// Step 6 of the fuse pass: rewrites reorders between layouts without blocks as transpositions.
void convertReordersToTransposes(mlir::Block &block);

/// On GPUs, rewrites reorders as transpositions before operations are grouped: no library kernel is
/// faster on GPUs, and a transposition can be fused with the producer or the readers of the value.
void convertGpuReordersToTransposes(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_FUSESTEPS_H
