//===- Cost.h - cost model of devices and of the links between them -------===//
#ifndef DLC_PASSES_PLACE_COST_H
#define DLC_PASSES_PLACE_COST_H

#include "ir/dlc/Dialect.h"

#include <functional>
#include <optional>

namespace dlc {

struct DeviceParameters {
  double gigaflops, gigabytes; ///< compute rate and memory bandwidth per second
  double launch;               ///< microseconds to launch an empty kernel
};
struct LinkParameters {
  double gigabytes; ///< bandwidth of copies per second
  double latency;   ///< microseconds for an empty copy
};

/// Cost model of the placement. Each device kind reports its own parameters.
struct PlacementCostModel {
  /// Returns the measured time of an operation on a device in microseconds, or nullopt if there is
  /// no measurement.
  std::function<std::optional<double>(mlir::Operation *, OnAttr)> measured;

  static DeviceParameters figuresOf(OnAttr device);
  /// Returns the bandwidth and latency of the link between two devices, given by name.
  static LinkParameters linkOf(llvm::StringRef from, llvm::StringRef to);
  /// Estimate the time in microseconds of an operation on a device, or of a transfer of `bytes`
  /// bytes between two devices.
  double operation(mlir::Operation *op, OnAttr device) const;
  static double transfer(double bytes, llvm::StringRef from, llvm::StringRef to);
};

/// Returns the number of floating-point operations, computed from the operands' shapes. The body of
/// a loop is counted once per iteration if the trip count is a constant.
double estimateFlops(mlir::Operation *op);
/// Returns the number of bytes that the operation reads and writes if it runs as a separate kernel.
double estimateMemoryTraffic(mlir::Operation *op);
/// Returns the size of a tensor in bytes. A dynamic dimension counts as 1.
int64_t tensorBytes(mlir::Type type);

} // namespace dlc

#endif // DLC_PASSES_PLACE_COST_H
