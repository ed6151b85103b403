//===- Buckets.cpp - all-reduces of many tensors become a few ----------------===//
//
//   all_reduce(a), all_reduce(b)  ->  slices of all_reduce(concat(a, b))
//
// The concatenation is of tensors that have just been computed: lowering has them written where
// they belong in it, the reduction works in place, and slices are views. So a bucket is a range of
// memory, and nothing is copied in or out.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Collective.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {

namespace {

/// What the first gradients wait for least, and what a network carries well.
constexpr int64_t kFirstBytes = int64_t(1) << 20, kBytes = int64_t(25) << 20;

/// All-reduces of a kind, in the order in which their operands are written.
struct Bucket {
  SmallVector<AllReduceOp> members;
  int64_t bytes = 0;
  Operation *last = nullptr; ///< what writes the last operand
};

class Joiner {
public:
  Joiner(Block &block, int64_t first, int64_t rest) : block(block), first(first), rest(rest) {
    for (Operation &op : block)
      positions[&op] = positions.size();
  }

  void run() {
    // Single numbers (losses, metrics) are no gradients, and travel by themselves.
    std::vector<SmallVector<AllReduceOp>> kinds;
    for (auto op : block.getOps<AllReduceOp>()) {
      if (!canJoin(op))
        continue;
      auto kind = llvm::find_if(kinds, [&](auto &members) { return alike(members.front(), op); });
      if (kind == kinds.end())
        kind = kinds.insert(kinds.end(), SmallVector<AllReduceOp>());
      kind->push_back(op);
    }
    for (SmallVector<AllReduceOp> &members : kinds)
      divide(members);
  }

private:
  static bool alike(AllReduceOp a, AllReduceOp b) {
    auto x = typeOf(a.getX()), y = typeOf(b.getX());
    return a.getKind() == b.getKind() && a.getGroup() == b.getGroup() &&
           a.getSize() == b.getSize() && x.getElementType() == y.getElementType() &&
           x.getEncoding() == y.getEncoding() && (x.getRank() == 0) == (y.getRank() == 0);
  }

  bool canJoin(AllReduceOp op) {
    auto type = typeOf(op.getX());
    Operation *writer = op.getX().getDefiningOp();
    return !op.getTo() && type.hasStaticShape() && layoutOf(type).empty() && writer &&
           writer->getBlock() == &block && !isa<ConstantOp>(writer);
  }

  size_t written(AllReduceOp op) const { return positions.lookup(op.getX().getDefiningOp()); }

  /// Whether nobody reads the result before everything up to `last` is written.
  bool isReadAfter(AllReduceOp op, Operation *last) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *top = block.findAncestorOpInBlock(*user);
      return positions.lookup(top) > positions.lookup(last);
    });
  }

  void divide(SmallVector<AllReduceOp> &members) {
    llvm::stable_sort(members,
                      [&](AllReduceOp a, AllReduceOp b) { return written(a) < written(b); });
    Bucket bucket;
    bool isFirst = true;
    for (AllReduceOp op : members) {
      Operation *last = op.getX().getDefiningOp();
      int64_t bytes = typeOf(op.getX()).getNumElements() *
                      ref::elementBytes(typeOf(op.getX()).getElementType());
      bool fits = bucket.bytes + bytes <= (isFirst ? first : rest) &&
                  llvm::all_of(bucket.members,
                               [&](AllReduceOp before) { return isReadAfter(before, last); });
      if (!bucket.members.empty() && !fits) {
        join(bucket);
        bucket = {};
        isFirst = false;
      }
      bucket.members.push_back(op);
      bucket.bytes += bytes;
      bucket.last = last;
    }
    join(bucket);
  }

  void join(const Bucket &bucket) {
    if (bucket.members.empty())
      return;
    AllReduceOp like = bucket.members.front();
    if (bucket.members.size() == 1) {
      like->moveAfter(bucket.last);
      return;
    }
    SmallVector<Location> places;
    for (AllReduceOp op : bucket.members)
      places.push_back(op.getLoc());
    OpBuilder builder(like.getContext());
    builder.setInsertionPointAfter(bucket.last);
    TensorBuilder b(builder, builder.getFusedLoc(places));
    SmallVector<Value> flat;
    for (AllReduceOp op : bucket.members)
      flat.push_back(b.reshape(op.getX(), {typeOf(op.getX()).getNumElements()}));
    Value all = b.make<AllReduceOp>(like.getKindAttr(), b.make<ConcatOp>(flat, 0),
                                    like.getGroupAttr(), like.getSizeAttr(), IntegerAttr());
    int64_t start = 0;
    for (AllReduceOp op : bucket.members) {
      int64_t size = typeOf(op.getX()).getNumElements();
      Value part = b.make<SliceOp>(all, SmallVector<int64_t>{start}, SmallVector<int64_t>{size},
                                   SmallVector<int64_t>{1});
      op.getY().replaceAllUsesWith(b.reshape(part, shapeOf(op.getY())));
      start += size;
    }
    // The builder may stand at one of them.
    for (AllReduceOp op : bucket.members)
      op.erase();
  }

  Block &block;
  const int64_t first, rest;
  DenseMap<Operation *, size_t> positions;
};

struct BucketsPass : PassWrapper<BucketsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BucketsPass)

  StringRef getArgument() const final { return "dlc-buckets"; }
  StringRef getDescription() const final {
    return "joins all-reduces into buckets; dlc.buckets of the module are the bytes of the first "
           "one and of the others";
  }

  void runOnOperation() final {
    int64_t first = kFirstBytes, rest = kBytes;
    if (auto given = getOperation()->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr)) {
      if (given.size() != 2 || given[0] < 0 || given[1] < 0) {
        getOperation().emitError()
            << kBucketsAttr << " must be two sizes in bytes, of the first bucket and of the "
            << "others, 0 or more; found " << given;
        return signalPassFailure();
      }
      first = given[0], rest = given[1];
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Joiner(function.getBody().front(), first, rest).run();
  }
};

} // namespace

std::unique_ptr<Pass> createBucketsPass() { return std::make_unique<BucketsPass>(); }

} // namespace dlc
