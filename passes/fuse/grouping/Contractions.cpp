//===- Contractions.cpp - groups contractions with views and epilogue ops -----===//
#include "passes/ConstantRewrites.h"
#include "passes/Devices.h"
#include "passes/QuantizedWeights.h"
#include "passes/Rounding.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "passes/fuse/epilogue/MatchActivation.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/fuse/grouping/FuseSteps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

/// Clones the operations in `chain`, which compute an operand of a contraction, into the group, so
/// that other users keep the originals. `chain` is in reverse program order.
void takeIn(Grouping &grouping, ArrayRef<Operation *> chain, OpOperand &operand,
            SmallVectorImpl<Operation *> &members) {
  OpBuilder builder(operand.getOwner());
  IRMapping mapping;
  Operation *last = nullptr;
  for (Operation *op : llvm::reverse(chain)) {
    last = builder.clone(*op, mapping);
    members.push_back(last);
  }
  operand.set(last->getResult(0));
  for (Operation *op : chain)
    if (op->use_empty())
      grouping.erase(op);
}

/// Returns whether no two elements of one matrix of the operand share a cache line, because
/// elements that are adjacent in memory belong to different matrices of the batch. A matmul that
/// reads this view would load each cache line once for each of its elements.
bool hasInterleavedMatrices(Operation *anchor, Value operand, ArrayRef<Operation *> chain) {
  constexpr int64_t kLine = 64, kNear = 32 << 10;
  if (!isa<MatmulOp>(anchor) || !can(deviceOf(operand.getType()), DLC_DEVICE_HOST_CODE) ||
      typeOf(operand).getRank() < 3 || bytesOf(operand.getType()) <= kNear)
    return false;
  std::optional<StridedView> view =
      matchStridedView(operand, [&](Operation *op) { return llvm::is_contained(chain, op); });
  if (!view)
    return false;
  const int64_t apart = kLine * 8 / typeOf(operand).getElementTypeBitWidth();
  auto isNear = [&](size_t dim) {
    return view->shape[dim] > 1 && std::abs(view->strides[dim]) < apart;
  };
  const size_t rank = view->shape.size();
  return !isNear(rank - 1) && !isNear(rank - 2) &&
         view->shape[rank - 1] * view->shape[rank - 2] > 1;
}

/// Groups the view operations on an operand with the contraction if strides can express them. The
/// view operations are cloned, so that other users keep the originals.
void absorbOperandViews(Grouping &grouping, Operation *anchor, OpOperand &operand,
                        SmallVectorImpl<Operation *> &members) {
  SmallVector<Operation *> chain; // view operations, in reverse program order
  for (Operation *op = operand.get().getDefiningOp();
       op && op->getBlock() == anchor->getBlock() && op->hasTrait<ViewLike>() &&
       grouping.isFree(op) && !llvm::is_contained(members, op) &&
       classify(op) != NodeClass::Opaque && chain.size() < 8;
       op = op->getOperand(0).getDefiningOp())
    chain.push_back(op);
  while (!chain.empty()) {
    // The first view operations in program order remain outside of the group if they are aliases
    // (share their operand's memory): an alias needs no kernel, and other groups can share it.
    while (!chain.empty() && isAlias(chain.back()))
      chain.pop_back();
    if (chain.empty())
      return;
    SmallVector<Operation *> trial = llvm::to_vector(members);
    trial.append(chain);
    if (matchEpilogue(trial, anchor->getResult(0)))
      break;
    chain.pop_back();
  }
  if (chain.empty() || hasInterleavedMatrices(anchor, operand.get(), chain))
    return;
  takeIn(grouping, chain, operand, members);
}

/// Returns the operations that follow `value` and must be grouped together: those that compose an
/// activation, or the only user of `value`.
SmallVector<Operation *> nextEpilogueOps(Value value, Block &block) {
  auto here = [&](Operation *op) { return op->getBlock() == &block; };
  bool exact = value.getDefiningOp() && requiresStrictAccuracy(value.getDefiningOp());
  if (std::optional<EpilogueMatch> step = matchActivation(value, here, exact))
    return SmallVector<Operation *>(step->ops.begin(), step->ops.end());
  if (!value.hasOneUse() || !here(*value.getUsers().begin()))
    return {};
  return {*value.getUsers().begin()};
}

