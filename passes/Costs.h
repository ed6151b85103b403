//===- Costs.h - what kernels cost, for passes that choose by it ----------===//
#ifndef DLC_PASSES_COSTS_H
#define DLC_PASSES_COSTS_H

#include "dlc/options.hpp"

#include "mlir/IR/Operation.h"

#include <functional>
#include <memory>
#include <optional>

namespace dlc {

/// Who knows kernels answers what passes ask before kernels are chosen. Times are in microseconds.
class Costs {
public:
  virtual ~Costs() = default;
  /// An operation, were its operands and results of these types; nothing: no kernel takes them so.
  virtual std::optional<double> operation(mlir::Operation *op, llvm::ArrayRef<mlir::Type> operands,
                                          llvm::ArrayRef<mlir::Type> results) = 0;
  /// No less than this an operation takes in any layout but the plain one, as far as is known
  /// without asking a library: that may take longer than all else.
  virtual double atLeast(mlir::Operation *op) { return 0; }
  virtual double reorder(mlir::Type from, mlir::Type to) = 0;
  /// Whether a processor's kernel does the attention whole, faster than kernels of its parts do:
  /// with `gradients`, both directions together. `preferred`: even where it is not faster.
  virtual bool isWholeBetter(mlir::Operation *attention, bool gradients, bool preferred) = 0;
  /// Whether a kernel of the device that all stands on does a contraction in i32 whose operands are
  /// widened from 8 bits.
  virtual bool sumsIntegers(mlir::Operation *contraction) = 0;
  /// Whether these sums are generated code on a processor, for products alone, of operands with and
  /// without signs: no library has exact ones.
  virtual bool generatesSums() = 0;
  /// Whether the device that all stands on has fast kernels for products of such floats of 16 bits.
  virtual bool multipliesHalves(mlir::Type element) = 0;
  /// So many rows a processor's kernel multiplies by weights of 8 bits in blocks with scales about
  /// as fast as others by those in f32, or faster. 0: no kernel reads such weights.
  virtual int64_t rowsOfBlocks() = 0;
};

/// Makes them for a compilation.
using CostsMaker = std::function<std::unique_ptr<Costs>(const ModelOptions &)>;

/// For who knows no kernels: products at one rate, plain ones at half of it, reorders at a memory's
/// bandwidth; attention is whole where that is preferred; integers of 8 bits and bf16 have kernels,
/// f16 has none.
std::unique_ptr<Costs> assumedCosts(const ModelOptions &options = {});

/// What dlc-opt calls costs: "kernels" are those that the maker makes, "assumed" the above, and
/// "generated-sums" the same of a processor for which sums of integers are generated. Null with a
/// diagnostic on the operation for any other name.
std::unique_ptr<Costs> makeCosts(llvm::StringRef name, const CostsMaker &kernels,
                                 const ModelOptions &options, mlir::Operation *op);
constexpr llvm::StringLiteral kCostsHelp = "who says what kernels cost: kernels, assumed, or "
                                           "generated-sums (assumed, integers in products)";

} // namespace dlc

#endif // DLC_PASSES_COSTS_H
