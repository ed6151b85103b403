//===- ChannelStatistics.h - a convolution's channels, summed up ----------===//
//
//   conv -> steps -> y -+-> first -+
//                       +-----> y - first -+-> mean
//                                          +-> square -> mean
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_CHANNELSTATISTICS_H
#define DLC_CODEGEN_PROVIDERS_CHANNELSTATISTICS_H

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

} // namespace dlc
#endif
