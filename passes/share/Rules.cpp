//===- Rules.cpp - propagation of shares through operations ---------------===//
//
// One rule covers all operations with a signature (Signature.h). Reshapes, slices, pads and
// concatenations have rules for the blocks of a split dimension, and table lookups have a rule for
// split rows.
//
//===----------------------------------------------------------------------===//
#include "passes/share/Rules.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/Infer.h"
#include "passes/TensorBuilder.h"
#include "passes/share/Signature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;

namespace dlc::share {

std::string nameOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<SameElements>())
      return "a value of type " + shapeText(shapeOf(value));
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
      return ("'" + name.getValue() + "'").str();
  return "argument " + std::to_string(argument.getArgNumber());
}

std::string describeShare(const Share &share) {
  return (share.isSplit() ? "split along dimension " + std::to_string(share.dimension)
                          : std::string("a sum of the ranks' terms")) +
         " since " + nameOf(share.origin) + " is split";
}

namespace {

constexpr StringLiteral kMend = "do not split that parameter, or split the parameter of the next "
                                "matmul by rows, whose result is complete on all ranks";

InFlightDiagnostic emitUnsupported(Operation *op, unsigned operand, const Share &share) {
  return op->emitError() << op->getName() << " in a split program: operand " << operand
                         << " of type " << shapeText(shapeOf(op->getOperand(operand))) << " is "
                         << describeShare(share);
}

/// Returns the distribution in which all operands and results of the operation are whole.
OpShares makeWholeShares(Operation *op) {
  OpShares made;
  made.operands.resize(op->getNumOperands());
  made.results.resize(op->getNumResults());
  return made;
}

/// Returns the number of elements along the split dimension that one rank has of each block.
int64_t blockPartSize(Value value, const Share &share, int64_t ranks) {
  return shapeOf(value)[size_t(share.dimension)] / (share.blocks * ranks);
}

//===----------------------------------------------------------------------===//
// Operations that move elements
//===----------------------------------------------------------------------===//

/// Distributes a reshape: finds a result dimension in which each rank's part consists of contiguous
/// runs of the same number of elements as in the operand.
FailureOr<OpShares> distributeReshape(ReshapeOp op, const Share &given, int64_t ranks) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
  int64_t run = blockPartSize(op.getX(), given, ranks);
  for (int64_t size : from.drop_front(size_t(given.dimension) + 1))
    run *= size;
  int64_t after = 1;
  for (int64_t d = int64_t(to.size()) - 1; d >= 0 && after <= run; after *= to[size_t(d--)]) {
    int64_t size = to[size_t(d)];
    if (run % after != 0 || size % (ranks * (run / after)) != 0)
      continue;
    OpShares made = makeWholeShares(op);
    made.operands[0] = given;
    made.results[0] = Share::split(d, size / (ranks * (run / after)), given.origin);
    return made;
  }
  return emitUnsupported(op, 0, given)
             << "; in " << shapeText(to) << " no dimension can be split into the parts of " << ranks
             << " ranks (the number of heads must be a multiple of it); " << kMend,
         failure();
}

/// Returns whether a size is a multiple of the block size. Slices and pads must remove or add whole
/// blocks.
bool areBlocks(int64_t size, int64_t block) { return size % block == 0; }

FailureOr<OpShares> cut(SliceOp op, const Share &given, int64_t ranks) {
  size_t d = size_t(given.dimension);
  int64_t block = blockPartSize(op.getX(), given, ranks) * ranks;
  if (op.getStride()[d] != 1 || !areBlocks(op.getStart()[d], block) ||
      !areBlocks(op.getSize()[d], block))
    return emitUnsupported(op, 0, given)
               << ", in blocks of " << block << "; elements " << op.getStart()[d] << " to "
               << op.getStart()[d] + op.getSize()[d]
               << " are not complete blocks; if a parameter contains several "
                  "blocks (q, k and v), specify their number, as in columns:3",
           failure();
  OpShares made = makeWholeShares(op);
  made.operands[0] = given;
  made.results[0] = Share::split(given.dimension, op.getSize()[d] / block, given.origin);
  return made;
}

FailureOr<OpShares> pad(PadOp op, const Share &given, int64_t ranks) {
  size_t d = size_t(given.dimension);
  int64_t block = blockPartSize(op.getX(), given, ranks) * ranks;
  int64_t low = op.getLow()[d], high = op.getHigh()[d];
  if (op.getMode() != PadMode::constant || !areBlocks(low, block) || !areBlocks(high, block))
    return emitUnsupported(op, 0, given)
               << ", and the padding is not a multiple of the part of a rank; " << kMend,
           failure();
  OpShares made = makeWholeShares(op);
  made.operands[0] = given;
  made.results[0] =
      Share::split(given.dimension, given.blocks + (low + high) / block, given.origin);
  return made;
}

