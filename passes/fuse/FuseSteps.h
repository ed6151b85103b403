//===- FuseSteps.h - the steps of the fuse pass, in order -----------------===//
#ifndef DLC_PASSES_FUSE_FUSESTEPS_H
#define DLC_PASSES_FUSE_FUSESTEPS_H

#include "passes/fuse/Grouping.h"

namespace dlc {

/// Limits of one kernel: beyond these, compile time grows and registers spill.
inline constexpr int maxFusionOps = 64;
/// From so many on a kernel rather ends where values have 8 bits than a few operations on, where
/// they take four times the memory.
inline constexpr int maxFusionOpsAtBytes = 48;
inline constexpr int maxFusionInputs = 24;

/// 0. Sums over indices that are added to state or to a product go there directly, not into zeros.
void sinkScatters(mlir::Block &block);

/// On GPUs weights of contractions in i32 are 8 bits again where they can be, as tensor cores take
/// them.
void narrowWeights(mlir::Block &block);

/// Reorders of integers that were 8 bits reorder those.
void reorderNarrow(mlir::Block &block);

/// 1. Each matrix product, convolution and pool with its views, bias and post-ops. Copies view
/// operations that others use too.
void groupContractions(Grouping &grouping);

/// The same for attention that stays whole, with its views.
void groupAttention(Grouping &grouping);

/// 2. Elementwise operations, movements and reductions, from consumers to producers. Copies cheap
/// operations into several consumers.
void groupMaps(Grouping &grouping);

/// 3. Kernels that read one large operand over the same iteration space become one kernel.
void mergeSiblings(Grouping &grouping);
/// Updates of small states of one size become one kernel.
void mergeSmallUpdates(Grouping &grouping);
/// Whether one kernel may hold all of these: it works in one layout.
bool agreeOnLayout(llvm::ArrayRef<mlir::Operation *> ops);
/// And it does not choose among a concatenation's parts for each element.
bool walkParts(llvm::ArrayRef<mlir::Operation *> ops);

/// 4. Every group becomes a dlc.fusion.
void outlineGroups(Grouping &grouping);

/// On GPUs, what another kernel reads in parts, each element once, is made where it is read: the
/// gates of a recurrent layer are one product's sum.
void joinParts(mlir::Block &block);

/// 5. A generated kernel does not work on layouts whose last block is partly padding: reorders
/// around it.
void plainPaddedFusions(mlir::Block &block);

/// 6. Reorders of layouts without blocks become transpositions.
void transposeReorders(mlir::Block &block);

/// Before all groups: on GPUs no library competes for them, and a kernel takes them along with what
/// makes or reads the value.
void transposeReordersOfGpus(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_FUSESTEPS_H
