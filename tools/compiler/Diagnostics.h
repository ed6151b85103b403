//===- Diagnostics.h - MLIR's diagnostics as text -----------------------------===//
#ifndef DLC_TOOLS_COMPILER_DIAGNOSTICS_H
#define DLC_TOOLS_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace dlc {

/// While it lives, errors of the context are kept, one line each with where they stand; warnings
/// and remarks go to stderr. Other threads' diagnostics are collected too.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  bool empty() const { return text.empty(); }
  /// What was collected, or `otherwise` when nothing was; empties it.
  std::string take(const std::string &otherwise);

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// "model.onnx: node 'conv1'", "layers.cpp:12:7"; empty when unknown.
std::string locationText(mlir::Location location);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_DIAGNOSTICS_H