/// On a GPU, adds the casts from 16 bits to f32 of tensors that are added to `value`, because a
/// separate cast kernel would write twice the bytes that it reads. A cast with other users is
/// cloned.
void addWideningCasts(Grouping &grouping, Value value, SmallVectorImpl<Operation *> &ops) {
  if (ops.size() != 1 || !isa<AddOp>(ops.front()) ||
      !can(deviceOf(value.getType()), DLC_DEVICE_GPU_CODE))
    return;
  Operation *sum = ops.front();
  for (OpOperand &operand : sum->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<CastOp>();
    if (!cast || operand.get() == value || cast->getBlock() != sum->getBlock() ||
        !grouping.isFree(cast) || typeOf(cast.getX()).getElementTypeBitWidth() != 16 ||
        !typeOf(cast.getY()).getElementType().isF32() || shapeOf(cast.getY()) != shapeOf(value))
      continue;
    Operation *own = cast;
    if (!cast.getY().hasOneUse()) {
      own = OpBuilder(sum).clone(*cast);
      operand.set(own->getResult(0));
    }
    ops.insert(ops.begin(), own);
  }
}

/// Returns the state if `value` is a multiple of a state (a persistent buffer such as a parameter)
/// and has a single user, otherwise null.
Value matchScaledState(Value value) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul || !mul.getY().hasOneUse())
    return {};
  for (int i : {0, 1})
    if (splatValue(mul->getOperand(i)) && isState(mul->getOperand(1 - i)))
      return mul->getOperand(1 - i);
  return {};
}

/// Matches the operations that compute the new value of a state from the result of a contraction:
/// sums with multiples of the state, and scalar factors. Returns an empty list if the chain does
/// not end in the new value of this state, or if the library cannot accumulate the result in place.
SmallVector<Operation *> updateChain(Grouping &grouping, Value value,
                                     ArrayRef<Operation *> members) {
  constexpr size_t longest = 8;
  SmallVector<Operation *> chain;
  while (value.hasOneUse() && chain.size() < longest) {
    Operation *user = *value.getUsers().begin();
    if (user->getBlock() != value.getParentBlock() || !grouping.isFree(user) ||
        !user->hasTrait<AffineInEachOperand>())
      break;
    Value state;
    for (Value operand : user->getOperands()) {
      if (operand == value)
        continue;
      if (Value multiple = matchScaledState(operand);
          multiple && grouping.isFree(operand.getDefiningOp())) {
        chain.push_back(operand.getDefiningOp());
        state = multiple;
      } else if (isState(operand)) {
        state = operand;
      }
    }
    chain.push_back(user);
    value = user->getResult(0);
    if (!state || !isStateUpdate(state, value))
      continue;
    SmallVector<Operation *> trial = llvm::to_vector(members);
    trial.append(chain);
    std::optional<Epilogue> epilogue = matchEpilogue(trial, value);
    if (epilogue && foldStateUpdate(*epilogue))
      return chain;
    break;
  }
  return {};
}

