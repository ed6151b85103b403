//===- Choose.h - the layouts of a graph, all together --------------------===//
//
// Each operation has a few ways: layouts that it takes and gives, and what it then costs. Where a
// value lies otherwise than an operation takes it, a reorder stands between, made once for all who
// want it. The choice is the least sum of both over a block: dynamic programming over what is
// alive, operation by operation. Two partial choices that leave the same layouts alive differ in
// nothing that follows, so the cheaper one stands for both. Chains and trees are so exact. Where
// many values are alive at once, as in training steps, the cheapest `kMostAlive` partial choices go
// on, and the rest is given up.
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

/// On a module: of each product, what was chosen and what that and the others cost.
constexpr llvm::StringLiteral kLayoutsAttr = "dlc.layouts";

/// So many partial choices go on from one operation to the next.
constexpr size_t kMostAlive = 32;

/// A way to do an operation. Layouts are named, plain ones empty.
struct Way {
  /// Of the operands that have a say, by their numbers; the others come as they are.
  std::vector<std::pair<unsigned, std::string>> takes;
  /// Of all results.
  std::vector<std::string> gives;
  double cost = 0; ///< microseconds
};

struct LayoutQuestions {
  /// Never none. Operations that are not asked take and give plain tensors.
  std::function<std::vector<Way>(mlir::Operation *)> ways;
  /// From one layout to the other.
  std::function<double(mlir::Value, const std::string &from, const std::string &to)> reorder;
};

/// The best way of each operation that has several.
llvm::DenseMap<mlir::Operation *, Way> chooseWays(mlir::Block &block,
                                                  const LayoutQuestions &questions);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_CHOOSE_H
