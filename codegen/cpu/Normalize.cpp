//===- Normalize.cpp - rewrites a fusion over the fewest plain dimensions ---===//
#include "codegen/cpu/Normalize.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/layout/Tag.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Returns whether an operation treats each dimension of its operands separately. Shapes are
/// aligned at the last dimension.
bool isDimensionwise(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKeepdims() ||
           llvm::all_of(reduce->getUsers(), [](Operation *user) { return isa<YieldOp>(user); });
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue());
  if (auto slice = dyn_cast<SliceOp>(op))
    return slicesWholeUnits(slice, -1);
  return op->hasTrait<Elementwise>() || isa<BroadcastOp, YieldOp>(op);
}

RankedTensorType tensorType(Value v) { return cast<RankedTensorType>(v.getType()); }

/// Returns the shape of a value. If it is the result of a reduction, the reduced dimensions are
/// included with size 1.
SmallVector<int64_t> getShapeWithReducedDims(Value v) {
  auto shape = llvm::to_vector(tensorType(v).getShape());
  if (auto reduce = v.getDefiningOp<ReduceOp>(); reduce && !reduce.getKeepdims())
    for (int64_t axis : reduce.getAxes())
      shape.insert(shape.begin() + axis, 1);
  return shape;
}

/// Returns whether the value is the index operand of a gather, whose shape does not change with the
/// layout.
bool isGatherIndices(Value v) {
  return llvm::any_of(v.getUses(), [](OpOperand &use) {
    return isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 1;
  });
}

void forEachValue(FusionOp fusion, function_ref<void(Value)> f) {
  for (Value argument : fusion.getBody().getArguments())
    f(argument);
  for (Operation &op : fusion.getBody().front())
    for (Value result : op.getResults())
      f(result);
}

/// Copies the fusion with another type for each value. `shapeOf` returns the new shape for an old
/// one, in which reduced dimensions are kept as 1 and dimensions are aligned to `rank`. Reductions
/// keep their dimensions, and `axesOf` maps their axes. `startOf` maps the start of a slice, given
/// the shape of its operand.
FusionOp retype(FusionOp fusion, size_t rank,
                function_ref<SmallVector<int64_t>(ArrayRef<int64_t>, RankedTensorType)> shapeOf,
                function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> axesOf,
                function_ref<SmallVector<int64_t>(ArrayRef<int64_t>, ArrayRef<int64_t>)> startOf) {
  OpBuilder b(fusion);
  auto typeOf = [&](Value v) {
    auto shape = getShapeWithReducedDims(v);
    if (isGatherIndices(v))
      return RankedTensorType::get(shape, tensorType(v).getElementType());
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return RankedTensorType::get(shapeOf(shape, tensorType(v)), tensorType(v).getElementType());
  };
  Block &body = fusion.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Type> results;
  for (Value v : yield.getValues())
    results.push_back(typeOf(v));
  // The copy's operand types differ from the types of its body's arguments: the body interprets the
  // same bytes with another shape.
  auto copy = FusionOp::create(b, fusion.getLoc(), results, fusion.getInputs());
  Block *to = copy.getBody().empty() ? b.createBlock(&copy.getBody()) : &copy.getBody().front();
  to->clear();
  IRMapping map;
  for (BlockArgument argument : body.getArguments())
    map.map(argument, to->addArgument(typeOf(argument), argument.getLoc()));
  b.setInsertionPointToEnd(to);
  for (Operation &op : body) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      auto type = typeOf(constant.getY());
      auto attr = value.isSplat() ? value.resizeSplat(type) : value.reshape(type);
      map.map(constant.getY(), ConstantOp::create(b, op.getLoc(), attr).getY());
      continue;
    }
    Operation *clone = b.clone(op, map);
    for (auto [from, result] : llvm::zip(op.getResults(), clone->getResults()))
      result.setType(typeOf(from));
    // Axes of a reduction are relative to its own operand; they are shifted to shapes aligned at
    // the last dimension.
    auto aligned = [&,
                    x = op.getNumOperands() ? op.getOperand(0) : Value()](ArrayRef<int64_t> axes) {
      const int64_t shift = int64_t(rank) - tensorType(x).getRank();
      return axesOf(llvm::map_to_vector(axes, [&](int64_t axis) { return axis + shift; }));
    };
    if (auto reduce = dyn_cast<ReduceOp>(clone)) {
      reduce.setAxes(aligned(reduce.getAxes()));
      reduce.setKeepdims(true);
    }
    if (auto slice = dyn_cast<SliceOp>(clone)) {
      // A slice must be contiguous in each dimension, before and after the change of its shape.
      auto to = slice.getY().getType().getShape();
      slice.setStart(
          startOf(cast<SliceOp>(op).getStart(), cast<SliceOp>(op).getX().getType().getShape()));
      slice.setSize(to);
      slice.setStride(SmallVector<int64_t>(to.size(), 1));
    }
    if (auto concat = dyn_cast<ConcatOp>(clone))
      concat.setAxis(aligned({int64_t(concat.getAxis())}).front());
    if (auto gather = dyn_cast<GatherOp>(clone))
      gather.setAxis(aligned({int64_t(gather.getAxis())}).front());
  }
  return copy;
}