/// Adds epilogue ops to the group as long as the matcher accepts them, and returns the last value.
/// A value that was rounded to 8 bits is not combined with another full-size tensor, because a
/// generated kernel reads one byte per element of each tensor, whereas the library would read the
/// other tensor in f32.
Value addEpilogueOps(Grouping &grouping, Value value, SmallVectorImpl<Operation *> &members) {
  // The CPU library applies the epilogue ops of a transposed convolution one by one, which takes a
  // hundred times longer than a separate kernel. A transposed convolution without epilogue ops runs
  // as the data gradient of a convolution.
  if (value.getDefiningOp<ConvTransposeOp>())
    return value;
  Block &block = grouping.getBlock();
  ArrayRef<int64_t> shape = shapeOf(value);
  Value rounded;
  size_t membersOfRounded = 0;
  while (true) {
    if (typeOf(value).getElementType().isInteger(8)) {
      rounded = value;
      membersOfRounded = members.size();
    }
    SmallVector<Operation *> next = nextEpilogueOps(value, block);
    if (next.empty() || isa<TransposeOp, ReshapeOp>(next.front()) ||
        next.front()->getNumResults() != 1 || int(members.size() + next.size()) > maxFusionOps)
      return value;
    for (Operation *op : next) {
      if (!grouping.isFree(op))
        return value;
      // A multiple of a state is not an epilogue operand here: it is added by the kernel that
      // computes the new value of the state.
      for (Value operand : op->getOperands())
        if (matchScaledState(operand))
          return value;
    }
    addWideningCasts(grouping, value, next);
    SmallVector<Operation *> trial = llvm::to_vector(members);
    trial.append(next);
    Value result = next.back()->getResult(0);
    std::optional<Epilogue> epilogue = matchEpilogue(trial, result);
    if (!epilogue || !grouping.haveSameDependencies(trial))
      return value;
    if (rounded && !epilogue->epilogueOps.empty() &&
        epilogue->epilogueOps.back().isFullSize(shape)) {
      members.resize(membersOfRounded);
      return rounded;
    }
    members = std::move(trial);
    value = result;
  }
}

/// On a GPU, returns whether the kernels of all users of `value` can compute the epilogue ops
/// themselves while they read the result of the contraction. This is preferred because matmul
/// libraries support few epilogue ops, and a 16-bit result has half the bytes of f32 sums. (Not
/// used for i32 results of integer contractions, which have more bytes than the values derived from
/// them.)
bool canFuseIntoReaders(Grouping &grouping, Value value) {
  if (!can(deviceOf(value.getType()), DLC_DEVICE_GPU_CODE) || value.use_empty())
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != &grouping.getBlock() || !grouping.isFree(user))
      return false;
    // A reshape can be fused with its reader if the reshape and its operand have a single user
    // each.
    NodeClass kind = classify(user);
    if (kind == NodeClass::Alias && value.hasOneUse() && user->getResult(0).hasOneUse() &&
        preservesVectorization(user))
      return canFuseIntoReaders(grouping, user->getResult(0));
    return kind == NodeClass::Map || kind == NodeClass::Reduce;
  });
}

/// Adds a transposition of the contraction's result to the group if the library can write the
/// result in transposed order.
void addResultTranspose(Grouping &grouping, Value value, SmallVectorImpl<Operation *> &members) {
  SmallVector<Operation *> trial = llvm::to_vector(members);
  for (int i = 0; i < 4 && value.hasOneUse(); ++i) {
    Operation *user = *value.getUsers().begin();
    if (user->getBlock() != &grouping.getBlock() || !isa<TransposeOp, ReshapeOp>(user) ||
        !grouping.isFree(user))
      return;
    trial.push_back(user);
    value = user->getResult(0);
    // The group ends with a transposition. Reshapes that follow the last transposition remain
    // outside of the group, because they need no kernel.
    if (isa<TransposeOp>(user) && matchEpilogue(trial, value))
      members = trial;
  }
}

/// Returns the cast to f32 that is the only user of a 16-bit weight gradient, or null. The kernel
/// accumulates in f32 and stores the sums unrounded. On a GPU the fast library kernels store 16
/// bits, and the cast is fused with its readers.
Operation *findWideningCast(const Grouping &grouping, Operation *anchor, Block &block) {
  Value gradient = anchor->getResult(0);
  if (!isa<ConvWeightGradOp>(anchor) || !gradient.hasOneUse() || !hasExcessPrecision(gradient) ||
      typeOf(gradient).getElementTypeBitWidth() != 16 ||
      can(deviceOf(gradient.getType()), DLC_DEVICE_GPU_CODE))
    return nullptr;
  auto cast = dyn_cast<CastOp>(*gradient.getUsers().begin());
  return cast && cast->getBlock() == &block && grouping.isFree(cast) &&
                 typeOf(cast.getY()).getElementType().isF32()
             ? cast.getOperation()
             : nullptr;
}

