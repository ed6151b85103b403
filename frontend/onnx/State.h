//===- State.h - what a model keeps from step to step when it is trained --===//
//
// In training mode initializers of floats are no constants but arguments of @main, with what they
// begin as: parameters, and the running statistics of normalisations, whose new values are results.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_STATE_H
#define DLC_FRONTEND_ONNX_STATE_H

#include "frontend/onnx/Build.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <set>

namespace dlc::onnxfront {

class TrainingState {
public:
  TrainingState(mlir::Block *entry, uint64_t seed) : seed(seed), entry(entry) {}

  /// Whether an initializer is trained: scalars are numbers that somebody wrote.
  static bool takes(const ref::Tensor &tensor) { return tensor.isFloat() && tensor.getRank() > 0; }
  Value argument(Build &b, StringRef name, const ref::Tensor &start);
  /// The number of the step, that random numbers follow from.
  Value counter(Build &b);

  /// The value's elements are needed at import: it is a constant after all. Its elements, or null
  /// for what is no argument of this kind.
  const ref::Tensor *pin(Value v);
  /// The latest value of running statistics, to which no gradient goes from now on; null for what
  /// is no argument of this kind.
  Value statistics(Value v);
  void update(Value statistics, Value next);

  /// Turns pinned arguments into constants and adds the new values to the results.
  void finish(Build &b, llvm::SmallVectorImpl<Value> &results,
              llvm::SmallVectorImpl<mlir::DictionaryAttr> &resultAttrs);
  /// Once the function is whole: drops arguments that nobody uses, and describes the others.
  void describe(Build &b, mlir::func::FuncOp function);

  const uint64_t seed;

private:
  struct Entry {
    std::string name;
    ref::Tensor start; // null: the counter
    mlir::BlockArgument argument;
    bool isParameter = true, isPinned = false;
    Value next;
  };
  Entry *find(Value v);

  mlir::Block *entry;
  std::deque<Entry> entries;
  std::set<std::string> taken;
};

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_STATE_H