/// Returns whether an operation that moves elements only moves whole blocks of the blocked layout.
bool movesWholeBlocks(Operation *op, StringRef tag) {
  auto slice = dyn_cast<SliceOp>(op);
  auto gather = dyn_cast<GatherOp>(op);
  return isa<ConcatOp>(op) || (slice && slicesAlongBlocks(slice, tag)) ||
         (gather && layoutOf(gather.getX().getType()) == tag && gathersBlocks(gather, tag));
}

/// Returns whether the operation is a slice that cuts a block of the blocked layout. Dimensions are
/// aligned at the last one of `rank`.
bool slicesThroughBlock(Operation *op, const Tag &layout, StringRef tag, int64_t rank) {
  auto slice = dyn_cast<SliceOp>(op);
  return slice && layout.blockedDim >= 0 &&
         !slicesWholeUnits(slice, layout.blockedDim - (rank - slice.getX().getType().getRank())) &&
         !slicesAlongBlocks(slice, tag);
}

FailureOr<FusionOp> makeLayoutsExplicit(FusionOp fusion, std::string &why) {
  auto fail = [&](const Twine &reason) -> FailureOr<FusionOp> {
    why = reason.str();
    return failure();
  };
  StringRef tag;
  bool mixed = false;
  size_t rank = 0;
  forEachValue(fusion, [&](Value v) {
    rank = std::max(rank, getShapeWithReducedDims(v).size());
    if (StringRef layout = layoutOf(v.getType()); !layout.empty()) {
      mixed |= !tag.empty() && tag != layout;
      tag = layout;
    }
  });
  if (tag.empty())
    return fusion;
  auto layout = Tag::parse(tag);
  if (mixed || !layout || layout->order.size() != rank)
    return fail("a generated kernel cannot read layout '" + tag +
                "' here; insert a dlc.reorder before it");
  for (Operation &op : fusion.getBody().front())
    if ((!isDimensionwise(&op) && !movesWholeBlocks(&op, tag)) ||
        slicesThroughBlock(&op, *layout, tag, int64_t(rank)))
      return fail("generated '" + op.getName().getStringRef() +
                  "' supports only plain layouts; found: '" + tag +
                  "'; insert a dlc.reorder before it");
  bool divides = true;
  forEachValue(fusion, [&](Value v) {
    auto shape = getShapeWithReducedDims(v);
    int64_t d = layout->blockedDim - (int64_t(rank) - int64_t(shape.size()));
    if (layout->blockedDim >= 0 && d >= 0)
      divides &= shape[d] == 1 || shape[d] % layout->block == 0;
  });
  if (!divides)
    return fail("layout '" + tag + "' pads its blocks here; insert a dlc.reorder before it");
  bool blocked = layout->blockedDim >= 0;
  auto shapeOf = [&](ArrayRef<int64_t> shape, RankedTensorType) {
    SmallVector<int64_t> result;
    for (int64_t d : layout->order)
      result.push_back(d == layout->blockedDim && shape[d] > 1 ? shape[d] / layout->block
                                                               : shape[d]);
    if (blocked)
      result.push_back(shape[layout->blockedDim] > 1 ? layout->block : 1);
    return result;
  };
  auto axesOf = [&](ArrayRef<int64_t> axes) {
    SmallVector<int64_t> result;
    for (int64_t axis : axes) {
      for (auto [at, d] : llvm::enumerate(layout->order))
        if (d == axis)
          result.push_back(at);
      if (axis == layout->blockedDim && axes.size() > 1)
        result.push_back(layout->order.size());
    }
    llvm::sort(result);
    return result;
  };
  auto startOf = [&](ArrayRef<int64_t> start, ArrayRef<int64_t>) {
    SmallVector<int64_t> result;
    int64_t missing = int64_t(rank) - int64_t(start.size());
    for (int64_t d : layout->order)
      result.push_back(
          d < missing ? 0 : start[d - missing] / (d == layout->blockedDim ? layout->block : 1));
    if (blocked)
      result.push_back(0);
    return result;
  };
  return retype(fusion, rank, shapeOf, axesOf, startOf);
}

