//===- Source.h - a model file, and modules made of it -------------------------===//
#ifndef DLC_TOOLS_COMPILER_SOURCE_H
#define DLC_TOOLS_COMPILER_SOURCE_H

#include "frontend/FrontEnd.h"
#include "runtime/program/Npy.h"
#include "runtime/program/Program.h"
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

/// What lives in the program from run to run.
struct StateValueInfo {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  bool isParameter = false;
};

using Shapes = std::map<std::string, std::vector<int64_t>>;
using Values = std::map<std::string, runtime::NpyArray>;

/// A model file. Everything throws dlc::Error with where, what was required, found, and what to do.
class Source {
public:
  explicit Source(std::string path);
  /// A module made otherwise (traced); `keep` lives as long as its weights are needed.
  Source(std::string name, std::shared_ptr<mlir::MLIRContext> context,
         mlir::OwningOpRef<mlir::ModuleOp> module, std::shared_ptr<void> keep = nullptr);
  ~Source();

  /// A compiled program, and no model any more.
  bool isProgram() const { return !form; }
  /// Throws where it is one; `before` begins the message.
  void requireModel(const std::string &before = "") const;
  const std::string &path() const { return name; }
  const std::vector<ValueInfo> &inputs() const { return ins; }
  const std::vector<ValueInfo> &outputs() const { return outs; }
  /// Initializers that a caller may override: they are inputs of a program whose shapes name them.
  const std::vector<ValueInfo> &defaults() const { return overridable; }
  /// Not among inputs and outputs.
  const std::vector<StateValueInfo> &states() const { return kept; }
  mlir::MLIRContext &context() { return *mlirContext; }

  /// The dlc module for these shapes. Inputs on whose values shapes depend are named in `needed`
  /// when their values are not among `values`; nothing is returned then. Weights of names that
  /// `keeps` takes are state arguments.
  mlir::OwningOpRef<mlir::ModuleOp> module(const Shapes &shapes, const Values &values,
                                           std::vector<std::string> &needed,
                                           std::function<bool(llvm::StringRef)> keeps = nullptr);

  /// The same in training mode, made in any context: weights are state arguments. `seed` is
  /// dropout's.
  mlir::OwningOpRef<mlir::ModuleOp> trainingModule(mlir::MLIRContext &context, const Shapes &shapes,
                                                   uint64_t seed, std::vector<std::string> &needed);

  /// Null unless it is compiled.
  std::shared_ptr<runtime::Program> program() const { return loaded; }

  /// Checks names and ranks, and fills in what is static in the file. What remains open is answered
  /// by `open` (input, dimension) when given, else it is an error that says how to give it.
  /// Defaults are in the result where `given` names them.
  Shapes complete(const Shapes &given,
                  const std::function<int64_t(const ValueInfo &, size_t)> &open = nullptr) const;

private:
  void openProgram();
  void take(ImportInfo found);
  mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, const ImportOptions &options,
                                           std::vector<std::string> &needed);

  std::string name;
  const FrontEnd *form = nullptr; ///< of a model
  std::vector<ValueInfo> ins, outs, overridable;
  std::vector<StateValueInfo> kept;
  std::shared_ptr<void> keep;
  std::shared_ptr<mlir::MLIRContext> mlirContext;
  ImportInfo info;
  std::shared_ptr<runtime::Program> loaded;
};

/// The element type as an MLIR type, and back.
mlir::Type elementTypeOf(mlir::MLIRContext &context, DType dtype);
std::optional<DType> dtypeOf(mlir::Type type);

/// "2x3x224"; the empty shape is "0-d".
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_SOURCE_H
