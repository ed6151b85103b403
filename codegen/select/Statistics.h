//===- Statistics.h - a convolution's channels, summed up where it makes them -----===//
//
//   conv -> steps -> y -+-> first -+
//                       +-----> y - first -+-> mean
//                                          +-> square -> mean
//
// Batch normalisation of a training step reads all of y for these before it can read it again for
// its results. The call that makes y has it in registers.
//
//===------------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_STATISTICS_H
#define DLC_CODEGEN_SELECT_STATISTICS_H

#include "codegen/cpu/Target.h"
#include "codegen/select/Candidates.h"
#include "ir/dlc/Dialect.h"

namespace dlc {

/// Statistics of the channels of a tensor, as operations of one block compute them; each of one
/// element per channel.
struct ChannelStatistics {
  /// The first element, the mean of the differences from it, and the mean of their squares.
  mlir::Value first, shift, square;
  /// All that it takes, in the block's order.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Reads how `y` is used in the block that it is of: for that, or to be yielded, and for nothing
/// else.
std::optional<ChannelStatistics> matchStatistics(mlir::Value y);

/// Gives convolutions with fewer products the statistics of their channels to make, where that is
/// cheaper than a kernel that reads their result; a convolution that was given to another kernel
/// comes back where both together take less time so. The module's operations are those that were
/// chosen for: `choices` knows them by their place in memory.
void absorbStatistics(mlir::ModuleOp module, const CompileOptions &options,
                      const cpu::Target &target, Choices &choices);

} // namespace dlc
#endif
