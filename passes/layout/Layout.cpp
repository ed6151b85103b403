//===- Layout.cpp - blocked activations through a graph -------------------===//
#include "passes/Passes.h"
#include "passes/grad/Recompute.h"
#include "passes/layout/Ask.h"
#include "passes/layout/Tag.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

RankedTensorType withLayout(RankedTensorType type, StringRef tag) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               deviceOf(type).withLayout(tag));
}

/// Layouts are oneDNN's: other devices' kernels read plain tensors.
bool isOnCpu(Operation *op) {
  OnAttr device = op->getNumResults() ? deviceOf(op->getResult(0).getType()) : OnAttr();
  return device && device.getKind() == "cpu";
}

/// Walks one block from producers to consumers; a value has its layout when its users are reached.
class BlockLayouts {
public:
  BlockLayouts(Block &block, LayoutOracle &oracle) : block(block), oracle(oracle) {}

  void run() {
    vote();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<ConstantOp, ReorderOp>(op))
        continue;
      if (isa<ConvOp, ConvTransposeOp>(op))
        visitConv(&op);
      else if (auto gradient = dyn_cast<ConvWeightGradOp>(op))
        visitWeightGrad(gradient);
      else if (isa<MaxPoolOp, AvgPoolOp, MaxPoolPositionsOp, MaxPoolGradOp, AvgPoolGradOp>(op))
        visitPool(&op);
      else if (isa<BatchNormOp, BatchNormTrainOp, BatchNormGradOp>(op))
        visitBatchNorm(&op);
      else if (op.hasTrait<Elementwise>())
        visitElementwise(&op);
      else if (auto concat = dyn_cast<ConcatOp>(op))
        visitConcat(concat);
      else if (auto reduce = dyn_cast<ReduceOp>(op))
        visitReduce(reduce);
      else if (auto transfer = dyn_cast<TransferOp>(op))
        visitTransfer(transfer);
      else
        wantPlain(&op);
    }
  }

