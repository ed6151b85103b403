//===- Cost.h - analytical cost model of kernels --------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_COST_H
#define DLC_CODEGEN_PROVIDERS_COST_H

#include "codegen/cpu/Kernel.h"
#include "codegen/cpu/Target.h"
#include "codegen/machine/Profile.h"
#include "codegen/providers/LibraryCall.h"

namespace dlc {

/// Cost model from the machine's parameters: the parts that the estimates of all kernels have in
/// common. The estimates of a provider's own kernels are in the provider's file.
struct CostModel {
  /// `weightsStay`: the weights were used just before, so they are in the caches like other
  /// operands.
  CostModel(const Profile &profile, const cpu::Target &target, int threads,
            bool weightsStay = false);

  /// Returns the number of cores that work on this many operations.
  double coresFor(double flops) const;
  /// Returns the number of cores that the work units of a generated kernel keep busy.
  double coresFor(const cpu::KernelPlan &plan) const;
  /// Nanoseconds to read or write bytes once that were used shortly before.
  double traffic(double bytes, double cores) const;
  /// Nanoseconds to stream bytes from memory at `rate` per core, limited by the memory bandwidth. 0
  /// if `rate` is 0.
  double streamed(double bytes, double rate, double cores) const;
  /// Nanoseconds that streaming packed weights adds to a computation of `nanoseconds`.
  double streamedWeights(const LibraryCall &call, double nanoseconds, double rate,
                         double cores) const;
  /// Total microseconds of a kernel with its launch overhead and, for several cores, thread
  /// wake-up.
  double ended(double nanoseconds, double overhead, double cores) const;
  /// Total microseconds of a library call whose work takes this many nanoseconds.
  double ended(const LibraryCall &call, double nanoseconds) const;

  /// Approximate lower bound in microseconds for any kernel with this many operations, which are
  /// mainly multiplications, on this many bytes.
  double least(double flops, double bytes) const;
  /// Lower bound in microseconds for a library's strided transposed convolution, even if the
  /// library performs better than estimated.
  double lowerBoundTransposed(double flops) const;
  /// Microseconds that are added to a matmul on tiles if it first computes this many elements of an
  /// operand.
  double prologue(double elements, bool exponential) const;
  /// Microseconds that are added to a matmul if it also sums this many elements of an operand.
  double sums(double elements) const;
  /// Microseconds that are added to a convolution if it also sums this many results by channel.
  double statistics(double elements) const;

  /// Fraction of its rate that a convolution reaches with vectors of `used` lanes.
  double laneRate(double used) const { return used < lanes ? machine.narrowPart : 1; }

  Machine machine;
  double threads, lanes;
};

/// Fraction of the lanes that vectors over n columns use; the last vector may be partial.
double laneShare(double n, double lanes);
/// Returns the product of the sizes without the last `drop`.
double productOf(llvm::ArrayRef<int64_t> sizes, size_t drop = 0);
/// Number of elements that the windows of a MaxPoolOp or AvgPoolOp read, without padding.
double tapsInside(mlir::Operation *pool);
/// Returns the bytes of weights that were packed at compile time.
double packedBytes(const LibraryCall &call);
/// Returns true if all matrices of a batch are the same one: all batch strides are 0.
bool isShared(const nlohmann::json &strides);

} // namespace dlc
#endif
