//===- State.h - state of a model in training mode ------------------------===//
//
// In training mode floating-point initializers become arguments of @main with initial values
// instead of constants. They are parameters, or running statistics of normalizations, whose new
// values are results of @main.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_BUILDER_STATE_H
#define DLC_FRONTEND_BUILDER_STATE_H

#include "frontend/builder/Build.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <set>

namespace dlc::frontend {

class TrainingState {
public:
  TrainingState(mlir::Block *entry, uint64_t seed) : seed(seed), entry(entry) {}

  /// Returns whether an initializer becomes a state argument. Scalars do not, because they are
  /// constants of the model rather than parameters.
  static bool takes(const ref::Tensor &tensor) { return tensor.isFloat() && tensor.getRank() > 0; }
  Value argument(Build &b, StringRef name, const ref::Tensor &start);
  /// Returns the number of the training step, which is the counter of random numbers.
  Value counter(Build &b);

  /// Marks a state argument to be replaced by a constant, because its elements are needed at
  /// import. Returns the elements, or null if the value is not a state argument.
  const ref::Tensor *pin(Value v);
  /// Returns the latest value of running statistics, as updated in this step, and excludes them
  /// from gradients. Returns null if the value is not a state argument.
  Value statistics(Value v);
  void update(Value statistics, Value next);

  /// Replaces the arguments that pin() marked by constants, and adds the new values of the updated
  /// state to the results.
  void finish(Build &b, llvm::SmallVectorImpl<Value> &results,
              llvm::SmallVectorImpl<mlir::DictionaryAttr> &resultAttrs);
  /// Removes unused state arguments and sets the attributes of the remaining ones. Must be called
  /// after the function is complete.
  void describe(Build &b, mlir::func::FuncOp function);

  const uint64_t seed;

private:
  struct Entry {
    std::string name;
    ref::Tensor start; // initial value; null for the step counter
    mlir::BlockArgument argument;
    bool isParameter = true, isPinned = false;
    Value next;
  };
  Entry *find(Value v);

  mlir::Block *entry;
  std::deque<Entry> entries;
  std::set<std::string> taken;
};

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_STATE_H
