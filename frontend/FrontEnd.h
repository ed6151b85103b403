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
  /// Static shapes by input name. Required for each input whose declared shape is not static.
  /// Naming an initializer of ImportInfo::defaults here or in `values` turns the initializer into
  /// an input.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs that are known at import, by input name. The program is specialized for these
  /// values. The function keeps the input as an argument with the attribute `dlc.value`, so that
  /// the runtime can check that it is given the same value.
  std::map<std::string, ref::Tensor> values;
  /// Imports the model for training: floating-point initializers (except scalars) become state
  /// arguments, dropout is active, and batch norm uses the batch's statistics and updates the
  /// running statistics.
  bool training = false;
  /// Seed of dropout's random numbers.
  uint64_t seed = 0;
  /// Number of channels in a block of NCHWc operators (ModelOptions::nchwcBlock). 0: determined by
  /// the file.
  int64_t nchwcBlock = 0;
  /// Returns true for the names of floating-point initializers that become state arguments which
  /// the program never updates. Null selects none.
  std::function<bool(llvm::StringRef)> keeps;
  /// Values of initializers, by name, that replace those of the file. Types and shapes must be
  /// equal.
  std::map<std::string, ref::Tensor> weights;
};

struct ImportInfo {
  struct Value {
    std::string name;
    /// Element type of the tensor. Null if the value is not a tensor or if dlc does not support its
    /// element type.
    mlir::Type elementType;
    /// The type as declared in the file: "float", "string", "sequence".
    std::string typeName;
    bool hasRank = false;
    /// Sizes of the tensor's dimensions. A size of -1 means that the dimension is not static;
    /// `symbols` then holds its name, which may be empty.
    std::vector<int64_t> dims;
    std::vector<std::string> symbols;
    /// For a state: whether it is a parameter, which has a gradient.
    bool isParameter = false;
  };
  std::vector<Value> inputs, outputs;
  /// Initializers that the model also lists as inputs. Their values are defaults that the caller
  /// may override.
  std::vector<Value> defaults;
  /// State arguments, whose values are retained between runs; they are not listed in `inputs` and
  /// `outputs`.
  std::vector<Value> states;
  /// Inputs whose values the import requires but did not get. The caller must bind them in
  /// ImportOptions::values and import again.
  std::vector<std::string> neededValues;
  /// The parsed module. A front end whose files are MLIR modules imports from this module instead
  /// of parsing the file again.
  std::shared_ptr<mlir::OwningOpRef<mlir::ModuleOp>> module;
};

/// A model format: one row of the front-end table (frontend/table/FrontEnds.h). Errors are reported
/// as diagnostics on the context.
struct FrontEnd {
  llvm::StringRef name;
  std::vector<llvm::StringRef> extensions;
  /// Reads only the inputs, outputs and states of the file, without importing its operations.
  mlir::FailureOr<ImportInfo> (*inspect)(mlir::MLIRContext &context, llvm::StringRef path);
  /// Imports the file as a module of the dlc dialect. `info` may be null or the result of
  /// inspect().
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> (*import)(mlir::MLIRContext &context,
                                                               llvm::StringRef path,
                                                               const ImportOptions &options,
                                                               ImportInfo *info);
};

} // namespace dlc

#endif // DLC_FRONTEND_FRONTEND_H
