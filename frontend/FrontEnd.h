//===- FrontEnd.h - interface of front ends -------------------------------===//
#ifndef DLC_FRONTEND_FRONTEND_H
#define DLC_FRONTEND_FRONTEND_H

#include "ir/tensor/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc {

struct ImportOptions {
  /// Static shapes by input name. Required for inputs whose declared shape is not static. A name
  /// from ImportInfo::defaults turns that initializer into an input, as does a name in `values`.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs whose values are known at import. The program is specialized for these values. The
  /// function keeps the argument with the value in the attribute `dlc.value`, so that the runtime
  /// can check it.
  std::map<std::string, ref::Tensor> values;
  /// Imports the model for training: floating-point initializers (except scalars) become state
  /// arguments, dropout is active, and batch norm uses the batch's statistics and updates the
  /// running statistics.
  bool training = false;
  /// Seed of dropout's random numbers.
  uint64_t seed = 0;
  /// Selects, by name, floating-point initializers that become state arguments without being
  /// updated. Null selects none.
  std::function<bool(llvm::StringRef)> keeps;
};

struct ImportInfo {
  struct Value {
    std::string name;
    /// Null if the value is not a tensor or has an element type that dlc does not have.
    mlir::Type elementType;
    /// The type as declared in the file: "float", "string", "sequence".
    std::string typeName;
    bool hasRank = false;
    /// Sizes of the dimensions. A size of -1 means that the dimension is not static; `symbols` then
    /// holds its name, which may be empty.
    std::vector<int64_t> dims;
    std::vector<std::string> symbols;
    /// For a state: whether it has a gradient.
    bool isParameter = false;
  };
  std::vector<Value> inputs, outputs;
  /// Initializers that the model also lists as inputs. Their values are defaults that the caller
  /// may override.
  std::vector<Value> defaults;
  /// State that is retained between runs; not part of inputs and outputs.
  std::vector<Value> states;
  /// Set if the import failed because values are missing: bind these inputs in
  /// ImportOptions::values and import again.
  std::vector<std::string> neededValues;
  /// The module that was already parsed. A front end whose files are modules imports from it
  /// instead of parsing again.
  std::shared_ptr<mlir::OwningOpRef<mlir::ModuleOp>> module;
};

/// A model format: one row of the front-end table (frontend/table/FrontEnds.h). Errors are reported
/// as diagnostics on the context.
struct FrontEnd {
  llvm::StringRef name;
  std::vector<llvm::StringRef> extensions;
  /// Reads only the inputs, outputs and states.
  mlir::FailureOr<ImportInfo> (*inspect)(mlir::MLIRContext &context, llvm::StringRef path);
  /// Imports the file as a dlc module. `info` may be null or the result of inspect.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> (*import)(mlir::MLIRContext &context,
                                                               llvm::StringRef path,
                                                               const ImportOptions &options,
                                                               ImportInfo *info);
};

} // namespace dlc

#endif // DLC_FRONTEND_FRONTEND_H