/// Distributes a concatenation along the split dimension: the result has the blocks of all operands
/// in order.
FailureOr<OpShares> distributeConcat(ConcatOp op, ArrayRef<Share> given, unsigned first,
                                     int64_t ranks) {
  size_t axis = op.getAxis();
  int64_t block = blockPartSize(op.getXs()[first], given[first], ranks) * ranks, blocks = 0;
  OpShares made = makeWholeShares(op);
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    int64_t size = shapeOf(x)[axis];
    Share share = Share::split(int64_t(axis), size / block, given[first].origin);
    if (!areBlocks(size, block) || (!given[i].isWhole() && !given[i].isLike(share)))
      return emitUnsupported(op, first, given[first])
                 << ", in blocks of " << block << "; operand " << i << " is not; " << kMend,
             failure();
    made.operands[i] = share;
    blocks += share.blocks;
  }
  made.results[0] = Share::split(int64_t(axis), blocks, given[first].origin);
  return made;
}

//===----------------------------------------------------------------------===//
// Table lookups
//===----------------------------------------------------------------------===//

/// Distributes a gather from a table that is split by rows: each rank gathers the rows that it has,
/// and zeros for all other rows. The results are partial sums.
FailureOr<OpShares> distributeGather(GatherOp op, const Share &given) {
  if (given.blocks != 1)
    return emitUnsupported(op, 0, given)
               << " in " << given.blocks << " blocks; required for a table: one block; write =rows",
           failure();
  OpShares made = makeWholeShares(op);
  made.operands[0] = given;
  made.results[0] = Share::terms(given.origin);
  made.byRows = true;
  return made;
}

bool isFunctionArgument(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  return isa<BlockArgument>(value);
}

/// Returns the name of the dimension that users write in `--split`.
std::string dimensionName(int64_t dimension, int64_t rank) {
  return dimension == 0 ? "rows" : dimension + 1 == rank ? "columns" : std::to_string(dimension);
}

//===----------------------------------------------------------------------===//
// Operations with a signature
//===----------------------------------------------------------------------===//

Value getAttentionMask(Operation *op) {
  auto attention = dyn_cast<AttentionInterface>(op);
  return attention ? attention.getMask() : Value();
}

/// Returns whether a whole operand may implicitly be split. For operands of a contraction this is
/// an error, because the user probably forgot to split the other operand.
bool mayImplicitlySplit(Operation *op, Value operand) {
  const bool isProduct = op->hasTrait<Contraction>() || isa<AttentionInterface>(op);
  return !isProduct || operand == getAttentionMask(op);
}

class SignatureDistributor {
public:
  SignatureDistributor(Operation *op, ArrayRef<Share> given)
      : op(op), given(given), made(makeWholeShares(op)) {}

  FailureOr<OpShares> run(const Share *wanted) {
    signature = getSignature(op);
    for (unsigned i = 0; i < given.size(); ++i)
      if (given[i].isSplit() && failed(take(i)))
        return failure();
    if (label < 0 && wanted && signature) {
      label = signature->results[0][size_t(wanted->dimension)];
      share = *wanted;
      source = 0;
    }
    if (label < 0)
      return made;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (failed(give(unsigned(i), operand)))
        return failure();
    if (signature->isFolded(label)) {
      made.after = signature->folded == PartialReduction::Mean  ? Completion::Divide
                   : signature->folded == PartialReduction::Max ? Completion::Greatest
                                                                : Completion::Nothing;
      if (made.after != Completion::Greatest)
        made.results[0] = Share::terms(share.origin);
      made.divided = findBiasOperand(op);
      if (made.divided && !isa<FloatType>(typeOf(op->getResult(0)).getElementType()))
        return emitUnsupported(op, source, share)
                   << ", and integers cannot be divided into the ranks' shares of a bias; "
                   << kMend,
               failure();
      return made;
    }
    for (auto [result, labels] : llvm::zip(made.results, signature->results)) {
      auto at = llvm::find(labels, label);
      if (at == labels.end())
        return emitUnsupported(op, source, share)
                   << ", a dimension that not all of its results have; " << kMend,
               failure();
      result = Share::split(at - labels.begin(), share.blocks, share.origin);
    }
    return made;
  }

private:
  /// Determines the label along which operand i is split. Fails if the operation needs the whole
  /// operand, or if another operand is split along a different label.
  LogicalResult take(unsigned i) {
    int found = signature ? signature->operands[i][size_t(given[i].dimension)] : kWhole;
    if (found == kWhole)
      return emitUnsupported(op, i, given[i]) << ", but the operation needs all of it; " << kMend,
             failure();
    if (label >= 0 && (found != label || given[i].blocks != share.blocks))
      return emitUnsupported(op, i, given[i])
                 << (given[i].blocks > 1 ? " in " + std::to_string(given[i].blocks) + " blocks"
                                         : std::string())
                 << ", and operand " << source << " is " << describeShare(share)
                 << "; the two are incompatible: split one of them differently",
             failure();
    if (label < 0) {
      label = found;
      share = given[i];
      source = i;
    }
    return success();
  }

