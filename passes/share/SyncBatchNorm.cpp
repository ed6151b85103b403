//===- SyncBatchNorm.cpp - batch normalization over the batches of all ranks ---===//
//
// Each rank has n elements per channel. With r = 1 / sqrt(V + eps) and h = (x - M) r:
//
//   y, M, V = batch_norm_train(x)
//   ->  m, v of the rank's own x;  M, s = mean over ranks of [m, v + m^2];  V = s - M^2;
//       y = batch_norm(x, M, V)
//   dx, dscale, dbias = batch_norm_grad(x, dy, M, V)
//   ->  dscale, dbias of the rank's own x;  p, q = mean over ranks of [dscale, dbias];
//       dx = scale r (dy - q / n - h p / n)
//
// Each direction needs one all-reduce of a few elements per channel. The statistics are f64: v +
// m^2 - M^2 cancels digits in proportion to m^2 / V. In f64 this is still more accurate than Chan's
// formula v + (m - M)^2 with an f32 m, which would also require gathering all ranks. The type f64
// also keeps these all-reduces out of the buckets of gradients, which other operations do not wait
// for. Gradients of scale and bias are averaged together with all other gradients.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Shape.h"
#include "passes/Compositions.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {

namespace {

/// Batch norm operations that share statistics: one operation, or one for each chunk of this rank's
/// batch.
struct BatchNormLayer {
  DictionaryAttr over;
  SmallVector<Operation *> ops;

  int64_t number(StringRef name) const {
    auto value = over.getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  }
  int64_t chunks() const { return number("chunks"); }
  int64_t ranks() const { return number("ranks"); }
};

/// Builder of arithmetic on the statistics of batch norm.
class StatisticsBuilder {
public:
  StatisticsBuilder(OpBuilder &builder, Location loc) : builder(builder), b(builder, loc) {}

  Value add(Value x, Value y) { return b.make<AddOp>(x, y); }
  Value sub(Value x, Value y) { return b.make<SubOp>(x, y); }
  Value mul(Value x, Value y) { return b.make<MulOp>(x, y); }
  Value mul(Value x, double factor) { return mul(x, b.scalar(factor, x)); }
  Value notNegative(Value x) { return b.make<MaxOp>(x, b.scalar(0, x)); }
  Value rsqrt(Value x, double eps) { return b.make<RsqrtOp>(add(x, b.scalar(eps, x))); }
  Value cast(Value x, Type element) { return b.cast(x, element); }
  Value inF64(Value x) { return b.cast(x, builder.getF64Type()); }
  Value together(ValueRange vectors) { return b.make<ConcatOp>(vectors, 0); }
  Value part(Value vector, int64_t from, int64_t size) {
    return b.make<SliceOp>(vector, SmallVector<int64_t>{from}, SmallVector<int64_t>{size},
                           SmallVector<int64_t>{1});
  }
  /// Reshapes a vector [C] so that it broadcasts against an image [N, C, ..].
  Value broadcast(Value image, Value vector) {
    SmallVector<int64_t> shape(size_t(typeOf(image).getRank()), 1);
    shape[1] = shapeOf(vector)[0];
    return b.cast(b.reshape(vector, shape), statisticsType(image));
  }

