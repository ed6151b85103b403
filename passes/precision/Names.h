//===- Names.h - precisions asked for by name -----------------------------===//
#ifndef DLC_PASSES_PRECISION_NAMES_H
#define DLC_PASSES_PRECISION_NAMES_H

#include "passes/ConstantRewrites.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::precision {

/// On an operation: "f32", "bf16" or "f16", whatever the mode.
constexpr llvm::StringLiteral kPrecisionAttr = "dlc.precision";
/// On a product of f32: the library may round its operands to this type.
constexpr llvm::StringLiteral kMathAttr = "dlc.math";

/// Whether a product asks for its sums as they are written, whatever the mode.
inline bool isStrict(mlir::Operation *product) {
  auto own = product->getAttrOfType<mlir::StringAttr>(kAccuracyAttr);
  return own && own == "strict";
}

/// The type that a word means; null where it means none.
mlir::FloatType typeNamed(llvm::StringRef word, mlir::MLIRContext *context);

/// PATTERN=f32|bf16|f16: which operations are computed in which type whatever the mode. Patterns
/// are of the names that layers and nodes have; gradients go with what they are gradients of.
class Overrides {
public:
  /// Fails with the text that is wrong.
  static std::optional<Overrides> parse(llvm::ArrayRef<std::string> texts,
                                        mlir::MLIRContext *context, std::string &wrong);

  /// The operation's attribute, else the first pattern that its name matches; null: as the mode
  /// says.
  mlir::FloatType of(mlir::Operation *op) const;

private:
  std::vector<std::pair<std::string, mlir::FloatType>> patterns;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_NAMES_H