private:
  /// Kernels for different layouts are nearly as fast as each other, reorders between them are not
  /// free: the layout that oneDNN chooses for most of the work is every convolution's first choice.
  void vote() {
    std::map<std::pair<int64_t, std::string>, double> votes; // by rank and tag
    for (Operation &op : block) {
      // What is computed again lies as it did the first time.
      if (!isOnCpu(&op) || op.hasAttr(grad::kRecomputedAttr))
        continue;
      std::optional<Wanted> wanted;
      Value weights, y;
      if (auto gradient = dyn_cast<ConvWeightGradOp>(op)) {
        wanted = oracle.wantedByWeightGrad(gradient);
        weights = gradient.getDw(), y = gradient.getDy();
      } else if (isa<ConvOp, ConvTransposeOp>(op)) {
        wanted = oracle.wantedByConv(&op);
        weights = op.getOperand(1), y = op.getResult(0);
      }
      if (wanted && !wanted->destination.empty())
        votes[{typeOf(y).getRank(), wanted->destination}] +=
            double(typeOf(y).getNumElements()) * double(typeOf(weights).getNumElements()) /
            double(typeOf(y).getDimSize(1));
    }
    std::map<int64_t, double> most;
    for (auto &[key, work] : votes)
      if (work > most[key.first]) {
        most[key.first] = work;
        preferred[key.first] = key.second;
      }
  }

  void visitConv(Operation *op) {
    std::optional<Wanted> wanted;
    if (isOnCpu(op))
      wanted = oracle.wantedByConv(op, preferred[typeOf(op->getResult(0)).getRank()]);
    if (!wanted)
      return wantPlain(op);
    give(op->getOpOperand(0), wanted->source);
    for (OpOperand &operand : op->getOpOperands().drop_front())
      give(operand, "");
    setResult(op, wanted->destination);
  }

  void visitWeightGrad(ConvWeightGradOp op) {
    std::optional<Wanted> wanted;
    if (isOnCpu(op))
      wanted = oracle.wantedByWeightGrad(op, layoutOf(op.getX().getType()),
                                         preferred[typeOf(op.getX()).getRank()]);
    if (!wanted)
      return wantPlain(op);
    give(op.getXMutable(), wanted->source);
    give(op.getDyMutable(), wanted->destination);
    setResult(op, "");
  }

  void visitPool(Operation *op) {
    // A gradient goes where the forward operation's positions lie.
    auto gradient = dyn_cast<MaxPoolGradOp>(op);
    std::string source =
        layoutOf(gradient ? gradient.getPosition().getType() : op->getOperand(0).getType()).str();
    std::optional<Wanted> wanted = source.empty() ? std::nullopt : oracle.wantedByPool(op, source);
    if (!wanted || wanted->source != source)
      return wantPlain(op);
    for (OpOperand &operand : op->getOpOperands())
      give(operand, source);
    for (Value result : op->getResults())
      setLayout(result, wanted->destination);
  }

  /// Results of x's shape follow it; the statistics are plain.
  void visitBatchNorm(Operation *op) {
    std::string tag = layoutOf(op->getOperand(0).getType()).str();
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
    if (tag.empty() || padsBlocks(shape, tag))
      return wantPlain(op);
    for (OpOperand &operand : op->getOpOperands())
      give(operand, shapeOf(operand.get()) == shape ? StringRef(tag) : StringRef());
    for (Value result : op->getResults())
      setLayout(result, shapeOf(result) == shape ? StringRef(tag) : StringRef());
  }

  void visitElementwise(Operation *op) {
    RankedTensorType type = typeOf(op->getResult(0));
    // The largest blocked operand decides: the others are reordered to it, or are small and read
    // alike.
    StringRef tag;
    for (Value operand : op->getOperands())
      if (shapeOf(operand) == type.getShape() && !layoutOf(operand.getType()).empty())
        tag = layoutOf(operand.getType());
    std::string chosen = tag.str();
    bool follows = !chosen.empty();
    for (Value operand : op->getOperands())
      if (follows && shapeOf(operand) != type.getShape())
        follows = readsAlike(shapeOf(operand), type.getRank(), chosen);
    if (!follows)
      return wantPlain(op);
    for (OpOperand &operand : op->getOpOperands())
      give(operand, shapeOf(operand.get()) == type.getShape() ? chosen : "");
    setResult(op, chosen);
  }

  void visitConcat(ConcatOp op) {
    // All parts in the layout of the largest one, if every part has whole blocks of it.
    StringRef tag;
    int64_t largest = 0;
    for (Value part : op.getXs())
      if (!layoutOf(part.getType()).empty() && typeOf(part).getNumElements() > largest) {
        largest = typeOf(part).getNumElements();
        tag = layoutOf(part.getType());
      }
    std::string chosen = tag.str();
    bool follows = !chosen.empty();
    for (Value part : op.getXs())
      follows = follows && !padsBlocks(shapeOf(part), chosen);
    if (!follows)
      return wantPlain(op);
    for (OpOperand &operand : op->getOpOperands())
      give(operand, chosen);
    setResult(op, chosen);
  }

  void visitReduce(ReduceOp op) {
    Value x = op.getX();
    StringRef tag = layoutOf(x.getType());
    int64_t rank = typeOf(x).getRank();
    // What is left is [N, C] or [C], which is plain in whole blocks too.
    if (tag.empty() || padsBlocks(shapeOf(x), tag) || !keepsChannels(op, rank))
      return wantPlain(op);
    setResult(op, "");
  }

  /// Between CPU devices a value keeps its layout, unless that adds padding.
  void visitTransfer(TransferOp op) {
    std::string tag = layoutOf(op.getX().getType()).str();
    if (tag.empty() || !isOnCpu(op) || padsBlocks(shapeOf(op.getX()), tag))
      return wantPlain(op);
    setResult(op, tag);
  }

  void wantPlain(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      give(operand, "");
    // What regions use from outside, they use in plain layout.
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (operand.get().getParentBlock() == &block)
            give(operand, "");
      });
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && !layoutOf(result.getType()).empty())
        result.setType(withLayout(typeOf(result), ""));
  }

  void setResult(Operation *op, StringRef tag) { setLayout(op->getResult(0), tag); }

  void setLayout(Value result, StringRef tag) { result.setType(withLayout(typeOf(result), tag)); }

  /// Makes an operand come in a layout: the value itself, what it was reordered from, or a reorder
  /// made once.
  void give(OpOperand &operand, StringRef tag) {
    Value value = operand.get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || layoutOf(type) == tag || !deviceOf(type))
      return;
    Value &reordered = reorders[{value, tag.str()}];
    if (!reordered) {
      OpBuilder builder(block.getParentOp()->getContext());
      builder.setInsertionPointAfterValue(value);
      // One value per channel stretched over an image is that in any layout.
      auto stretch = value.getDefiningOp<BroadcastOp>();
      if (stretch && readsAlike(shapeOf(stretch.getX()), type.getRank(), tag))
        reordered =
            BroadcastOp::create(builder, value.getLoc(), withLayout(type, tag), stretch.getX());
      else
        reordered =
            ReorderOp::create(builder, value.getLoc(), withLayout(type, tag), value).getResult();
    }
    operand.set(reordered);
  }

  struct KeyLess {
    bool operator()(const std::pair<Value, std::string> &a,
                    const std::pair<Value, std::string> &b) const {
      return std::make_pair(a.first.getAsOpaquePointer(), a.second) <
             std::make_pair(b.first.getAsOpaquePointer(), b.second);
    }
  };

  Block &block;
  LayoutOracle &oracle;
  std::map<int64_t, std::string> preferred; // by rank
  std::map<std::pair<Value, std::string>, Value, KeyLess> reorders;
};

struct LayoutPass : PassWrapper<LayoutPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutPass)

  LayoutPass() = default;
  explicit LayoutPass(int count) { threads = count; }
  LayoutPass(const LayoutPass &other) : PassWrapper(other) { threads = other.threads.getValue(); }

  StringRef getArgument() const final { return "dlc-layout"; }
  StringRef getDescription() const final {
    return "gives activations the layouts that oneDNN asks for";
  }

  void runOnOperation() final {
    LayoutOracle oracle(threads);
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        BlockLayouts(block, oracle).run();
  }

  Option<int> threads{*this, "threads", llvm::cl::desc("threads to ask for; 0: all"),
                      llvm::cl::init(0)};
};

} // namespace

std::unique_ptr<Pass> createLayoutPass(int threads) {
  return std::make_unique<LayoutPass>(threads);
}

} // namespace dlc
