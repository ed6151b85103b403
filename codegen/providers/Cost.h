//===- Cost.h - how long kernels may take, by arithmetic alone ------------===//
#ifndef DLC_CODEGEN_PROVIDERS_COST_H
#define DLC_CODEGEN_PROVIDERS_COST_H

#include "codegen/cpu/Kernel.h"
#include "codegen/cpu/Target.h"
#include "codegen/machine/Profile.h"
#include "codegen/providers/LibraryCall.h"

namespace dlc {

/// Microseconds by the machine's figures: what all kernels' estimates have in common. How long a
/// provider's own kernels take stands with the provider.
struct CostModel {
  /// `weightsStay`: weights were used just before, and are where other operands are.
  CostModel(const Profile &profile, const cpu::Target &target, int threads,
            bool weightsStay = false);

  /// Cores that work on so many operations.
  double coresFor(double flops) const;
  /// Cores that a generated kernel's units keep busy.
  double coresFor(const cpu::KernelPlan &plan) const;
  /// Nanoseconds for bytes that pass once, and that were used not long before.
  double traffic(double bytes, double cores) const;
  /// Nanoseconds for bytes from memory at the rate of each core, as far as memory goes; none at
  /// rate 0.
  double streamed(double bytes, double rate, double cores) const;
  /// Nanoseconds that packed weights add to so many of sums.
  double beside(const LibraryCall &call, double nanoseconds, double rate, double cores) const;
  /// Microseconds in the end.
  double ended(double nanoseconds, double overhead, double cores) const;
  /// Microseconds of a call that works for so many nanoseconds.
  double ended(const LibraryCall &call, double nanoseconds) const;

  /// Microseconds that no kernel beats by much that does so many operations, multiplications above
  /// all, on so many bytes.
  double least(double flops, double bytes) const;
  /// Microseconds that a library's transposed convolution with strides takes at least, even where
  /// it is better than usual.
  double leastTransposed(double flops) const;
  /// Microseconds that a product on tiles takes longer where it makes so many elements of an
  /// operand first.
  double prologue(double elements, bool exponential) const;
  /// Microseconds that a product takes longer where it sums up so many elements of an operand.
  double sums(double elements) const;
  /// Microseconds that a convolution takes longer where it sums up the channels of so many results.
  double statistics(double elements) const;

  /// What a convolution in vectors of so many lanes reaches of its rate.
  double laneRate(double used) const { return used < lanes ? machine.narrowPart : 1; }

  Machine machine;
  double threads, lanes;
};

/// Of vectors over n columns, the part that is not behind the last one.
double laneShare(double n, double lanes);
/// Of sizes; the last `drop` left out.
double productOf(llvm::ArrayRef<int64_t> sizes, size_t drop = 0);
/// Elements that the windows of a MaxPoolOp or an AvgPoolOp read, padding left out.
double tapsInside(mlir::Operation *pool);
/// Bytes of weights that were packed before.
double packedBytes(const LibraryCall &call);
/// Whether all matrices of a batch are one: strides without those of rows and columns are 0.
bool isShared(const nlohmann::json &strides);

} // namespace dlc
#endif
