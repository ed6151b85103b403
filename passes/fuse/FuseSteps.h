//===- FuseSteps.h - the steps of the fuse pass, in order -----------------===//
#ifndef DLC_PASSES_FUSE_FUSESTEPS_H
#define DLC_PASSES_FUSE_FUSESTEPS_H

#include "passes/fuse/Grouping.h"

namespace dlc {

/// Limits of one kernel. Larger kernels take long to compile and spill registers.
inline constexpr int maxFusionOps = 64;
/// Limit for adding an operation with an 8-bit result to a kernel. A kernel of at least this size
/// starts at such a value rather than a few operations before, where values take four times the
/// memory.
inline constexpr int maxFusionOpsAtBytes = 48;
inline constexpr int maxFusionInputs = 24;

/// 0. Replaces scatter-adds into zeros by scatter-adds into the state or matmul result that their
/// result is added to.
void sinkScatters(mlir::Block &block);

/// 1. Groups each matmul, convolution and pool with its views, bias and post-ops. View operations
/// with other users are cloned.
void groupContractions(Grouping &grouping);

/// Groups each attention that stays whole with its views.
void groupAttention(Grouping &grouping);

/// 2. Groups elementwise operations, movements and reductions, from consumers to producers. Cheap
/// operations are cloned into several consumers.
void groupMaps(Grouping &grouping);

/// 3. Merges kernels that read one large operand over the same iteration space.
void mergeSiblings(Grouping &grouping);
/// Merges updates of small states of the same size.
void mergeSmallUpdates(Grouping &grouping);
/// Whether one kernel may contain all of these operations, considering layouts: a kernel works in a
/// single layout.
bool agreeOnLayout(llvm::ArrayRef<mlir::Operation *> ops);
/// Whether one kernel of these operations can iterate over the parts of a concatenation separately,
/// instead of selecting a part for each element.
bool walkParts(llvm::ArrayRef<mlir::Operation *> ops);

/// 4. Outlines each group as a dlc.fusion.
void outlineGroups(Grouping &grouping);

/// On GPUs, fuses a producer into the kernel that reads its result in slices, each element at most
/// once. Example: the gates of a recurrent layer are slices of one sum.
void joinParts(mlir::Block &block);

/// 5. Inserts reorders around generated kernels with blocked layouts whose last block is padded,
/// which generated code does not support.
void reorderPaddedFusions(mlir::Block &block);

/// 6. Rewrites reorders between layouts without blocks as transpositions.
void transposeReorders(mlir::Block &block);

/// On GPUs, rewrites reorders as transpositions before operations are grouped: no library competes
/// for them there, and they can be fused with the producer or the readers of the value.
void transposeReordersOfGpus(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_FUSESTEPS_H
