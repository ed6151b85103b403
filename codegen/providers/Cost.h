//===- Cost.h - analytical cost model of kernels --------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_COST_H
#define DLC_CODEGEN_PROVIDERS_COST_H

#include "codegen/cpu/kernel/Kernel.h"
#include "codegen/cpu/target/Target.h"
#include "codegen/machine/Profile.h"
#include "codegen/providers/LibraryCall.h"

namespace dlc {

/// Cost model that computes times from the machine's parameters. It contains what the estimates of
/// all kernels have in common; the estimates of a provider's own kernels are in the provider's
/// file.
struct CostModel {
  /// `weightsStay`: the previous loop iteration used the same weights, so they are in the caches
  /// like other operands.
  CostModel(const Profile &profile, const cpu::Target &target, int threads,
            bool weightsStay = false);

  /// Returns the number of cores that a kernel with this many operations uses.
  double coresFor(double flops) const;
  /// Returns the number of cores that the work units of a generated kernel occupy.
  double coresFor(const cpu::KernelPlan &plan) const;
  /// Nanoseconds to read or write each of `bytes` once, if they were used shortly before and may be
  /// in a cache.
  double traffic(double bytes, double cores) const;
  /// Nanoseconds to stream bytes from memory at `rate` per core, limited by the memory bandwidth. 0
  /// if `rate` is 0.
  double streamed(double bytes, double rate, double cores) const;
  /// Nanoseconds that streaming packed weights adds to a computation of `nanoseconds`.
  double streamedWeights(const LibraryCall &call, double nanoseconds, double rate,
                         double cores) const;
  /// Total microseconds of a kernel, with its launch overhead and, if it uses several cores, the
  /// time to wake the threads.
  double ended(double nanoseconds, double overhead, double cores) const;
  /// Total microseconds of a library call whose computation takes this many nanoseconds.
  double ended(const LibraryCall &call, double nanoseconds) const;

  /// Approximate lower bound in microseconds for any kernel that executes this many operations,
  /// mainly multiplications, on this many bytes.
  double least(double flops, double bytes) const;
  /// Lower bound in microseconds for a library's strided transposed convolution, even if the
  /// library performs better than estimated.
  double lowerBoundTransposed(double flops) const;
  /// Microseconds that are added to a matmul on AMX tiles if it first computes this many elements
  /// of an operand (a fused prologue).
  double prologue(double elements, bool exponential) const;
  /// Microseconds that are added to a matmul if it also computes column sums over this many
  /// elements of an operand.
  double sums(double elements) const;
  /// Microseconds that are added to a convolution if it also computes channel statistics of this
  /// many result elements.
  double statistics(double elements) const;

  /// Fraction of the full-width rate that a convolution reaches with vectors of `used` lanes.
  double laneRate(double used) const { return used < lanes ? machine.narrowPart : 1; }

  Machine machine;
  double threads, lanes;
};

/// Fraction of the vector lanes that are used if vectors cover n columns; the last vector may be
/// partial.
double laneShare(double n, double lanes);
/// Returns the product of the sizes without the last `drop` sizes.
double multiplySizes(llvm::ArrayRef<int64_t> sizes, size_t drop = 0);
/// Number of elements that all windows of a MaxPoolOp or AvgPoolOp read, excluding padding.
double countNonPaddingTaps(mlir::Operation *pool);
/// Returns the bytes of weights that were packed at compile time.
double sumPackedBytes(const LibraryCall &call);

} // namespace dlc
#endif
