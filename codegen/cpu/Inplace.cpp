//===- Inplace.cpp - which results of a kernel may share an operand's buffer ---===//
//
// Decides which results may be computed in an input's buffer. A kernel evaluates results of one
// shape together, element by element, and stores them after all of them are evaluated (Kernel.cpp).
// Therefore an input may be overwritten if each of its elements is read only for the same element
// of such results. All operations that depend on the input, up to the results, must be elementwise
// and have its shape. A broadcast or reduction of the input, or a result of another shape, could
// read an element after it was overwritten, possibly on another thread.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/Inplace.h"

#include "codegen/cpu/kernel/Nest.h"
#include "codegen/cpu/kernel/Split.h"

using namespace mlir;

namespace dlc::cpu {

static ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

/// Returns whether all transitive users of the input satisfy `allowed` and have shapes that satisfy
/// `fits`. Users of a reduction's result are included only if `alsoSums` is set.
static bool isReadOnlyBy(BlockArgument input, llvm::function_ref<bool(Operation *)> allowed,
                         llvm::function_ref<bool(ArrayRef<int64_t>)> fits, bool alsoSums) {
  if (!fits(shapeOf(input)))
    return false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{input};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!allowed(user))
        return false;
      if (isa<ReduceOp>(user) && !alsoSums)
        continue;
      for (Value result : user->getResults()) {
        if (!fits(shapeOf(result)))
          return false;
        work.push_back(result);
      }
    }
  }
  return true;
}

static bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>(); }

static bool isReadElementwise(BlockArgument input) {
  auto fits = [&](ArrayRef<int64_t> shape) { return shape == shapeOf(input); };
  return isReadOnlyBy(input, isElementwise, fits, /*alsoSums=*/true);
}

SmallVector<std::pair<unsigned, unsigned>> findElementwiseInplacePairs(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  auto results = body.getTerminator()->getOperands();
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  // Buffers cannot be shared element by element in two cases. If the only result is a
  // concatenation, the kernel computes one operand after the other. Reductions may be split into
  // work units (Split.h).
  if ((results.size() == 1 && results[0].getDefiningOp<ConcatOp>()) ||
      !body.getOps<ReduceOp>().empty())
    return pairs;
  for (BlockArgument input : body.getArguments()) {
    if (!isReadElementwise(input))
      continue;
    // An input with one element per row must not be overwritten: a wider result reads it again for
    // each block of a long row.
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

/// Returns whether each row of the results depends only on the same row of the input: all
/// operations that depend on it are elementwise or reductions along the row.
static bool isReadRowwise(BlockArgument input) {
  ArrayRef<int64_t> shape = shapeOf(input);
  auto sums = llvm::to_vector(shape);
  sums.back() = 1;
  auto allowed = [&](Operation *op) {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce ? reduce.getAxes() == ArrayRef<int64_t>{int64_t(shape.size()) - 1}
                  : isElementwise(op);
  };
  auto fits = [&](ArrayRef<int64_t> found) { return found == shape || found == ArrayRef(sums); };
  return isReadOnlyBy(input, allowed, fits, /*alsoSums=*/true);
}

SmallVector<std::pair<unsigned, unsigned>> findRowwiseInplacePairs(FusionOp fusion,
                                                                   const Target &target) {
  Block &body = fusion.getBody().front();
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (body.getOps<ReduceOp>().empty() || planSplit(fusion, target))
    return pairs;
  // A result may overwrite an input of the same shape if one work unit computes a whole row. It
  // first computes the results with one element per row, which read the whole row, and then the
  // results that have the shape of the row.
  std::vector<LoopNest> nests = planNests(fusion, target);
  if (nests.size() != 1 || nests[0].blocks != 1 || nests[0].scalarRow || nests[0].shape.back() < 2)
    return pairs;
  for (BlockArgument input : body.getArguments()) {
    if (shapeOf(input) != ArrayRef<int64_t>(nests[0].shape) || !isReadRowwise(input))
      continue;
    for (const LoopNest::Store &store : nests[0].stores)
      if (store.axis < 0 && store.value.getType() == input.getType())
        pairs.push_back({store.output, input.getArgNumber()});
  }
  llvm::sort(pairs);
  return pairs;
}

SmallVector<std::pair<unsigned, unsigned>> findSplitInplacePairs(FusionOp fusion,
                                                                 const Target &target) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  std::optional<SplitPlan> plan = planSplit(fusion, target);
  if (!plan)
    return pairs;
  // A result may overwrite an input that the kernel reads only once per element: a work unit
  // evaluates the element's reduction terms and results before it stores the results.
  auto allowed = [](Operation *op) { return isa<ReduceOp>(op) || isElementwise(op); };
  auto fits = [&](ArrayRef<int64_t> shape) { return shape == ArrayRef<int64_t>(plan->shape); };
  auto isReadOnce = [&](BlockArgument input) {
    return isReadOnlyBy(input, allowed, fits, /*alsoSums=*/false);
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
