//===- Annotations.h - user requests for devices --------------------------===//
#ifndef DLC_PASSES_PLACE_ANNOTATIONS_H
#define DLC_PASSES_PLACE_ANNOTATIONS_H

#include "ir/dlc/Dialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc::place {

/// Requested device and the source of the request. The device is null if there is no request.
struct PlacementRequest {
  OnAttr device;
  std::string why = {};
  /// Whether the requested device is already part of the tensor type.
  bool byType = false;
};

/// Objective by which devices are chosen for operations without a requested device.
enum class PlacementMode {
  Bytes, ///< minimize the bytes transferred between devices
  Auto,  ///< minimize the total time of computation and transfers
  Split  ///< run parallel branches concurrently
};

struct DeviceCandidate {
  OnAttr device;
  int64_t capacity = 0; ///< memory limit in bytes; 0: unlimited
};

class PlacementOptions {
public:
  /// Parses the options `--device` and `--place`. Fails with a diagnostic on the module.
  static mlir::FailureOr<PlacementOptions> parse(mlir::ModuleOp module,
                                                 const ModelOptions &options);

  mlir::FailureOr<PlacementRequest> of(mlir::Operation *op);
  mlir::FailureOr<PlacementRequest> ofInput(mlir::func::FuncOp function, unsigned argument);
  mlir::FailureOr<PlacementRequest> ofOutput(mlir::func::FuncOp function, unsigned result);
  /// Reports an error if a pattern of the options matched nothing. Must be called after `of`,
  /// `ofInput` and `ofOutput` were called for everything in the module.
  llvm::LogicalResult checkAllMatched(mlir::ModuleOp module) const;

  OnAttr home;
  PlacementMode mode = PlacementMode::Bytes;
  /// Devices that operations without a requested device may be placed on. If empty, all devices
  /// that are named anywhere are allowed.
  llvm::SmallVector<DeviceCandidate> candidates;

private:
  struct Pattern {
    enum Kind { Operations, Inputs, Outputs } kind = Operations;
    std::string text, pattern;
    OnAttr device;
    bool matched = false;
  };
  llvm::LogicalResult addCandidates(mlir::ModuleOp module, llvm::StringRef text);
  llvm::LogicalResult addPattern(mlir::ModuleOp module, llvm::StringRef text);
  PlacementRequest byPattern(Pattern::Kind kind, llvm::ArrayRef<llvm::StringRef> names);
  mlir::FailureOr<PlacementRequest> ofValue(mlir::func::FuncOp function, Pattern::Kind kind,
                                            mlir::Type type, mlir::DictionaryAttr attributes);
  mlir::FailureOr<PlacementRequest> ofRegions(mlir::Operation *op);

  std::vector<Pattern> patterns;
};

/// Returns the name of the operation in quotes, such as "'conv1'", or its mnemonic if it has no
/// name.
std::string nameOf(mlir::Operation *op);
std::string nameOf(mlir::Value value);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_ANNOTATIONS_H
