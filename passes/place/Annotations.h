//===- Annotations.h - what users ask of devices --------------------------===//
#ifndef DLC_PASSES_PLACE_ANNOTATIONS_H
#define DLC_PASSES_PLACE_ANNOTATIONS_H

#include "ir/dlc/Dialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc::place {

/// On an operation, an argument or a result: the name of its device.
constexpr llvm::StringLiteral kDeviceAttr = "dlc.device";

/// A device that was asked for, and by what; null where nothing was.
struct Wish {
  OnAttr device;
  std::string why = {};
  /// The type says so already.
  bool byType = false;
};

/// How operations are placed that nobody asked for.
enum class Mode {
  Bytes, ///< where the fewest bytes cross
  Auto,  ///< where work and transfers together take least time
  Split  ///< parallel branches at the same time
};

struct Candidate {
  OnAttr device;
  int64_t capacity = 0; ///< bytes; 0: any
};

class Annotations {
public:
  /// Fails with a diagnostic on the module.
  static mlir::FailureOr<Annotations> parse(mlir::ModuleOp module, const ModelOptions &options);

  mlir::FailureOr<Wish> of(mlir::Operation *op);
  mlir::FailureOr<Wish> ofInput(mlir::func::FuncOp function, unsigned argument);
  mlir::FailureOr<Wish> ofOutput(mlir::func::FuncOp function, unsigned result);
  /// To be called when all of the above were asked: a pattern that matched nothing is a mistake.
  llvm::LogicalResult checkAllMatched(mlir::ModuleOp module) const;

  OnAttr home;
  Mode mode = Mode::Bytes;
  /// For operations that nobody asked for; empty where all devices that appear will do.
  llvm::SmallVector<Candidate> candidates;

private:
  struct Pattern {
    enum Kind { Operations, Inputs, Outputs } kind = Operations;
    std::string text, pattern;
    OnAttr device;
    bool matched = false;
  };
  llvm::LogicalResult addCandidates(mlir::ModuleOp module, llvm::StringRef text);
  llvm::LogicalResult addPattern(mlir::ModuleOp module, llvm::StringRef text);
  Wish byPattern(Pattern::Kind kind, llvm::ArrayRef<llvm::StringRef> names);
  mlir::FailureOr<Wish> ofValue(mlir::func::FuncOp function, Pattern::Kind kind, mlir::Type type,
                                mlir::DictionaryAttr attributes);
  mlir::FailureOr<Wish> ofRegions(mlir::Operation *op);

  std::vector<Pattern> patterns;
};

/// "'conv1'", else the operation's own name.
std::string nameOf(mlir::Operation *op);
std::string nameOf(mlir::Value value);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_ANNOTATIONS_H
