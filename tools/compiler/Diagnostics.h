//===- Diagnostics.h - collects MLIR diagnostics as text ------------------===//
#ifndef DLC_TOOLS_COMPILER_DIAGNOSTICS_H
#define DLC_TOOLS_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace dlc {

/// Collects an MLIR context's errors during the lifetime of this object, one line each, prefixed
/// with the location. Prints warnings and remarks to stderr. Handles only diagnostics that the
/// constructing thread emits.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  bool empty() const { return text.empty(); }
  /// Returns the collected errors, or `otherwise` if there are none, and clears the collected
  /// errors.
  std::string take(const std::string &otherwise);

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// Returns a location as text, such as "model.onnx: node 'conv1'" or "layers.cpp:12:7", or an empty
/// string if the location is unknown.
std::string locationText(mlir::Location location);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_DIAGNOSTICS_H
