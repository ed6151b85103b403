//===- Costs.h - interface for cost queries before kernel selection -------===//
#ifndef DLC_PASSES_COSTS_H
#define DLC_PASSES_COSTS_H

#include "dlc/options.hpp"

#include "mlir/IR/Operation.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace dlc {

class MatmulOp;

/// Default of `maxRows` for isWeightBandwidthBound(), which returns whether a matmul has at most
/// `maxRows` rows and a large weight matrix. Such a matmul is bound by weight bandwidth, so that
/// 8-bit weights make it faster.
constexpr int64_t kMaxWeightBoundRows = 8;
bool isWeightBandwidthBound(MatmulOp product, int64_t maxRows = kMaxWeightBoundRows);

/// Layouts of the image operand and of the result of a convolution or pool, as tags. For the weight
/// gradient of a convolution, `source` is the layout of the image and `destination` the layout of
/// the result's gradient. An empty tag means row-major.
struct LayoutPair {
  std::string source, destination;
};

struct LayoutQuery {
  /// Layouts that the kernel must support. If unset, the library chooses the layouts.
  std::optional<LayoutPair> required;
  /// Upper bound in microseconds: if the operation takes at least this time in every layout except
  /// row-major, no library is queried, because such queries may dominate compile time.
  double maxCost = std::numeric_limits<double>::infinity();
};

/// Facts about the kernels of the target device (`ModelOptions::device`) that do not depend on an
/// operation.
struct TargetCapabilities {
  /// Whether contractions of 8-bit integers run as generated code on a CPU, because no library
  /// accumulates mixed signed and unsigned operands exactly. The generated code supports matmuls,
  /// but no convolutions.
  bool generatesIntegerSums = false;
  /// Whether the device has fast kernels for matmuls and convolutions of the 16-bit float types.
  bool hasFastBf16 = true, hasFastF16 = false;
  /// Maximum number of rows for which a CPU matmul kernel with block-scaled 8-bit weights is about
  /// as fast as a kernel with f32 weights, or faster. 0 if no kernel reads such weights.
  int64_t maxBlockScaledRows = kMaxWeightBoundRows;
  /// Whether a CPU has kernels that compute attention without storing its scores. With --kernels,
  /// only requested kernels count.
  bool hasFusedAttention = true;
};

/// Time in microseconds of the best kernel of an operation, or of the best kernels of several.
struct KernelTime {
  double estimated = 0;
  /// Measured time. It is set only for functions whose operations are all in the tuning database.
  /// With `--tune`, operations that are not there are measured first. Other queries return only
  /// estimates, because they would look up too many operations.
  std::optional<double> measured = std::nullopt;

  KernelTime &operator+=(const KernelTime &other) {
    estimated += other.estimated;
    measured =
        measured && other.measured ? std::optional(*measured + *other.measured) : std::nullopt;
    return *this;
  }
  /// Returns true if this time is less than the other one. Measured times are compared only with
  /// measured times.
  bool isLessThan(const KernelTime &other) const {
    return measured && other.measured ? *measured < *other.measured : estimated < other.estimated;
  }
};

/// Interface through which passes query kernel costs before kernels are selected. Implementations
/// know the available kernels.
class Costs {
public:
  virtual ~Costs() = default;
  /// Returns the time of `op` with operands and results of the given types, or nullopt if no kernel
  /// supports these types. Contractions of 8-bit integers are supported if the target device has a
  /// kernel that multiplies and sums integers. The time of a function is the total time of the
  /// operations in it for which kernels are selected, and `operands` and `results` are its types.
  virtual std::optional<KernelTime> operation(mlir::Operation *op,
                                              llvm::ArrayRef<mlir::Type> operands,
                                              llvm::ArrayRef<mlir::Type> results) = 0;
  /// Returns the layouts of a convolution, its gradient or a pool for which a CPU library has an
  /// optimized kernel, or nullopt if there are none.
  virtual std::optional<LayoutPair> preferredLayouts(mlir::Operation *op,
                                                     const LayoutQuery &query) = 0;
  const TargetCapabilities &capabilities() const { return targetCapabilities; }

protected:
  explicit Costs(const TargetCapabilities &capabilities) : targetCapabilities(capabilities) {}

private:
  const TargetCapabilities targetCapabilities;
};

/// Function that creates the cost interface for one compilation.
using CostsFactory = std::function<std::unique_ptr<Costs>(const ModelOptions &)>;

/// Returns whether a kernel supports `op` with its own types.
bool hasKernel(Costs &costs, mlir::Operation *op);

/// Returns the time in microseconds of changing the layout of a tensor from type `from` to `to`.
double reorderTime(Costs &costs, mlir::Type from, mlir::Type to);

/// Returns fixed cost assumptions that do not depend on available kernels, for tests and for passes
/// that run alone. Contractions run at a fixed rate, or at half of it if all tensors are row-major.
/// Reorders run at a fixed memory bandwidth. Convolutions prefer blocks of 16 channels. The time of
/// functions is unknown. 8-bit integers and bf16 have kernels, f16 has none.
std::unique_ptr<Costs> assumedCosts(const ModelOptions &options = {});

/// Creates the costs that a dlc-opt option names: "kernels" calls the given factory, "assumed"
/// calls assumedCosts(), and "generated-sums" is "assumed" for a CPU with generated code for 8-bit
/// contractions. For any other name, emits an error on `op` and returns null.
std::unique_ptr<Costs> makeCosts(llvm::StringRef name, const CostsFactory &kernels,
                                 const ModelOptions &options, mlir::Operation *op);
constexpr llvm::StringLiteral kCostsHelp =
    "source of kernel costs: kernels (the providers), assumed (fixed values), or generated-sums "
    "(fixed values, with integer matmuls by generated kernels)";

} // namespace dlc

#endif // DLC_PASSES_COSTS_H
