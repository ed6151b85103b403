//===- Cost.h - what devices, and the ways between them, cost -------------===//
#ifndef DLC_PASSES_PLACE_COST_H
#define DLC_PASSES_PLACE_COST_H

#include "ir/dlc/Dialect.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace dlc {

struct DeviceFigures {
  double gigaflops, gigabytes; ///< a second
  double launch;               ///< microseconds of a kernel that does nothing
};
struct LinkFigures {
  double gigabytes; ///< a second
  double latency;   ///< microseconds of a copy of nothing
};

/// Everything that placement believes about machines. Entries by a device's name (cuda:1) go before
/// those by its kind (cuda); whoever has measured a machine puts its figures here.
struct CostTable {
  std::map<std::string, DeviceFigures> devices;
  std::map<std::pair<std::string, std::string>, LinkFigures> links; ///< from, to
  /// Measured microseconds of one operation on a device, where they are known.
  std::function<std::optional<double>(mlir::Operation *, OnAttr)> measured;

  static CostTable builtin();

  DeviceFigures figuresOf(OnAttr device) const;
  /// By the devices' names.
  LinkFigures linkOf(llvm::StringRef from, llvm::StringRef to) const;
  /// Microseconds.
  double operation(mlir::Operation *op, OnAttr device) const;
  double transfer(double bytes, llvm::StringRef from, llvm::StringRef to) const;
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
