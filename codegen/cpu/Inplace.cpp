//===- Inplace.cpp - which results of a kernel may lie where an operand lies ===//
//
// A kernel evaluates results of one shape together, element by element, and stores them once all of
// them are known (Kernel.cpp). So an input may be written over if each of its elements is read for
// the same element of such results only: everything that depends on it, up to the results, must be
// elementwise and of its shape. Broadcasts and reductions of it, or a result of another shape,
// would read it when it is written over already, perhaps on another thread.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/Inplace.h"

#include "codegen/cpu/Nest.h"
#include "codegen/cpu/Split.h"

using namespace mlir;

namespace dlc::cpu {

static bool isReadElementForElement(BlockArgument input) {
  auto shape = cast<RankedTensorType>(input.getType()).getShape();
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{input};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!user->hasTrait<Elementwise>())
        return false;
      for (Value result : user->getResults()) {
        if (cast<RankedTensorType>(result.getType()).getShape() != shape)
          return false;
        work.push_back(result);
      }
    }
  }
  return true;
}

SmallVector<std::pair<unsigned, unsigned>> inplacePairs(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  auto results = body.getTerminator()->getOperands();
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  // A concatenation that is the only result is walked part by part; reductions may be cut into
  // parts (Split.h).
  if ((results.size() == 1 && results[0].getDefiningOp<ConcatOp>()) ||
      !body.getOps<ReduceOp>().empty())
    return pairs;
  auto shapeOf = [](Value v) { return cast<RankedTensorType>(v.getType()).getShape(); };
  for (BlockArgument input : body.getArguments()) {
    if (!isReadElementForElement(input))
      continue;
    // One element per row of a wider result: computed again for every part of a long row.
    auto shape = shapeOf(input);
    if (!shape.empty() && shape.back() == 1 &&
        llvm::any_of(results, [&](Value result) { return shapeOf(result) != shape; }))
      continue;
    for (auto [r, result] : llvm::enumerate(results))
      if (result.getType() == input.getType())
        pairs.push_back({unsigned(r), input.getArgNumber()});
  }
  llvm::sort(pairs);
  return pairs;
}

/// Whether everything that depends on the input is its row's: elementwise, or a reduction of it
/// along the row.
static bool isReadRowForRow(BlockArgument input) {
  auto shape = cast<RankedTensorType>(input.getType()).getShape();
  auto sums = llvm::to_vector(shape);
  sums.back() = 1;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{input};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      auto reduce = dyn_cast<ReduceOp>(user);
      if (reduce ? reduce.getAxes() != ArrayRef<int64_t>{int64_t(shape.size()) - 1}
                 : !user->hasTrait<Elementwise>())
        return false;
      for (Value result : user->getResults()) {
        auto found = cast<RankedTensorType>(result.getType()).getShape();
        if (found != shape && found != ArrayRef<int64_t>(sums))
          return false;
        work.push_back(result);
      }
    }
  }
  return true;
}

SmallVector<std::pair<unsigned, unsigned>> inplaceRows(FusionOp fusion, const Target &target) {
  Block &body = fusion.getBody().front();
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (body.getOps<ReduceOp>().empty() || planSplit(fusion, target))
    return pairs;
  // One unit walks a whole row: first what is of one element per row, from all of it, then what is
  // as wide as the row.
  std::vector<Nest> nests = planNests(fusion, target);
  if (nests.size() != 1 || nests[0].blocks != 1 || nests[0].scalarRow || nests[0].shape.back() < 2)
    return pairs;
  for (BlockArgument input : body.getArguments()) {
    auto shape = cast<RankedTensorType>(input.getType()).getShape();
    if (shape != ArrayRef<int64_t>(nests[0].shape) || !isReadRowForRow(input))
      continue;
    for (const Nest::Store &store : nests[0].stores)
      if (store.axis < 0 && store.value.getType() == input.getType())
        pairs.push_back({store.output, input.getArgNumber()});
  }
  llvm::sort(pairs);
  return pairs;
}

SmallVector<std::pair<unsigned, unsigned>> inplaceParts(FusionOp fusion, const Target &target) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  std::optional<SplitPlan> plan = planSplit(fusion, target);
  if (!plan)
    return pairs;
  // One unit walks each element once: its terms and its results are known before these are stored.
  auto isReadOnce = [&](BlockArgument input) {
    llvm::SmallPtrSet<Operation *, 16> seen;
    SmallVector<Value> work{input};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (cast<RankedTensorType>(value.getType()).getShape() != ArrayRef<int64_t>(plan->shape))
        return false;
      for (Operation *user : value.getUsers()) {
        if (isa<YieldOp, ReduceOp>(user) || !seen.insert(user).second)
          continue;
        if (!user->hasTrait<Elementwise>())
          return false;
        llvm::append_range(work, user->getResults());
      }
    }
    return true;
  };
  Block &body = fusion.getBody().front();
  for (BlockArgument input : body.getArguments())
    if (isReadOnce(input))
      for (auto [r, result] : llvm::enumerate(body.getTerminator()->getOperands()))
        if (result.getType() == input.getType())
          pairs.push_back({unsigned(r), input.getArgNumber()});
  llvm::sort(pairs);
  return pairs;
}

} // namespace dlc::cpu
