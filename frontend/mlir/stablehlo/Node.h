//===- Node.h - interface of a StableHLO operation for its handler -------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_NODE_H
#define DLC_FRONTEND_MLIR_STABLEHLO_NODE_H

#include "frontend/builder/Build.h"

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace dlc::stablehlo {

using frontend::Build;
using frontend::Dims;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using mlir::Region;
using mlir::Type;
using mlir::Value;
using Values = std::vector<Value>;

class Importer;

/// Padding before (low) and after (high) the elements of each dimension.
struct Padding {
  Dims low, high;
};

/// A StableHLO operation with its operands as dlc values. The handler of the operation reads the
/// node, builds dlc operations and sets the results.
class Node {
public:
  Node(Importer &importer, Build &b, mlir::Operation *op, Values operands);

  Importer &importer;
  mlir::Operation *const op;

  //===--- Operands and results -----------------------------------------------===//
  const Values ins;
  Values outs;
  Value in(size_t i = 0) const { return i < ins.size() ? ins[i] : Value(); }
  void set(size_t i, Value value) { outs[i] = value; }
  void set(Value value) { set(0, value); }
  mlir::RankedTensorType resultType(unsigned i = 0) const;
  Type resultElement(unsigned i = 0) const { return resultType(i).getElementType(); }
  Dims resultShape(unsigned i = 0) const { return resultType(i).getShape().vec(); }

  //===--- Attributes ---------------------------------------------------------===//
  template <typename A> A attr(StringRef name) const { return op->getAttrOfType<A>(name); }
  int64_t integer(StringRef name, int64_t otherwise = 0) const;
  bool flag(StringRef name, bool otherwise = false) const;
  Dims ints(StringRef name) const;
  /// Reads an array attribute, which must have `count` entries. If the attribute is missing, each
  /// entry is `otherwise`.
  Dims ints(StringRef name, size_t count, int64_t otherwise);
  /// Reads the attribute `padding` of `count` dimensions. If the attribute is missing, the padding
  /// is 0.
  Padding padding(size_t count);

  //===--- Regions ------------------------------------------------------------===//
  /// Imports region i of the operation at the insertion point. `results` receives the operands of
  /// the region's terminator. Returns false after an error.
  bool inlineRegion(unsigned i, ArrayRef<Value> arguments, Values &results);

private:
  Build &b;
};

using Handler = void (*)(Node &n, Build &b);

/// A row of an operator table: the name of a StableHLO operation and its handler.
struct OperatorEntry {
  const char *name;
  Handler handler;
};

/// Operator tables, one for each family of StableHLO operations.
ArrayRef<OperatorEntry> elementwiseEntries();
ArrayRef<OperatorEntry> bitEntries();
ArrayRef<OperatorEntry> functionEntries();
ArrayRef<OperatorEntry> shapeEntries();
ArrayRef<OperatorEntry> sliceEntries();
ArrayRef<OperatorEntry> reduceEntries();
ArrayRef<OperatorEntry> windowEntries();
ArrayRef<OperatorEntry> sortEntries();
ArrayRef<OperatorEntry> gatherEntries();
ArrayRef<OperatorEntry> scatterEntries();
ArrayRef<OperatorEntry> contractEntries();
ArrayRef<OperatorEntry> convEntries();
ArrayRef<OperatorEntry> normEntries();
ArrayRef<OperatorEntry> controlEntries();
ArrayRef<OperatorEntry> customCallEntries();
/// Handlers of stablehlo.custom_call, by the name of the call target.
ArrayRef<OperatorEntry> customCallTargets();

/// Returns the handler of the operation with the given name, or null if there is none.
Handler findHandler(StringRef name);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_NODE_H
