//===- Signature.h - arguments and results of @main -----------------------===//
#ifndef DLC_FRONTEND_BUILDER_SIGNATURE_H
#define DLC_FRONTEND_BUILDER_SIGNATURE_H

#include "frontend/builder/Build.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc::frontend {

/// Module with an empty function @main, which has no arguments yet.
struct MainFunction {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block *entry;
};
MainFunction createMain(mlir::Location location);

/// Role of an argument or a result of @main. A session saves states between runs.
enum class ValueRole : uint8_t { Plain, State };

/// Named arguments and results of a function that is being built. A state is an argument and a
/// result with the same name.
class Signature {
public:
  Signature(Build &b, mlir::Block *entry) : b(b), entry(entry) {}

  /// Adds an argument to the function.
  Value argument(StringRef name, mlir::RankedTensorType type, ValueRole role = ValueRole::Plain);
  /// Adds a result to the function. All results are returned by finish().
  void result(StringRef name, Value value, ValueRole role = ValueRole::Plain);
  /// Creates the return operation and sets the type and the attributes of the function.
  void finish(mlir::func::FuncOp function);

private:
  mlir::DictionaryAttr attributes(StringRef name, ValueRole role);

  Build &b;
  mlir::Block *entry;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs;
  llvm::SmallVector<Value> results;
};

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_SIGNATURE_H
