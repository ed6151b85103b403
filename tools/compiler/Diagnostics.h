//===- Diagnostics.h - collects MLIR diagnostics as text ------------------===//
#ifndef DLC_TOOLS_COMPILER_DIAGNOSTICS_H
#define DLC_TOOLS_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace dlc {

/// Collects the context's errors during its lifetime, one line each, prefixed with the location.
/// Prints warnings and remarks to stderr. Only diagnostics emitted by the constructing thread are
/// handled.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  bool empty() const { return text.empty(); }
  /// Returns the collected errors, or `otherwise` if there are none, and clears the collection.
  std::string take(const std::string &otherwise);

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// Returns a location as text, such as "model.onnx: node 'conv1'" or "layers.cpp:12:7". Empty if
/// the location is unknown.
std::string locationText(mlir::Location location);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_DIAGNOSTICS_H