  LogicalResult give(unsigned i, Value operand) {
    const auto &labels = signature->operands[i];
    auto at = llvm::find(labels, label);
    if (at == labels.end())
      return success();
    int64_t d = at - labels.begin();
    made.operands[i] = Share::split(d, share.blocks, share.origin);
    if (given[i].isWhole() && !mayImplicitlySplit(op, operand) && given[source].isSplit())
      return emitUnsupported(op, source, share)
                 << ", which requires a part of " << nameOf(operand) << " along dimension " << d
                 << " on each rank, but it is not split; "
                 << (isFunctionArgument(operand)
                         ? "split that parameter too (" +
                               dimensionName(d, typeOf(operand).getRank()) + ")"
                         : std::string("split the parameter from which it is computed, too"))
                 << ", or do not split " << nameOf(share.origin),
             failure();
    return success();
  }

  Operation *op;
  ArrayRef<Share> given;
  std::optional<SplitSignature> signature;
  OpShares made;
  int label = -1;
  Share share;
  unsigned source = 0;
};

/// Returns whether the operation can be applied to partial sums before they are added up: sums of
/// partial sums, reshapes and transposes.
bool preservesPartialSums(Operation *op, ArrayRef<Share> given) {
  if (!llvm::all_of(given, [](const Share &share) { return share.isTerms(); }))
    return false;
  return isa<AddOp, SubOp>(op) ? typeOf(op->getOperand(0)) == typeOf(op->getOperand(1))
                               : isa<ReshapeOp, TransposeOp>(op);
}

} // namespace

bool canSplitScatter(Operation *op, const Share &wanted) {
  auto scatter = dyn_cast<ScatterNdOp>(op);
  if (!scatter || scatter.getReduction() != ScatterReduction::add)
    return false;
  int64_t chosen = shapeOf(scatter.getIndices()).back();
  return wanted.dimension >= chosen || (chosen == 1 && wanted.blocks == 1);
}

FailureOr<OpShares> computeShares(Operation *op, ArrayRef<Share> before, const Share *wanted,
                                  int64_t ranks) {
  if (!before.empty() && preservesPartialSums(op, before)) {
    OpShares made;
    made.operands.assign(before.begin(), before.end());
    made.results.push_back(before[0]);
    return made;
  }
  // All other operations need whole values, so that partial sums are added up before the operation.
  SmallVector<Share, 4> given(before);
  for (Share &share : given)
    if (share.isTerms())
      share = {};
  auto split = llvm::find_if(given, [](const Share &share) { return share.isSplit(); });
  if (split == given.end() && !wanted)
    return makeWholeShares(op);
  const unsigned first = split == given.end() ? 0 : unsigned(split - given.begin());
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                    isStatic))
    return op->emitError() << op->getName()
                           << " in a split program: required: static shapes for a value that is "
                           << describeShare(split == given.end() ? *wanted : *split)
                           << "; compile it for given shapes",
           failure();
  if (op->getNumRegions() > 0 || isa<CallOpInterface>(op) || dependsOnRank(op))
    return emitUnsupported(op, first, *split)
               << "; control flow, calls and collectives require values that are not split; "
               << kMend,
           failure();
  if (auto scatter = dyn_cast<ScatterNdOp>(op);
      scatter && wanted && wanted->dimension < shapeOf(scatter.getIndices()).back()) {
    OpShares made = makeWholeShares(op);
    made.operands[0] = made.results[0] = *wanted;
    made.byRows = true;
    return made;
  }
  if (auto reshaped = dyn_cast<ReshapeOp>(op))
    return distributeReshape(reshaped, given[0], ranks);
  const auto isCut = [&](ArrayRef<int64_t> from) {
    return shapeOf(op->getResult(0))[size_t(split->dimension)] != from[size_t(split->dimension)];
  };
  if (auto slice = dyn_cast<SliceOp>(op); slice && isCut(shapeOf(slice.getX())))
    return cut(slice, given[0], ranks);
  if (auto padded = dyn_cast<PadOp>(op); padded && first == 0 && isCut(shapeOf(padded.getX())))
    return pad(padded, given[0], ranks);
  if (auto concat = dyn_cast<ConcatOp>(op);
      concat && concat.getAxis() == uint64_t(split->dimension))
    return distributeConcat(concat, given, first, ranks);
  auto gather = dyn_cast<GatherOp>(op);
  if (gather && first == 0 && int64_t(gather.getAxis()) == given[0].dimension)
    return distributeGather(gather, given[0]);
  FailureOr<OpShares> made = SignatureDistributor(op, given).run(wanted);
  // If a table is split by columns, the gathered rows are all-gathered, because all ranks need them
  // in full.
  if (succeeded(made) && gather && first == 0 && isFunctionArgument(gather.getX())) {
    made->after = Completion::Gather;
    made->gathered = made->results[0];
    made->results[0] = {};
  }
  return made;
}

} // namespace dlc::share
