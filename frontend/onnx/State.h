//===- State.h - state of an ONNX model in training mode ------------------===//
//
// In training mode floating-point initializers become arguments of @main with initial values
// instead of constants. They are parameters, or running statistics of normalizations, whose new
// values are results of @main.
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

  /// Whether an initializer becomes a state argument. Scalars do not: they are constants of the
  /// model rather than parameters.
  static bool takes(const ref::Tensor &tensor) { return tensor.isFloat() && tensor.getRank() > 0; }
  Value argument(Build &b, StringRef name, const ref::Tensor &start);
  /// Returns the step number, which serves as the counter of random numbers.
  Value counter(Build &b);

  /// Marks a state argument whose elements are needed at import; it becomes a constant. Returns its
  /// elements, or null if the value is not a state argument.
  const ref::Tensor *pin(Value v);
  /// Returns the latest value of running statistics and excludes them from gradients. Returns null
  /// if the value is not a state argument.
  Value statistics(Value v);
  void update(Value statistics, Value next);

  /// Replaces pinned arguments by constants and adds the new values to the results.
  void finish(Build &b, llvm::SmallVectorImpl<Value> &results,
              llvm::SmallVectorImpl<mlir::DictionaryAttr> &resultAttrs);
  /// Removes unused arguments and sets the attributes of the others. Call it once the function is
  /// complete.
  void describe(Build &b, mlir::func::FuncOp function);

  const uint64_t seed;

private:
  struct Entry {
    std::string name;
    ref::Tensor start; // null for the step counter
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
