//===- Signature.cpp - dimensions along which an operation can be split ---===//
#include "passes/share/Signature.h"

#include "ir/dlc/IndexMap.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::share {

namespace {

using Labels = SplitSignature::Labels;

//===----------------------------------------------------------------------===//
// Signatures derived from index maps
//===----------------------------------------------------------------------===//

/// Derives the labels of an operation from its index map. An operand's dimension has the label of
/// an index variable if every read of the operand uses exactly that variable as its index.
class IndexMapLabels {
public:
  explicit IndexMapLabels(Operation *op) : op(op) {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    at = x.variables("d", shape, /*units=*/true);
    over = x.variables("k", foldedExtents(op), /*units=*/true);
    Labels inOrder;
    for (size_t d = 0; d < shape.size(); ++d)
      inOrder.push_back(int(d));
    made.results.assign(op->getNumResults(), inOrder);
    made.firstFolded = int(shape.size());
    for (Value operand : op->getOperands())
      made.operands.emplace_back(typeOf(operand).getRank(), kUnread);
    taken.assign(at.size() + over.size(), true);
  }

  std::optional<SplitSignature> run() {
    if (!setFolded())
      for (size_t label = at.size(); label < taken.size(); ++label)
        taken[label] = false;
    auto load = [&](Value indices, const Coordinates &from, int64_t size) {
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get() == indices && operand.getOperandNumber() > 0)
          read(operand.getOperandNumber(), from);
      return x.variable("loaded" + std::to_string(loads++), 0, size - 1);
    };
    for (const OperandRead &each : readsOf(op, x, at, over, load)) {
      read(each.operand, each.at);
      for (const IndexGuard &guard : each.guards)
        spoil(guard.place);
    }
    if (std::optional<unsigned> bias = findBiasOperand(op))
      made.operands[*bias] = {1};
    // An operand that the index map does not read prevents a split of the operation.
    for (const Labels &labels : made.operands)
      if (!labels.empty() && llvm::all_of(labels, [](int label) { return label == kUnread; }))
        return std::nullopt;
    auto finish = [&](Labels &labels) {
      for (int &label : labels)
        if (label >= 0 && !taken[size_t(label)])
          label = kWhole;
        else if (label == kUnread)
          label = kWhole;
    };
    llvm::for_each(made.operands, finish);
    llvm::for_each(made.results, finish);
    return made;
  }

private:
  static constexpr int kUnread = -2;

  bool setFolded() {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      made.folded = reduce.getKind() == ReduceKind::mean  ? PartialReduction::Mean
                    : reduce.getKind() == ReduceKind::max ? PartialReduction::Max
                                                          : PartialReduction::Sum;
      return reduce.getKind() != ReduceKind::min && reduce.getKind() != ReduceKind::prod;
    }
    return op->hasTrait<Contraction>();
  }

  const IndexExpr &variable(size_t label) const {
    return label < at.size() ? at[label] : over[label - at.size()];
  }

  /// Marks the variables in an index expression as not splittable, because the expression reads
  /// elements of other ranks' parts.
  void spoil(const IndexExpr &place) {
    for (size_t label = 0; label < taken.size(); ++label)
      if (place.uses(variable(label).terms[0].first))
        taken[label] = false;
  }

  void read(unsigned operand, const Coordinates &from) {
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(operand));
    for (auto [d, place] : llvm::enumerate(from)) {
      int found = kWhole;
      for (size_t label = 0; label < taken.size(); ++label)
        if (place == variable(label) && variable(label).high() + 1 == shape[d])
          found = int(label);
      if (found == kWhole)
        spoil(place);
      int &known = made.operands[operand][d];
      if (known != kUnread && known != found) {
        for (int label : {known, found})
          if (label >= 0)
            taken[size_t(label)] = false;
        found = kWhole;
      }
      known = found;
    }
  }

  Operation *op;
  IndexContext x;
  Coordinates at, over;
  SplitSignature made;
  std::vector<bool> taken;
  int loads = 0;
};

//===----------------------------------------------------------------------===//
// Signatures of operations without index maps
//===----------------------------------------------------------------------===//

/// Returns labels in which dimension i has the label i for all i below `count`. The dimension
/// `axis` and all dimensions from `count` on must be whole.
Labels makeOrderedLabels(Value value, int64_t count, int64_t axis = -1) {
  Labels labels(typeOf(value).getRank(), kWhole);
  for (int64_t d = 0; d < std::min<int64_t>(count, typeOf(value).getRank()); ++d)
    labels[d] = d == axis ? kWhole : int(d);
  return labels;
}

/// Returns the signature of operations on tensors of one shape, which can be split along all
/// dimensions except `axis`.
SplitSignature signatureExceptAxis(Operation *op, int64_t axis) {
  SplitSignature made;
  for (Value operand : op->getOperands())
    made.operands.push_back(makeOrderedLabels(operand, typeOf(operand).getRank(), axis));
  for (Value result : op->getResults())
    made.results.push_back(makeOrderedLabels(result, typeOf(result).getRank(), axis));
  return made;
}