/// Returns the cast to f32 of constant matmul weights that are stored in fewer bits, or null. The
/// kernel of the matmul reads the stored weights.
Operation *findWeightCast(Operation *anchor, Block &block) {
  auto product = dyn_cast<MatmulOp>(anchor);
  OnAttr device = product ? deviceOf(product.getB().getType()) : OnAttr();
  auto cast = product ? product.getB().getDefiningOp<CastOp>() : CastOp();
  if (!cast || cast->getBlock() != &block || !cast.getX().getDefiningOp<ConstantOp>() ||
      !typeOf(cast.getY()).getElementType().isF32() || can(device, DLC_DEVICE_GPU_CODE))
    return nullptr;
  if (!cast.getY().hasOneUse()) {
    OpBuilder builder(anchor);
    Operation *own = builder.clone(*cast);
    product.getBMutable().assign(own->getResult(0));
    return own;
  }
  return cast;
}

/// Groups the dequantization of weights with the matmul, whose kernel reads the quantized values.
void addWeightDequantization(Grouping &grouping, MatmulOp product,
                             SmallVectorImpl<Operation *> &members) {
  DequantizeOp weights = getQuantizedWeights(product);
  if (weights && weights->getBlock() == &grouping.getBlock() && grouping.isFree(weights))
    takeIn(grouping, weights.getOperation(), product.getBMutable(), members);
}

} // namespace

void groupContractions(Grouping &grouping) {
  SmallVector<Operation *> anchors;
  for (Operation &op : grouping.getBlock()) {
    NodeClass kind = classify(&op);
    if (kind == NodeClass::Contraction || kind == NodeClass::Pool)
      anchors.push_back(&op);
  }
  // The operands of all contractions are processed before any result. A transposition between two
  // matmuls is then grouped with the second matmul if possible, because libraries are most
  // efficient at reading with strides.
  SmallVector<int> groups;
  for (Operation *anchor : anchors) {
    SmallVector<Operation *> ops{anchor};
    if (isa<MatmulOp>(anchor) && matchEpilogue(ops, anchor->getResult(0)))
      for (OpOperand &operand : anchor->getOpOperands().take_front(2))
        if (operand.getOperandNumber() == 0 || !getQuantizedWeights(anchor))
          absorbOperandViews(grouping, anchor, operand, ops);
    groups.push_back(grouping.create(ops, /*closed=*/true));
  }
  for (auto [anchor, group] : llvm::zip(anchors, groups)) {
    SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
    bool isPool = classify(anchor) == NodeClass::Pool;
    if (!isPool && matchEpilogue(ops, anchor->getResult(0))) {
      SmallVector<Operation *> update = updateChain(grouping, anchor->getResult(0), ops),
                               whole(ops);
      whole.append(update);
      if (!grouping.haveSameDependencies(whole))
        update.clear();
      ops.append(update);
      if (update.empty()) {
        SmallVector<Operation *> alone(ops);
        Value value = addEpilogueOps(grouping, anchor->getResult(0), ops);
        if (!isInt32(anchor->getResult(0).getType()) && canFuseIntoReaders(grouping, value)) {
          ops = alone;
          value = anchor->getResult(0);
        }
        if (isa<MatmulOp>(anchor))
          addResultTranspose(grouping, value, ops);
      }
    }
    if (Operation *weights = findWeightCast(anchor, grouping.getBlock()))
      ops.push_back(weights);
    if (auto product = dyn_cast<MatmulOp>(anchor))
      addWeightDequantization(grouping, product, ops);
    if (Operation *widening = findWideningCast(grouping, anchor, grouping.getBlock()))
      ops.push_back(widening);
    for (Operation *op : ArrayRef(ops).drop_front(grouping[group].ops.size()))
      grouping.add(group, op);
  }
}

} // namespace dlc
