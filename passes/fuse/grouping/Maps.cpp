//===- Maps.cpp - groups elementwise operations and reductions ------------===//
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/fuse/analysis/Rematerialised.h"
#include "passes/fuse/grouping/FuseSteps.h"
#include "passes/fuse/grouping/IndexSpace.h"
#include "passes/layout/Tag.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dlc {
namespace {

/// Size in bytes below which strided or repeated accesses to a tensor cost no significant time.
constexpr int64_t smallBytes = 16 << 10;

class MapGrouper {
public:
  explicit MapGrouper(Grouping &grouping) : grouping(grouping) {}

  void run() {
    grouping.number();
    SmallVector<Operation *> ops;
    for (Operation &op : grouping.getBlock())
      ops.push_back(&op);
    // Consumers are visited before producers, so that all users of an operation are in a group when
    // it is visited.
    for (Operation *op : llvm::reverse(ops)) {
      NodeClass kind = classify(op);
      if (grouping.groupOf(op) >= 0)
        continue;
      if (kind == NodeClass::Alias)
        visitAlias(op);
      else if (kind == NodeClass::Map || kind == NodeClass::Reduce)
        visit(op);
    }
  }

  /// Returns whether a kernel of these operations iterates over the operands of each large
  /// concatenation separately. It does so if all other operations on the concatenation are
  /// elementwise, or reduce other dimensions. A gather, a reduction along the concatenated
  /// dimension, or an operation of another shape on a reduced value would have to select an operand
  /// for each element.
  static bool walkParts(ArrayRef<Operation *> ops) {
    return llvm::none_of(ops, [&](Operation *op) {
      auto concat = dyn_cast<ConcatOp>(op);
      return concat && concatenatesInnermostDim(concat) &&
             bytesOf(concat.getY().getType()) > smallBytes &&
             llvm::any_of(ops, [&](Operation *other) { return needsWhole(other, concat); });
    });
  }

  static bool needsWhole(Operation *op, ConcatOp concat) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce)
      return isa<GatherOp>(op);
    return shapeOf(reduce.getX()) != shapeOf(concat.getY()) ||
           llvm::is_contained(reduce.getAxes(), int64_t(concat.getAxis())) ||
           llvm::any_of(reduce->getUsers(), [&](Operation *user) {
             return user->getNumResults() > 0 &&
                    shapeOf(user->getResult(0)) != shapeOf(reduce.getY());
           });
  }

  /// Returns whether all operations can be computed in a single layout, because one kernel works in
  /// one layout.
  static bool agreeOnLayout(ArrayRef<Operation *> ops) {
    StringRef tag;
    for (Operation *op : ops)
      if (tag.empty())
        tag = tagOf(op);
    return tag.empty() || llvm::all_of(ops, [&](Operation *op) { return worksIn(tag, op); });
  }

