//===- FrontEnd.h - what a form of models is to everybody else --------------===//
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
  /// Input name to its static shape; needed for inputs whose declared shape is not static. A name
  /// of ImportInfo::defaults makes an input of that initializer; so does one in `values`.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs whose value is known: the program is made for these values only. The function keeps the
  /// argument, with the value as attribute `dlc.value`, so that who runs it can check.
  std::map<std::string, ref::Tensor> values;
  /// The model is to be trained: initializers of floats (but scalars) are state arguments, dropout
  /// drops, batch norm takes the batch's statistics and updates the running ones.
  bool training = false;
  /// Of dropout's random numbers.
  uint64_t seed = 0;
  /// Initializers of floats of such names are state arguments that stay as they are; null: none.
  std::function<bool(llvm::StringRef)> keeps;
};

struct ImportInfo {
  struct Value {
    std::string name;
    /// Null when the value is no tensor, or of an element type that dlc has not.
    mlir::Type elementType;
    /// What the file says of the type: "float", "string", "sequence".
    std::string typeName;
    bool hasRank = false;
    /// -1 where the dimension is not static; `symbols` then has its name, which may be empty.
    std::vector<int64_t> dims;
    std::vector<std::string> symbols;
    /// Of a state: gradients go to it.
    bool isParameter = false;
  };
  std::vector<Value> inputs, outputs;
  /// Initializers that the model also lists as inputs: their value is a default, which a caller may
  /// override.
  std::vector<Value> defaults;
  /// What lives from run to run, and is not among inputs and outputs.
  std::vector<Value> states;
  /// When importing failed for want of values: bind these inputs in ImportOptions::values, and try
  /// again.
  std::vector<std::string> neededValues;
  /// What was read already; a front end whose files are modules imports from it again.
  std::shared_ptr<mlir::OwningOpRef<mlir::ModuleOp>> module;
};

/// One form of models: a row of the table (frontend/table/FrontEnds.h). Errors are diagnostics on
/// the context.
struct FrontEnd {
  llvm::StringRef name;
  std::vector<llvm::StringRef> extensions;
  /// Reads the inputs, outputs and states only.
  mlir::FailureOr<ImportInfo> (*inspect)(mlir::MLIRContext &context, llvm::StringRef path);
  /// Makes the dlc module. `info` may be null, or what inspect gave.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> (*import)(mlir::MLIRContext &context,
                                                               llvm::StringRef path,
                                                               const ImportOptions &options,
                                                               ImportInfo *info);
};

} // namespace dlc

#endif // DLC_FRONTEND_FRONTEND_H
