//===- Attention.cpp - groups attention with the views of its operands ----===//
#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/StridedView.h"
#include "passes/fuse/attention/FusedAttention.h"
#include "passes/fuse/grouping/FuseSteps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

/// Returns whether the rows of the view are contiguous, so that the attention kernel reads and
/// writes them in vectors.
bool hasContiguousRows(const StridedView &view) {
  return view.shape.back() == 1 || view.strides.back() == 1;
}

/// Groups the view operations, such as transpositions, that precede an operand of the attention
/// with the attention. They are cloned, so that other users keep the originals.
void absorbViews(Grouping &grouping, Operation *anchor, OpOperand &operand, bool isMask,
                 SmallVectorImpl<Operation *> &members) {
  SmallVector<Operation *> chain; // view operations, in reverse program order
  for (Operation *op = operand.get().getDefiningOp();
       op && op->getBlock() == anchor->getBlock() && grouping.isFree(op) && chain.size() < 8 &&
       op->hasTrait<ViewLike>() && classify(op) != NodeClass::Opaque;
       op = op->getOperand(0).getDefiningOp())
    chain.push_back(op);
  for (; !chain.empty(); chain.pop_back()) {
    // The first view operations in program order remain outside of the group if they are aliases
    // (share their operand's memory), because an alias needs no kernel.
    if (isAlias(chain.back()))
      continue;
    auto view = matchStridedView(operand.get(),
                                 [&](Operation *op) { return llvm::is_contained(chain, op); });
    if (view && (isMask || hasContiguousRows(*view)))
      break;
  }
  if (chain.empty())
    return;
  OpBuilder builder(anchor);
  IRMapping mapping;
  for (Operation *op : llvm::reverse(chain))
    members.push_back(builder.clone(*op, mapping));
  operand.set(members.back()->getResult(0));
  for (Operation *op : chain)
    if (op->use_empty())
      grouping.erase(op);
}

/// Groups a transposition that is the only user of a result with the attention, whose kernel then
/// writes the result in transposed order.
void fuseResultTranspose(Grouping &grouping, Value result, SmallVectorImpl<Operation *> &members) {
  SmallVector<Operation *> trial;
  size_t taken = 0;
  for (Value value = result; value.hasOneUse() && trial.size() < 4;
       value = trial.back()->getResult(0)) {
    Operation *user = *value.getUsers().begin();
    if (user->getBlock() != &grouping.getBlock() || !isa<TransposeOp, ReshapeOp>(user) ||
        !grouping.isFree(user))
      break;
    trial.push_back(user);
    auto view = matchStridedDestination(result, user->getResult(0));
    if (isa<TransposeOp>(user) && view && hasContiguousRows(*view))
      taken = trial.size();
  }
  members.append(trial.begin(), trial.begin() + taken);
}

} // namespace

void groupAttention(Grouping &grouping) {
  SmallVector<Operation *> anchors;
  for (Operation &op : grouping.getBlock())
    if (isAttention(&op) && shouldKeepFused(&op))
      anchors.push_back(&op);
  for (Operation *anchor : anchors) {
    anchor->removeAttr(kKeepFusedAttr);
    SmallVector<Operation *> members{anchor};
    unsigned plain = isa<AttentionGradOp>(anchor) ? 6 : 3;
    for (OpOperand &operand : anchor->getOpOperands())
      absorbViews(grouping, anchor, operand, operand.getOperandNumber() >= plain, members);
    for (Value result : anchor->getResults())
      fuseResultTranspose(grouping, result, members);
    grouping.create(members, /*closed=*/true);
  }
}

} // namespace dlc