  /// Averages the vectors in `own`, one for each of the layer's operations, over the batches of all
  /// ranks. Each vector is the concatenation of two statistics. Returns the mean of each statistic.
  std::pair<Value, Value> means(const BatchNormLayer &layer, ArrayRef<Value> own) {
    const int64_t size = shapeOf(own.front())[0];
    StringAttr world = builder.getStringAttr("world");
    Value mean;
    if (layer.chunks() == 0) {
      auto kind = ReduceKindAttr::get(builder.getContext(), ReduceKind::mean);
      mean = b.make<AllReduceOp>(kind, own.front(), world, IntegerAttr(), IntegerAttr());
    } else {
      // The vectors of all chunks are added in a fixed order, so that the sum does not depend on
      // the number of ranks.
      Value all =
          b.make<AllGatherOp>(together(own), world, builder.getI64IntegerAttr(layer.ranks()));
      mean = part(all, 0, size);
      for (int64_t chunk = 1; chunk < layer.chunks(); ++chunk)
        mean = add(mean, part(all, chunk * size, size));
      mean = mul(mean, 1 / double(layer.chunks()));
    }
    return {part(mean, 0, size / 2), part(mean, size / 2, size / 2)};
  }

private:
  OpBuilder &builder;
  TensorBuilder b;
};

/// Clones the operation without kOverRanksAttr, so that the clone uses this rank's batch alone.
template <typename Op> Op cloneAsLocal(OpBuilder &builder, Op op) {
  builder.setInsertionPoint(op);
  Operation *copy = builder.clone(*op.getOperation());
  copy->removeAttr(kOverRanksAttr);
  return cast<Op>(copy);
}

void rewriteForward(const BatchNormLayer &layer) {
  OpBuilder builder(layer.ops.back()->getContext());
  SmallVector<Value> own;
  for (Operation *op : layer.ops) {
    auto norm = cloneAsLocal(builder, cast<BatchNormTrainOp>(op));
    StatisticsBuilder n(builder, op->getLoc());
    Value m = n.inF64(norm.getMean()), v = n.inF64(norm.getVariance());
    own.push_back(n.together({m, n.add(v, n.mul(m, m))}));
  }
  StatisticsBuilder n(builder, layer.ops.back()->getLoc());
  auto [mean, square] = n.means(layer, own);
  Value variance = n.notNegative(n.sub(square, n.mul(mean, mean)));
  for (Operation *op : layer.ops) {
    auto norm = cast<BatchNormTrainOp>(op);
    Value m = n.cast(mean, typeOf(norm.getMean()).getElementType());
    Value v = n.cast(variance, typeOf(norm.getVariance()).getElementType());
    Value y = BatchNormOp::create(builder, op->getLoc(), norm.getY().getType(), norm.getX(),
                                  norm.getScale(), norm.getBias(), m, v, norm.getEpsAttr());
    op->replaceAllUsesWith(ValueRange{y, m, v});
    op->erase();
  }
}

void rewriteGradient(const BatchNormLayer &layer) {
  OpBuilder builder(layer.ops.back()->getContext());
  SmallVector<Value> own;
  for (Operation *op : layer.ops) {
    auto grad = cloneAsLocal(builder, cast<BatchNormGradOp>(op));
    StatisticsBuilder n(builder, op->getLoc());
    own.push_back(n.together({n.inF64(grad.getDscale()), n.inF64(grad.getDbias())}));
    op->getResult(1).replaceAllUsesWith(grad.getDscale());
    op->getResult(2).replaceAllUsesWith(grad.getDbias());
  }
  StatisticsBuilder n(builder, layer.ops.back()->getLoc());
  auto [dscale, dbias] = n.means(layer, own);
  for (Operation *op : layer.ops) {
    auto grad = cast<BatchNormGradOp>(op);
    Value x = grad.getX();
    auto broadcast = [&](Value vector) { return n.broadcast(x, vector); };
    const double share = -double(shapeOf(x)[1]) / double(staticElements(typeOf(x)));
    Value r = n.rsqrt(broadcast(grad.getVariance()), grad.getEps().convertToDouble());
    Value slope = n.mul(n.mul(r, broadcast(dscale)), share),
          offset = n.mul(broadcast(dbias), share);
    Type wide = statisticsType(x);
    Value centred = n.sub(n.cast(x, wide), broadcast(grad.getMean()));
    Value dx = n.add(n.add(n.cast(grad.getDy(), wide), n.mul(centred, slope)), offset);
    dx = n.mul(dx, n.mul(broadcast(grad.getScale()), r));
    grad.getDx().replaceAllUsesWith(n.cast(dx, typeOf(x).getElementType()));
    op->erase();
  }
}

/// Returns whether statistics over all ranks are needed. The gradient needs them only if dx has
/// users.
bool isNeeded(Operation *op) { return isa<BatchNormTrainOp>(op) || !op->getResult(0).use_empty(); }

SmallVector<BatchNormLayer> collectLayers(Block &block) {
  SmallVector<BatchNormLayer> layers;
  for (Operation &op : block) {
    auto over = op.getAttrOfType<DictionaryAttr>(kOverRanksAttr);
    if (!over || !isa<BatchNormTrainOp, BatchNormGradOp>(op))
      continue;
    if (!isNeeded(&op)) {
      op.removeAttr(kOverRanksAttr);
      continue;
    }
    auto known = llvm::find_if(layers, [&](const BatchNormLayer &layer) {
      return layer.chunks() > 0 && layer.over == over &&
             layer.ops.front()->getName() == op.getName();
    });
    if (known != layers.end())
      known->ops.push_back(&op);
    else
      layers.push_back({over, {&op}});
  }
  return layers;
}

struct SyncBatchNormPass : PassWrapper<SyncBatchNormPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SyncBatchNormPass)

  StringRef getArgument() const final { return "dlc-sync-batch-norm"; }
  StringRef getDescription() const final {
    return "computes the statistics of batch norm, and the sums of its gradient, over the batches "
           "of all ranks if dlc.over_ranks is set";
  }

  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(run(function.getBody().front())))
        return signalPassFailure();
  }

private:
  static LogicalResult run(Block &block) {
    bool inChunks = false;
    for (const BatchNormLayer &layer : collectLayers(block)) {
      Operation *op = layer.ops.front();
      if (layer.chunks() > 0 && int64_t(layer.ops.size()) * layer.ranks() != layer.chunks())
        return op->emitError("its statistics cover ")
               << layer.chunks() << " chunks of " << layer.ranks()
               << " ranks; required: one such batch norm for each chunk of this rank; found: "
               << layer.ops.size();
      inChunks |= layer.chunks() > 0;
      if (isa<BatchNormTrainOp>(op))
        rewriteForward(layer);
      else
        rewriteGradient(layer);
    }
    // The statistics of a layer need all chunks, so that operations of different chunks must be
    // interleaved in the block.
    if (inChunks)
      sortTopologically(&block);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createSyncBatchNormPass() { return std::make_unique<SyncBatchNormPass>(); }

} // namespace dlc