FusionOp mergeDimensions(FusionOp fusion) {
  for (Operation &op : fusion.getBody().front())
    if (!isDimensionwise(&op))
      return fusion;
  size_t rank = 0;
  forEachValue(fusion, [&](Value v) { rank = std::max(rank, getShapeWithReducedDims(v).size()); });
  SmallVector<int64_t> full(rank, 1);
  forEachValue(fusion, [&](Value v) {
    auto shape = getShapeWithReducedDims(v);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &d = full[rank - shape.size() + i];
      d = shape[i] == 1 ? d : shape[i];
    }
  });
  // joined[d]: whether dimension d is merged with dimension d - 1.
  SmallVector<bool> joined(rank, true);
  forEachValue(fusion, [&](Value v) {
    auto shape = getShapeWithReducedDims(v);
    shape.insert(shape.begin(), rank - shape.size(), 1);
    std::optional<bool> before;
    for (size_t d = 0; d < rank; ++d) {
      if (full[d] == 1)
        continue;
      bool stretched = shape[d] == 1;
      if (before && *before != stretched)
        joined[d] = false;
      before = stretched;
    }
  });
  SmallVector<int64_t> group(rank, -1);
  SmallVector<int64_t> groupSize;
  for (size_t d = 0; d < rank; ++d) {
    if (full[d] == 1)
      continue;
    if (groupSize.empty() || !joined[d])
      groupSize.push_back(1);
    group[d] = groupSize.size() - 1;
    groupSize.back() *= full[d];
  }
  if (groupSize.size() == rank)
    return fusion;
  auto shapeOf = [&](ArrayRef<int64_t> shape, RankedTensorType) {
    SmallVector<int64_t> result(groupSize.size(), 1);
    for (size_t d = 0; d < rank; ++d)
      if (group[d] >= 0)
        result[group[d]] *= shape[d];
    return result;
  };
  auto axesOf = [&](ArrayRef<int64_t> axes) {
    SmallVector<int64_t> result;
    for (int64_t axis : axes)
      if (group[axis] >= 0 && (result.empty() || result.back() != group[axis]))
        result.push_back(group[axis]);
    return result;
  };
  auto startOf = [&](ArrayRef<int64_t> start, ArrayRef<int64_t> from) {
    SmallVector<int64_t> result(groupSize.size(), 0);
    for (size_t i = 0; i < start.size(); ++i)
      if (int64_t g = group[rank - start.size() + i]; g >= 0)
        result[g] = result[g] * from[i] + start[i];
    return result;
  };
  return retype(fusion, rank, shapeOf, axesOf, startOf);
}

/// Returns the number of rows of `row` elements that are merged into one row to fill vectors; 1 if
/// a single row fills them.
int64_t countRowsToMerge(int64_t rows, int64_t row) {
  constexpr int64_t vector = 16, two = 2 * vector, widest = 2 * two;
  if (row < 2 || row % vector == 0)
    return 1;
  int64_t best = 1;
  for (int64_t n = 2; n * row <= widest; ++n)
    if (rows % n == 0 && n * row % vector == 0 && (best == 1 || n * row % two == 0))
      best = n;
  return best;
}

