//===- Source.h - a model file and the modules imported from it -----------===//
#ifndef DLC_TOOLS_COMPILER_SOURCE_H
#define DLC_TOOLS_COMPILER_SOURCE_H

#include "frontend/FrontEnd.h"
#include "runtime/program/Program.h"
#include "runtime/program/arrays/Npy.h"
#include "runtime/program/arrays/Safetensors.h"
#include "tools/compiler/ValueInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// A state of a model: a tensor that the program retains between runs.
struct StateValueInfo {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  bool isParameter = false;
};

using Shapes = std::map<std::string, std::vector<int64_t>>;
using Values = std::map<std::string, runtime::NpyArray>;

/// A model file or compiled program. All members throw dlc::Error with the location, what was
/// required, what was found, and a hint.
class Source {
public:
  explicit Source(std::string path);
  /// Creates a source from a module that was not read from a file, such as a traced module. `keep`
  /// owns the memory of its weights.
  Source(std::string name, std::shared_ptr<mlir::MLIRContext> context,
         mlir::OwningOpRef<mlir::ModuleOp> module, std::shared_ptr<void> keep = nullptr);
  ~Source();

  /// Returns true if the file is a compiled program instead of a model.
  bool isProgram() const { return !form; }
  /// Throws dlc::Error if the file is a compiled program. The error message starts with `before`.
  void requireModel(const std::string &before = "") const;
  const std::string &path() const { return name; }
  const std::vector<ValueInfo> &inputs() const { return ins; }
  const std::vector<ValueInfo> &outputs() const { return outs; }
  /// Returns the initializers that a caller may override. They become inputs of a program if the
  /// shapes name them.
  const std::vector<ValueInfo> &defaults() const { return overridable; }
  /// Returns the state tensors, which are not listed as inputs or outputs.
  const std::vector<StateValueInfo> &states() const { return kept; }
  mlir::MLIRContext &context() { return *mlirContext; }

  /// Imports the dlc module for these input shapes. Returns null if shapes depend on values of
  /// inputs that are not in `values`, and adds the names of these inputs to `needed`. The weights
  /// for whose names the callback `keeps` returns true become state arguments. `nchwcBlock` is that
  /// of ModelOptions.
  mlir::OwningOpRef<mlir::ModuleOp> module(const Shapes &shapes, const Values &values,
                                           std::vector<std::string> &needed, int nchwcBlock,
                                           std::function<bool(llvm::StringRef)> keeps = nullptr);

  /// Imports the dlc module in training mode, in the given context. All weights become state
  /// arguments. `seed` is the random seed of dropout.
  mlir::OwningOpRef<mlir::ModuleOp> trainingModule(mlir::MLIRContext &context, const Shapes &shapes,
                                                   uint64_t seed, int nchwcBlock,
                                                   std::vector<std::string> &needed);

  /// Replaces the weights that have the names of a .safetensors file's tensors, in all later
  /// imports. Names of optimizer states, which `dlc train` writes, are ignored.
  void setWeights(const std::string &path);

  /// Returns the compiled program, or null if the file is a model.
  std::shared_ptr<runtime::Program> program() const { return loaded; }

  /// Completes the input shapes `given`: checks names and ranks, and adds the static dimensions of
  /// the file. The callback `open(input, dimension)` supplies the remaining dynamic dimensions.
  /// Without the callback, they are an error with a hint how to specify them. Inputs with a default
  /// value are in the result only if `given` names them.
  Shapes complete(const Shapes &given,
                  const std::function<int64_t(const ValueInfo &, size_t)> &open = nullptr) const;

private:
  void openProgram();
  void take(ImportInfo found);
  mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, ImportOptions options,
                                           std::vector<std::string> &needed);

  std::string name;
  const FrontEnd *form = nullptr; ///< imports the model; null for compiled programs
  std::vector<ValueInfo> ins, outs, overridable;
  std::vector<StateValueInfo> kept;
  std::shared_ptr<void> keep;
  std::shared_ptr<mlir::MLIRContext> mlirContext;
  ImportInfo info;
  std::shared_ptr<runtime::Program> loaded;
  runtime::TensorFile weights; ///< tensors that replace weights of the model
};

/// Returns the MLIR element type of a DType; dtypeOf() converts in the other direction.
mlir::Type elementTypeOf(mlir::MLIRContext &context, DType dtype);
std::optional<DType> dtypeOf(mlir::Type type);

/// Returns a shape as text, such as "2x3x224", or "0-d" for the empty shape.
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_SOURCE_H
