//===- ChannelStatistics.h - statistics of a convolution's channels -------===//
//
//   conv -> epilogue -> y -+-> first -+
//                          +-----> y - first -+-> mean
//                                             +-> square -> mean
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_CHANNELSTATISTICS_H
#define DLC_CODEGEN_PROVIDERS_CHANNELSTATISTICS_H

#include "ir/dlc/Dialect.h"

namespace dlc {

/// Statistics of a tensor's channels, as computed by operations of one block. Each value has one
/// element per channel.
struct ChannelStatisticsMatch {
  /// `first`: first element of each channel. `shift`: mean of the differences from `first`.
  /// `square`: mean of the squares of these differences.
  mlir::Value first, shift, square;
  /// All operations that compute the statistics, in block order.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Matches the operations of y's block that compute the channel statistics of `y`. Fails if `y` has
/// any use other than the statistics and the terminator.
std::optional<ChannelStatisticsMatch> matchChannelStatistics(mlir::Value y);

} // namespace dlc
#endif