/// Merges short rows of an elementwise fusion. With few channels in a row, most lanes of a vector
/// would be unused. Therefore several pixels form one row, and the per-channel factors are repeated
/// and loaded before the loop (shortRows in Kernel.cpp).
FusionOp mergeShortRows(FusionOp fusion) {
  constexpr int64_t fewest = 4096, work = 8;
  SmallVector<int64_t> full;
  forEachValue(fusion, [&](Value v) {
    if (tensorType(v).getNumElements() > ShapedType::getNumElements(full))
      full = llvm::to_vector(tensorType(v).getShape());
  });
  if (full.size() < 2 || ShapedType::getNumElements(full) < fewest)
    return fusion;
  const size_t rank = full.size();
  const int64_t row = full.back(), together = countRowsToMerge(full[rank - 2], row);
  auto isRow = [&](ArrayRef<int64_t> shape) {
    return !shape.empty() && shape.back() == row &&
           llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; });
  };
  bool fits = together > 1;
  int64_t operations = 0;
  for (Operation &op : fusion.getBody().front()) {
    auto constant = dyn_cast<ConstantOp>(op);
    fits &= op.hasTrait<Elementwise>() || isa<YieldOp>(op) ||
            (constant && constant.getValue().isSplat());
    operations += op.hasTrait<Elementwise>();
  }
  forEachValue(fusion, [&](Value v) {
    auto shape = tensorType(v).getShape();
    fits &= shape == ArrayRef<int64_t>(full) || isRow(shape) || tensorType(v).getNumElements() == 1;
  });
  if (!fits || operations < work)
    return fusion;
  auto shapeOf = [&](ArrayRef<int64_t> shape, RankedTensorType) {
    auto result = llvm::to_vector(shape);
    if (shape[rank - 2] == full[rank - 2])
      result[rank - 2] /= together;
    if (shape.back() == row)
      result.back() *= together;
    return result;
  };
  auto none = [](ArrayRef<int64_t> axes) { return llvm::to_vector(axes); };
  auto still = [](ArrayRef<int64_t> start, ArrayRef<int64_t>) { return llvm::to_vector(start); };
  FusionOp copy = retype(fusion, rank, shapeOf, none, still);
  auto b = OpBuilder::atBlockBegin(&copy.getBody().front());
  for (BlockArgument argument : copy.getBody().getArguments()) {
    auto repeated = tensorType(argument);
    if (repeated.getNumElements() != row * together ||
        tensorType(fusion.getBody().getArgument(argument.getArgNumber())).getNumElements() != row)
      continue;
    auto shape = llvm::to_vector(repeated.getShape());
    shape.back() = row;
    argument.setType(repeated.clone(shape));
    shape[rank - 2] = together;
    Value several =
        BroadcastOp::create(b, argument.getLoc(), repeated.clone(shape), argument).getY();
    Value all = ReshapeOp::create(b, argument.getLoc(), repeated, several).getY();
    argument.replaceAllUsesExcept(all, several.getDefiningOp());
  }
  return copy;
}

/// Merges the last two dimensions of a concatenation of operands of size 1, so that its interleaved
/// elements form one row.
void mergeInterleavedConcat(FusionOp fusion) {
  Operation *yield = fusion.getBody().front().getTerminator();
  auto concat =
      yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp<ConcatOp>() : ConcatOp();
  if (!concat || !isInterleavingConcat(concat))
    return;
  auto shape = llvm::to_vector(tensorType(concat.getY()).getShape());
  int64_t turns = shape.pop_back_val();
  shape.back() *= turns;
  OpBuilder b(yield);
  Type merged = tensorType(concat.getY()).clone(shape);
  yield->setOperand(0, ReshapeOp::create(b, concat.getLoc(), merged, concat.getY()).getY());
  fusion.getResult(0).setType(merged);
}

} // namespace

FailureOr<FusionOp> normalizeFusion(FusionOp fusion, std::string &why) {
  OpBuilder b(fusion);
  auto copy = cast<FusionOp>(b.clone(*fusion));
  auto plain = makeLayoutsExplicit(copy, why);
  if (failed(plain)) {
    copy.erase();
    return failure();
  }
  auto joined = mergeDimensions(*plain);
  if (*plain != copy)
    copy.erase();
  if (joined != *plain)
    plain->erase();
  auto filled = mergeShortRows(joined);
  if (filled != joined)
    joined->erase();
  mergeInterleavedConcat(filled);
  return filled;
}

} // namespace dlc::cpu
