//===- Names.h - precision of operations by name --------------------------===//
#ifndef DLC_PASSES_PRECISION_NAMES_H
#define DLC_PASSES_PRECISION_NAMES_H

#include "ir/dlc/Attributes.h"
#include "passes/ConstantRewrites.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::precision {

/// Returns whether the sums of a matmul, convolution or attention must be computed as written
/// (attribute dlc.accuracy = "strict"). The attribute of the operation overrides the options.
inline bool isStrictAccuracy(mlir::Operation *product) {
  auto own = product->getAttrOfType<mlir::StringAttr>(kAccuracyAttr);
  return own && own == "strict";
}

/// Returns the type of this name ("f32", "bf16", "f16"), or null for unknown names.
mlir::FloatType parseFloatType(llvm::StringRef word, mlir::MLIRContext *context);

/// Overrides of the form PATTERN=f32|bf16|f16: the types in which operations are computed
/// regardless of --precision. Patterns match the names of layers and nodes. A gradient has the name
/// of the operation that it differentiates.
class PrecisionOverrides {
public:
  /// Parses the overrides. If a text is invalid, returns nullopt and sets `wrong` to this text.
  static std::optional<PrecisionOverrides> parse(llvm::ArrayRef<std::string> texts,
                                                 mlir::MLIRContext *context, std::string &wrong);

  /// Returns the type that overrides --precision for the operation: that of the attribute
  /// `dlc.precision`, otherwise that of the first pattern that matches the operation's name. Null
  /// if there is neither.
  mlir::FloatType of(mlir::Operation *op) const;

private:
  std::vector<std::pair<std::string, mlir::FloatType>> patterns;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_NAMES_H
