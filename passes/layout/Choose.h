//===- Choose.h - joint choice of all layouts in a block ------------------===//
//
// Each operation has several layout options: layouts of its operands and results, and their cost.
// If a value has another layout than an operation takes, a reorder is inserted, once for all users
// in that layout. The choice minimizes the total cost of operations and reorders in a block by
// dynamic programming over the live values, operation by operation. Of two partial choices with the
// same layouts of live values, only the cheaper one is continued. The result is optimal for chains
// and trees. If many values are live at once, as in training steps, only the `kMaxAlive` cheapest
// partial choices are continued, and the result may not be optimal.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_CHOOSE_H
#define DLC_PASSES_LAYOUT_CHOOSE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc {

/// Maximum number of partial solutions that the dynamic program (beam search) continues from one
/// operation to the next.
constexpr size_t kMaxAlive = 32;

/// Layouts with which an operation can be executed, and their cost. Layouts are tags, and an empty
/// tag means row-major.
struct LayoutOption {
  /// Layouts that the operation requires of its operands, by operand number. Operands that are not
  /// listed are used in their current layout.
  std::vector<std::pair<unsigned, std::string>> operandLayouts;
  /// Layouts of all results of the operation.
  std::vector<std::string> resultLayouts;
  double cost = 0; ///< in microseconds
};

struct LayoutCosts {
  /// Returns the layout options of an operation. If the list is empty, the operation takes and
  /// returns row-major tensors.
  std::function<std::vector<LayoutOption>(mlir::Operation *)> layoutOptions;
  /// Returns the cost in microseconds of reordering a value from one layout to another.
  std::function<double(mlir::Value, const std::string &from, const std::string &to)> reorder;
};

/// Chooses the layouts of all operations in a block. Returns the chosen option of each operation
/// that has several options, or whose only option requires layouts of its operands.
llvm::DenseMap<mlir::Operation *, LayoutOption> chooseLayouts(mlir::Block &block,
                                                              const LayoutCosts &layoutCosts);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_CHOOSE_H
