//===- Sdy.h - the sdy dialect, whose operations have no effect on one device ------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_SDY_H
#define DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_SDY_H

#include "mlir/IR/Dialect.h"

namespace dlc::stablehlo {

/// Dialect of Shardy (sdy). Parses the shardings that JAX writes (sdy.mesh,
/// sdy.sharding_constraint, the argument attribute `sdy.sharding`) in the generic form, without
/// interpreting them.
class SdyDialect : public mlir::Dialect {
public:
  explicit SdyDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "sdy"; }
  /// Parses any sdy attribute and returns its text, uninterpreted.
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
};

} // namespace dlc::stablehlo

MLIR_DECLARE_EXPLICIT_TYPE_ID(dlc::stablehlo::SdyDialect)

#endif // DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_SDY_H
