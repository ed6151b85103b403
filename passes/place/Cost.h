//===- Cost.h - what devices, and the ways between them, cost -------------===//
#ifndef DLC_PASSES_PLACE_COST_H
#define DLC_PASSES_PLACE_COST_H

#include "ir/dlc/Dialect.h"

#include <functional>
#include <optional>

namespace dlc {

struct DeviceFigures {
  double gigaflops, gigabytes; ///< a second
  double launch;               ///< microseconds of a kernel that does nothing
};
struct LinkFigures {
  double gigabytes; ///< a second
  double latency;   ///< microseconds of a copy of nothing
};

/// Everything that placement believes about machines: what each kind of device says of itself.
struct CostTable {
  /// Measured microseconds of one operation on a device, where they are known.
  std::function<std::optional<double>(mlir::Operation *, OnAttr)> measured;

  static DeviceFigures figuresOf(OnAttr device);
  /// By the devices' names.
  static LinkFigures linkOf(llvm::StringRef from, llvm::StringRef to);
  /// Microseconds.
  double operation(mlir::Operation *op, OnAttr device) const;
  static double transfer(double bytes, llvm::StringRef from, llvm::StringRef to);
};

/// Floating-point operations, by the operands' shapes; a loop counts its body once for each
/// iteration that is known.
double flopsOf(mlir::Operation *op);
/// Bytes that it reads and writes if it runs as a kernel of its own.
double trafficOf(mlir::Operation *op);
/// Bytes of a tensor; dynamic dimensions count as one.
int64_t tensorBytes(mlir::Type type);

} // namespace dlc

#endif // DLC_PASSES_PLACE_COST_H