private:
  /// Open groups (to which operations may be added) that use an operation, with its users in each,
  /// and whether the operation has any other users.
  struct Consumers {
    SmallVector<std::pair<int, SmallVector<Operation *>>> open;
    bool others = false;
  };

  Consumers consumersOf(Operation *op) {
    Consumers consumers;
    for (Operation *user : grouping.usersInBlock(op)) {
      int group = grouping.groupOf(user);
      if (group < 0 || grouping[group].closed) {
        consumers.others = true;
        continue;
      }
      auto it = llvm::find_if(consumers.open, [&](auto &entry) { return entry.first == group; });
      if (it == consumers.open.end())
        it = consumers.open.insert(consumers.open.end(), {group, {}});
      it->second.push_back(user);
    }
    return consumers;
  }

  /// Returns whether a kernel that contains this operation is vectorized. Large operations that
  /// move the innermost dimension are not fused, but run as library kernels.
  static bool isVectorFriendly(Operation *op) {
    return preservesVectorization(op) || bytesOf(op->getResult(0).getType()) <= smallBytes ||
           isTransposedOnGpu(op);
  }

  /// Returns whether the operation is a transposition that a GPU kernel can compute together with
  /// elementwise operations.
  static bool isTransposedOnGpu(Operation *op) {
    return isa<TransposeOp>(op) && can(deviceOf(op->getResult(0).getType()), DLC_DEVICE_GPU_CODE);
  }

  static bool turnsAlike(ArrayRef<Operation *> ops) {
    auto isLarge = [](Operation *op) {
      return isTransposedOnGpu(op) && !preservesVectorization(op) &&
             bytesOf(op->getResult(0).getType()) > smallBytes;
    };
    return llvm::none_of(ops, isLarge) || llvm::all_of(ops, [](Operation *op) {
             return isElementwise(op) || isa<TransposeOp, ReshapeOp, PadOp, ConstantOp>(op);
           });
  }

  /// Returns the layout of an operation's tensors, or an empty string if all of them are row-major.
  static StringRef tagOf(Operation *op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (StringRef tag = layoutOf(type); !tag.empty())
        return tag;
    return "";
  }

  /// Returns whether the operation can be computed in the memory order of the layout `tag`: its
  /// tensors have this layout, or are row-major tensors with the same memory order in this layout.
  static bool worksIn(StringRef tag, Operation *op) {
    if (auto gather = dyn_cast<GatherOp>(op))
      return layoutOf(gather.getX().getType()) == tag && gathersBlocks(gather, tag);
    auto parsed = Tag::parse(tag);
    auto slice = dyn_cast<SliceOp>(op);
    if (slice ? !parsed ||
                    !(slicesWholeUnits(slice, parsed->blockedDim) || slicesAlongBlocks(slice, tag))
              : !isElementwise(op) && !isa<ReduceOp, BroadcastOp, ConcatOp>(op))
      return false;
    return parsed &&
           llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                        [&](Type type) {
                          StringRef own = layoutOf(type);
                          auto shape = staticShape(cast<RankedTensorType>(type));
                          return own.empty() ? hasSameMemoryOrder(shape, parsed->order.size(), tag)
                                             : own == tag;
                        });
  }

  /// Returns whether `op` and the operations of the group can be computed in the same layout.
  bool agreesOnLayout(int group, Operation *op) {
    StringRef groupTag;
    for (Operation *member : grouping[group].ops)
      if (groupTag.empty())
        groupTag = tagOf(member);
    StringRef tag = groupTag.empty() ? tagOf(op) : groupTag;
    if (tag.empty())
      return true;
    return worksIn(tag, op) &&
           (!groupTag.empty() || llvm::all_of(grouping[group].ops, [&](Operation *member) {
             return worksIn(tag, member);
           }));
  }

  bool fits(int group, Operation *op, ArrayRef<Operation *> users, bool asOutput) {
    bool isOfBytes = isElementwise(op) && isInt8(op->getResult(0).getType());
    int most = isOfBytes ? maxFusionOpsAtBytes : maxFusionOps;
    if (int(grouping[group].ops.size()) >= most || !isVectorFriendly(op) ||
        !agreesOnLayout(group, op))
      return false;
    SmallVector<Operation *> together(grouping[group].ops.getArrayRef());
    together.push_back(op);
    if (!walkParts(together) || !turnsAlike(together))
      return false;
    llvm::SmallSetVector<Value, 16> inputs = grouping.inputsOf(group);
    for (Value result : op->getResults())
      inputs.remove(result);
    for (Value operand : op->getOperands())
      if (!splatValue(operand))
        inputs.insert(operand);
    if (int(inputs.size()) > maxFusionInputs)
      return false;
    return spaces.find(group)->second.accepts(op, users, asOutput);
  }

  void join(int group, Operation *op, ArrayRef<Operation *> users) {
    spaces.find(group)->second.add(op, users);
    grouping.add(group, op);
  }

  /// Returns whether recomputing the operation in each consumer is cheap: it reads at most as many
  /// bytes as it would store.
  static bool isCheapToCopy(Operation *op) {
    if (isa<ReduceOp>(op) || (!isCheapMath(op) && !isMovement(op)) ||
        isa<ConcatOp, PadOp, TransposeOp>(op))
      return false;
    int64_t loaded = 0;
    for (Value operand : op->getOperands())
      if (!splatValue(operand))
        loaded += bytesOf(operand.getType());
    return loaded <= bytesOf(op->getResult(0).getType());
  }

  /// Clones the operation into the group of each consumer, if all of these groups accept it. If the
  /// operation has other users as well, it is cloned only if it is a broadcast or iota, because
  /// reading the stored result of these is no cheaper than computing it.
  bool copyIntoConsumers(Operation *op, const Consumers &consumers) {
    if (!isCheapToCopy(op) || consumers.open.empty())
      return false;
    if (consumers.others && !isa<BroadcastOp, IotaOp>(op))
      return false;
    for (auto &[group, users] : consumers.open)
      if (!fits(group, op, users, /*asOutput=*/false))
        return false;
    for (auto &[group, users] : consumers.open) {
      OpBuilder builder(op);
      Operation *copy = builder.clone(*op);
      grouping.numberLike(copy, op);
      for (Operation *user : users)
        for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
          user->replaceUsesOfWith(from, to);
      join(group, copy, users);
    }
    if (op->use_empty())
      op->erase();
    else
      startGroup(op);
    return true;
  }

  /// Returns whether fusing the operation into the group would compute a rematerialized value too
  /// early, or make operations wait for transfers that they do not depend on.
  bool bringsForward(int group, Operation *op) {
    SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
    ops.push_back(op);
    return wouldHoistCopy(ops) || !grouping.haveSameDependencies(ops);
  }

  void startGroup(Operation *op) {
    int group = grouping.create(op, /*closed=*/!isVectorFriendly(op));
    if (op->getNumResults() != 1)
      grouping[group].closed = true;
    spaces.try_emplace(group, op);
  }

  void visit(Operation *op) {
    Consumers consumers = consumersOf(op);
    bool several = consumers.open.size() + consumers.others > 1;
    if (several && copyIntoConsumers(op, consumers))
      return;
    for (auto &[group, users] : consumers.open)
      if (fits(group, op, users, several) && !bringsForward(group, op) &&
          !grouping.makesCycle(group, op))
        return join(group, op, users);
    startGroup(op);
  }

  /// Groups an alias (an operation that needs no kernel) only if it connects two operations that
  /// could not be fused otherwise.
  void visitAlias(Operation *op) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    Operation *producer = reshape ? reshape.getX().getDefiningOp() : nullptr;
    if (!producer || producer->getBlock() != op->getBlock() || !reshape.getX().hasOneUse() ||
        classify(producer) != NodeClass::Map || !isVectorFriendly(producer) ||
        grouping.groupOf(producer) >= 0 || !preservesVectorization(op))
      return;
    Consumers consumers = consumersOf(op);
    if (consumers.others || consumers.open.size() != 1)
      return;
    auto &[group, users] = consumers.open.front();
    if (fits(group, op, users, false) && !grouping.makesCycle(group, op))
      join(group, op, users);
  }

  Grouping &grouping;
  llvm::DenseMap<int, IndexSpace> spaces;
};

} // namespace

void groupMaps(Grouping &grouping) { MapGrouper(grouping).run(); }

bool agreeOnLayout(ArrayRef<Operation *> ops) { return MapGrouper::agreeOnLayout(ops); }

bool walkParts(ArrayRef<Operation *> ops) { return MapGrouper::walkParts(ops); }

} // namespace dlc