/// Returns the signature of normalizations, which can be split along the dimensions before `axis`.
/// The operands after the first are parameters that all rows share, and must be whole.
SplitSignature signatureBeforeAxis(Operation *op, int64_t axis) {
  SplitSignature made;
  for (OpOperand &operand : op->getOpOperands())
    made.operands.push_back(
        makeOrderedLabels(operand.get(), operand.getOperandNumber() == 0 ? axis : 0));
  made.results.push_back(makeOrderedLabels(op->getResult(0), axis));
  return made;
}

/// Returns the signature of attention, which can be split along batch dimensions, including heads.
/// The last two dimensions of q, k and v must be whole.
SplitSignature attentionSignature(Operation *op, Value mask) {
  int64_t rank = typeOf(op->getOperand(0)).getRank();
  SplitSignature made;
  for (Value operand : op->getOperands()) {
    made.operands.push_back(makeOrderedLabels(operand, operand == mask ? 0 : rank - 2));
    if (operand != mask)
      continue;
    // The mask broadcasts against the scores, aligned at the last dimension.
    int64_t missing = rank - typeOf(mask).getRank();
    for (int64_t d = 0; d < typeOf(mask).getRank(); ++d)
      if (shapeOf(mask)[d] > 1 && d + missing < rank - 2)
        made.operands.back()[size_t(d)] = int(d + missing);
  }
  for (Value result : op->getResults())
    made.results.push_back(makeOrderedLabels(result, rank - 2));
  return made;
}

/// Returns the signature of batch normalization, which can be split by channels: the second
/// dimension of images, and the only dimension of per-channel vectors.
SplitSignature batchNormSignature(Operation *op) {
  SplitSignature made;
  auto labels = [](Value value) {
    Labels all(typeOf(value).getRank(), kWhole);
    all[all.size() > 1 ? 1 : 0] = 0;
    return all;
  };
  for (Value operand : op->getOperands())
    made.operands.push_back(labels(operand));
  for (Value result : op->getResults())
    made.results.push_back(labels(result));
  return made;
}

/// Returns the signature of scatter_nd, which can be split along the dimensions of the scattered
/// slices. The dimensions from which the index tuples select must be whole.
SplitSignature scatterSignature(ScatterNdOp op) {
  int64_t chosen = shapeOf(op.getIndices()).back(), outer = typeOf(op.getIndices()).getRank() - 1;
  Labels whole(typeOf(op.getX()).getRank(), kWhole),
      updates(typeOf(op.getUpdates()).getRank(), kWhole);
  for (int64_t d = chosen; d < int64_t(whole.size()); ++d) {
    whole[size_t(d)] = int(d);
    updates[size_t(outer + d - chosen)] = int(d);
  }
  SplitSignature made;
  made.operands = {whole, Labels(size_t(outer) + 1, kWhole), updates};
  made.results = {whole};
  return made;
}

} // namespace

std::optional<unsigned> findBiasOperand(Operation *op) {
  auto found = [&](Value bias) {
    return bias ? std::optional<unsigned>(op->getNumOperands() - 1) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<ConvOp, ConvTransposeOp>([&](auto o) { return found(o.getBias()); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<SplitSignature> getSignature(Operation *op) {
  using Found = std::optional<SplitSignature>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case<SoftmaxOp, LogSoftmaxOp, CumulativeOp>(
          [](auto o) -> Found { return signatureExceptAxis(o, int64_t(o.getAxis())); })
      .Case<TopKOp>([](TopKOp o) -> Found { return signatureExceptAxis(o, int64_t(o.getAxis())); })
      .Case<LayerNormOp, RmsNormOp>(
          [](auto o) -> Found { return signatureBeforeAxis(o, int64_t(o.getAxis())); })
      .Case<GroupNormOp>([](GroupNormOp o) -> Found { return signatureBeforeAxis(o, 1); })
      .Case<AttentionInterface>(
          [](AttentionInterface o) -> Found { return attentionSignature(o, o.getMask()); })
      .Case<BatchNormOp, BatchNormTrainOp, BatchNormGradOp>(
          [](auto o) -> Found { return batchNormSignature(o); })
      .Case<ScatterNdOp>([](ScatterNdOp o) -> Found { return scatterSignature(o); })
      .Case<TransferOp>([](TransferOp o) -> Found { return signatureExceptAxis(o, -1); })
      .Default([](Operation *o) -> Found {
        const bool isMapped = o->hasTrait<Elementwise>() || isa<IndexMapped>(o);
        const bool isOneShape = llvm::all_of(o->getResults(), [&](Value result) {
          return shapeOf(result) == shapeOf(o->getResult(0));
        });
        // max_pool_indices is not split: its results are indices into the whole tensor, but a rank
        // with a part of the tensor would return indices into this part.
        if (!isMapped || !isOneShape || o->getNumOperands() == 0 ||
            isa<ReshapeOp, MaxPoolIndicesOp>(o))
          return std::nullopt;
        return IndexMapLabels(o).run();
      });
}

} // namespace dlc::share
