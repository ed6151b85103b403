//===- Buckets.cpp - merges all-reduces of many tensors into buckets ------===//
//
//   all_reduce(a), all_reduce(b), all_reduce(c)
//   ->  r = concat(a, b, c);  slices of all_reduce(slice of r), all_reduce(slice of r)
//
// The operands of the concatenation have just been computed. Lowering makes their producers write
// directly into the concatenation, all-reduces work in place, and slices are views. So a bucket is
// a range of memory, and nothing is copied. Each bucket is reduced as soon as its own part is
// written. The buckets are small: at run time, adjacent buckets are merged to a size that suits the
// world's link.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Shape.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {

namespace {

/// Minimum size in bytes of a bucket (512 KiB), sufficient for the fastest links, and maximum size
/// of a range, up to which buckets are merged at run time (25 MiB).
constexpr int64_t kBucketBytes = int64_t(512) << 10, kRangeBytes = int64_t(25) << 20;

/// Moves a cast that changes the element type for the all-reduce to immediately after the producer
/// of its operand, so that the bucket does not wait for the last cast.
void moveCastToProducer(AllReduceOp op) {
  auto cast = op.getX().getDefiningOp<CastOp>();
  Operation *writer = cast ? cast.getX().getDefiningOp() : nullptr;
  if (writer && writer->getBlock() == cast->getBlock() && cast->hasOneUse())
    cast->moveAfter(writer);
}

/// All-reduces of one kind whose operands are stored contiguously, in the order in which the
/// operands are produced.
struct ReduceRange {
  SmallVector<AllReduceOp> members;
  int64_t bytes = 0;
  Operation *last = nullptr; ///< producer of the operand of the last all-reduce
};

class BucketBuilder {
public:
  BucketBuilder(Block &block, int64_t bucketBytes, int64_t rangeBytes)
      : block(block), bucketBytes(bucketBytes), rangeBytes(rangeBytes) {
    for (Operation &op : block)
      positions[&op] = positions.size();
  }

  void run() {
    // All-reduces are grouped by kind. Scalars (losses, metrics) are not gradients and form groups
    // of their own.
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

  /// Returns whether all users of the all-reduce's result come after the operation `last`.
  bool isReadAfter(AllReduceOp op, Operation *last) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *top = block.findAncestorOpInBlock(*user);
      return positions.lookup(top) > positions.lookup(last);
    });
  }

  void divide(SmallVector<AllReduceOp> &members) {
    llvm::stable_sort(members,
                      [&](AllReduceOp a, AllReduceOp b) { return written(a) < written(b); });
    ReduceRange range;
    for (AllReduceOp op : members) {
      Operation *last = op.getX().getDefiningOp();
      bool fits = range.bytes + bytesOf(op) <= rangeBytes &&
                  llvm::all_of(range.members,
                               [&](AllReduceOp before) { return isReadAfter(before, last); });
      if (!range.members.empty() && !fits) {
        join(range);
        range = {};
      }
      range.members.push_back(op);
      range.bytes += bytesOf(op);
      range.last = last;
    }
    join(range);
  }

  static int64_t bytesOf(AllReduceOp op) {
    return staticElements(typeOf(op.getX())) *
           ref::elementBytes(typeOf(op.getX()).getElementType());
  }

  void join(const ReduceRange &range) {
    if (range.members.empty())
      return;
    if (range.members.size() == 1) {
      AllReduceOp(range.members.front())->moveAfter(range.last);
      return;
    }
    SmallVector<Location> places;
    for (AllReduceOp op : range.members)
      places.push_back(op.getLoc());
    OpBuilder builder(range.last->getContext());
    builder.setInsertionPointAfter(range.last);
    TensorBuilder b(builder, builder.getFusedLoc(places));
    SmallVector<Value> flat;
    for (AllReduceOp op : range.members)
      flat.push_back(b.reshape(op.getX(), {staticElements(typeOf(op.getX()))}));
    Value all = b.make<ConcatOp>(flat, 0);
    int64_t start = 0;
    for (ArrayRef<AllReduceOp> rest = range.members; !rest.empty();) {
      size_t count = 0;
      for (int64_t bytes = 0; count < rest.size() && (count == 0 || bytes < bucketBytes); ++count)
        bytes += bytesOf(rest[count]);
      start += reduce(b, all, start, rest.take_front(count));
      rest = rest.drop_front(count);
    }
    // The merged all-reduces are erased last, because the builder's insertion point may be one of
    // them.
    for (AllReduceOp op : range.members)
      op.erase();
  }

  /// Creates one all-reduce (bucket) for these members, which begins at element `start` of the
  /// range. Returns the bucket's number of elements.
  int64_t reduce(TensorBuilder &b, Value range, int64_t start, ArrayRef<AllReduceOp> members) {
    auto part = [&](Value of, int64_t first, int64_t size) -> Value {
      if (size == staticElements(typeOf(of)))
        return of;
      return b.make<SliceOp>(of, SmallVector<int64_t>{first}, SmallVector<int64_t>{size},
                             SmallVector<int64_t>{1});
    };
    int64_t size = 0;
    for (AllReduceOp op : members)
      size += staticElements(typeOf(op.getX()));
    AllReduceOp like = members.front();
    Value bucket = b.make<AllReduceOp>(like.getKindAttr(), part(range, start, size),
                                       like.getGroupAttr(), like.getSizeAttr(), IntegerAttr());
    int64_t at = 0;
    for (AllReduceOp op : members) {
      int64_t elements = staticElements(typeOf(op.getX()));
      op.getY().replaceAllUsesWith(b.reshape(part(bucket, at, elements), shapeOf(op.getY())));
      at += elements;
    }
    return size;
  }

  Block &block;
  const int64_t bucketBytes, rangeBytes;
  DenseMap<Operation *, size_t> positions;
};

struct BucketsPass : PassWrapper<BucketsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BucketsPass)

  StringRef getArgument() const final { return "dlc-buckets"; }
  StringRef getDescription() const final {
    return "combines all-reduces into buckets, and buckets into ranges of memory; the module's "
           "attribute dlc.buckets has the minimum bytes of a bucket and the maximum of a range";
  }

  void runOnOperation() final {
    int64_t bucketBytes = kBucketBytes, rangeBytes = kRangeBytes;
    if (auto given = getOperation()->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr)) {
      if (given.size() != 2 || given[0] < 0 || given[1] < 0) {
        getOperation().emitError()
            << kBucketsAttr
            << " must be two sizes in bytes of 0 or more: the minimum of a bucket and the "
            << "maximum of a range of buckets; found " << given;
        return signalPassFailure();
      }
      bucketBytes = given[0], rangeBytes = given[1];
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      Block &block = function.getBody().front();
      for (auto op : block.getOps<AllReduceOp>())
        moveCastToProducer(op);
      BucketBuilder(block, bucketBytes, rangeBytes).run();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createBucketsPass() { return std::make_unique<BucketsPass>(); }

} // namespace dlc
