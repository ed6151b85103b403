//===- Nest.cpp - iteration spaces, rows and lanes of a fused kernel ------===//
#include "codegen/cpu/kernel/Nest.h"
#include "codegen/cpu/kernel/TransposedOperands.h"
#include "ir/dlc/IndexMap.h"
#include "passes/fuse/analysis/Classify.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

double weight(Operation *op) { return cast<FactsInterface>(op).getWeight(); }

/// Returns the approximate number of scalar operations that evaluate all elements of `op` once,
/// including the terms of reductions.
double estimateWork(Operation *op) {
  double elements = double(tensorType(op->getResult(0)).getNumElements());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return double(tensorType(reduce.getX()).getNumElements());
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    auto a = tensorType(matmul.getA());
    return 2 * elements * double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
  }
  if (auto conv = dyn_cast<ConvOp>(op)) {
    auto w = tensorType(conv.getW());
    return 2 * elements * double(w.getNumElements()) /
           double(std::max<int64_t>(1, w.getDimSize(0)));
  }
  if (auto conv = dyn_cast<ConvTransposeOp>(op)) {
    auto w = tensorType(conv.getW());
    return 2 * elements * double(w.getNumElements()) /
           double(std::max<int64_t>(1, w.getDimSize(1)));
  }
  auto windowWork = [&](ArrayRef<int64_t> window) {
    double n = elements;
    for (int64_t w : window)
      n *= double(w);
    return n;
  };
  if (auto pool = dyn_cast<MaxPoolOp>(op))
    return windowWork(pool.getWindow());
  if (auto pool = dyn_cast<AvgPoolOp>(op))
    return windowWork(pool.getWindow());
  return op->hasTrait<Elementwise>() ? elements * weight(op) : elements * 0.25;
}

} // namespace

double estimateTotalWork(FusionOp fusion) {
  double work = 0;
  for (Operation &op : fusion.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op))
      work += estimateWork(&op);
  return work;
}

namespace {

bool hasElementLoop(FusionOp fusion) {
  for (Operation &op : fusion.getBody().front())
    if (op.hasTrait<ElementLoop>())
      return true;
  return false;
}

/// Returns whether lanes along the last dimension of `value` would be strided in a reduction,
/// because it reduces the last dimension of its operand. It is then better to compute the elements
/// one by one, each with lanes along the reduced dimension.
bool areLanesStridedInReduction(Value value, int64_t lastDim) {
  Operation *op = value.getDefiningOp();
  auto shape = tensorType(value).getShape();
  if (!op || lastDim < 0 || shape[lastDim] <= 1)
    return false;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t last = tensorType(reduce.getX()).getRank() - 1;
    return llvm::is_contained(reduce.getAxes(), last) &&
           tensorType(reduce.getX()).getDimSize(last) >= 4;
  }
  IndexContext x;
  Coordinates at = x.variables("d", shape);
  const IndexAtom *lane = at[lastDim].terms.front().first;
  auto crosses = [&](Value operand, ArrayRef<IndexExpr> from) {
    for (auto [d, i] : llvm::enumerate(from))
      if (i.uses(lane) && areLanesStridedInReduction(operand, int64_t(d)))
        return true;
    return false;
  };
  if (op->hasTrait<Elementwise>())
    return llvm::any_of(readsOf(op, x, at), [&](const OperandRead &read) {
      return crosses(op->getOperand(read.operand), read.at);
    });
  auto moved = getSourceIndex(op, x, at);
  return moved && crosses(op->getOperand(0), *moved);
}

/// Returns the number of vector lanes for a row: two registers of 32-bit elements if the work per
/// element is light, else one register. If all elements have 8 bits, one register of bytes.
int64_t chooseLanes(FusionOp fusion, const Target &target, int64_t row) {
  auto isBytes = [](Value v) { return tensorType(v).getElementTypeBitWidth() <= 8; };
  bool heavy = false, bytes = llvm::all_of(fusion.getBody().getArguments(), isBytes);
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    heavy |= weight(&op) > 4 || (op.hasTrait<ElementLoop>() && !isa<ReduceOp>(op));
    for (Value r : op.getResults())
      heavy |= tensorType(r).getElementTypeBitWidth() > 32;
    bytes &= llvm::all_of(op.getResults(), isBytes);
  }
  int64_t lanes = bytes ? target.vectorBits / 8 : target.lanes32() * (heavy ? 1 : 2);
  return std::min(lanes, row);
}

ArrayRef<int64_t> dropLastDim(ArrayRef<int64_t> shape) {
  return shape.empty() ? shape : shape.drop_back();
}

/// Returns the only concatenation in the fusion if each result is computed from it elementwise. If
/// it concatenates whole rows, results may also be reductions along a row. Returns null otherwise.
ConcatOp findConcatReadByAll(FusionOp fusion) {
  auto shapeOf = [](Value value) { return tensorType(value).getShape(); };
  auto isOfRow = [&](Value value, ArrayRef<int64_t> shape) {
    ArrayRef<int64_t> own = shapeOf(value);
    return own.size() == shape.size() && own.back() == 1 && dropLastDim(own) == dropLastDim(shape);
  };
  ConcatOp concat = findElementwiseReadConcat(fusion, [&](ReduceOp reduce, ConcatOp joined) {
    ArrayRef<int64_t> shape = shapeOf(joined.getY());
    int64_t row = int64_t(shape.size()) - 1;
    return int64_t(joined.getAxis()) != row && shapeOf(reduce.getX()) == shape &&
           reduce.getAxes() == ArrayRef(row) && isOfRow(reduce.getY(), shape);
  });
  if (!concat)
    return nullptr;
  ArrayRef<int64_t> shape = shapeOf(concat.getY());
  auto results = fusion.getBody().front().getTerminator()->getOperands();
  auto isSame = [&](Value value) { return shapeOf(value) == shape; };
  return llvm::any_of(results, isSame) &&
                 llvm::all_of(results, [&](Value v) { return isSame(v) || isOfRow(v, shape); })
             ? concat
             : nullptr;
}

/// Returns whether the operation is a reshape to a single row, such as per-channel factors that all
/// rows use.
bool isReshapeToRow(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  RankedTensorType made = reshape ? tensorType(reshape.getY()) : nullptr;
  return made && made.getRank() > 0 && made.getNumElements() == made.getShape().back();
}

/// Returns whether an operation is elementwise or reads whole rows, or contiguous parts of rows, of
/// its operands.
bool readsContiguousRows(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  return (isa<SliceOp>(op) && preservesInnermostDim(op)) || op->hasTrait<Elementwise>() ||
         isa<ConstantOp, BroadcastOp>(op) || isReshapeToRow(op) ||
         (gather && int64_t(gather.getAxis()) + 1 < tensorType(gather.getX()).getRank());
}

/// Returns the number of dimensions before the row that a work unit must iterate over, so that a
/// reduction over these dimensions and the row is computed once per unit and not once per row.
int64_t countReducedOuterDims(const LoopNest &nest) {
  int64_t within = 0, row = int64_t(nest.shape.size()) - 1;
  llvm::SetVector<Value> needed;
  for (const LoopNest::Store &store : nest.stores)
    needed.insert(store.value);
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i].getDefiningOp();
    if (!op)
      continue;
    if (auto reduce = dyn_cast<ReduceOp>(op);
        reduce && tensorType(reduce.getX()).getShape() == ArrayRef<int64_t>(nest.shape))
      for (int64_t axis : reduce.getAxes())
        within = std::max(within, row - axis);
    needed.insert(op->operand_begin(), op->operand_end());
  }
  return within;
}

/// Makes the rows that use the same reduction one work unit. Returns whether there are such rows.
bool groupRowsByReduction(LoopNest &nest, double perElement) {
  if (nest.scalarRow || !nest.rowStores.empty() || nest.joined || nest.stores[0].axis >= 0)
    return false;
  nest.within = countReducedOuterDims(nest);
  if (nest.rowsWithin() <= 1) {
    nest.within = 0;
    return false;
  }
  nest.block = nest.shape.back(), nest.blocks = 1;
  nest.units = multiplyDims(ArrayRef<int64_t>(nest.shape).drop_back(size_t(nest.within) + 1));
  nest.work = perElement * double(multiplyDims(nest.shape)) / double(nest.units);
  return true;
}

/// Groups short rows: a work unit becomes a chunk of rows along the second-to-last dimension. This
/// applies to fusions with only elementwise work. Values that all rows use (such as per-channel
/// factors if a row has the channels) are loaded once per unit, and coordinates are computed once.
void groupShortRows(LoopNest &nest, FusionOp fusion, double perElement) {
  constexpr int64_t widest = 64, fewest = 8, shortest = 1024, most = 24, units = 64;
  constexpr int64_t vectors = 4, few = 4, largest = 1 << 18;
  constexpr double work = 65536;
  int64_t row = nest.shape.back();
  if (nest.shape.size() < 2 || nest.scalarRow || !nest.rowStores.empty() ||
      nest.shape.end()[-2] < fewest)
    return;
  int64_t operations = 0;
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    // Short rows are grouped in a fusion with a concatenation only if the nest computes one operand
    // of the concatenation.
    if (!readsContiguousRows(&op) && &op != nest.joined &&
        (nest.stores[0].axis < 0 || !isa<ConcatOp>(op)))
      return;
    operations += op.hasTrait<Elementwise>();
  }
  // The code of a short row is fully unrolled, which limits the length of the row. The limit is
  // larger if each element needs few operations.
  if (row > (operations > few ? widest : std::max(widest, vectors * nest.lanes)))
    return;
  bool isPart = nest.joined || nest.stores[0].axis >= 0,
       isLarge = multiplyDims(nest.shape) >= largest;
  nest.runs = isLarge && operations <= most ? 2 : 1;
  nest.together = operations > most || (isPart && !isLarge) ? 1 : 2;
  int64_t rows = nest.shape.end()[-2], longest = std::max(shortest, int64_t(work / perElement));
  int64_t elements = std::clamp(multiplyDims(nest.shape) / units, shortest, longest);
  nest.chunks = (rows * row + elements - 1) / elements;
  nest.depth = (rows + nest.chunks - 1) / nest.chunks;
  nest.chunks = (rows + nest.depth - 1) / nest.depth;
  nest.block = row, nest.blocks = 1;
  nest.units = multiplyDims(nest.shape) / (rows * row) * nest.chunks;
  nest.work = perElement * double(nest.depth * row);
}

/// Makes nests for operands of a concatenation along the row share work units. A thread then
/// computes the same rows of all operands. It most likely reads rows that it wrote itself, and the
/// next kernel finds its rows in the same core's cache.
void shareWorkUnits(std::vector<LoopNest> &nests) {
  auto sharesUnits = [](const LoopNest &nest) { return nest.depth > 0 && nest.joinsRows(); };
  if (nests.empty() || (nests.size() == 1 && nests.front().parts.count == 1) ||
      !llvm::all_of(nests, sharesUnits))
    return;
  int64_t depth = nests.front().depth;
  for (const LoopNest &nest : nests)
    depth = std::min(depth, nest.depth);
  for (LoopNest &nest : nests) {
    int64_t rows = nest.shape.end()[-2];
    nest.work *= double(depth) / double(nest.depth);
    nest.depth = depth;
    nest.chunks = (rows + depth - 1) / depth;
    nest.units = multiplyDims(dropLastDim(nest.shape)) / rows * nest.chunks;
    nest.sameUnits = true;
  }
}

/// Makes the work units rows of tiles if operands are transposed, so that they are transposed in
/// registers. Returns whether there are such operands.
bool tileForTransposes(LoopNest &nest, FusionOp fusion, const Target &target, double perElement) {
  constexpr int64_t units = 64;
  if (nest.scalarRow || !nest.rowStores.empty() || nest.joined)
    return false;
  std::optional<TiledTransposes> transposed = findTiledTransposes(fusion, nest.shape, target);
  if (!transposed)
    return false;
  nest.across = transposed->across;
  nest.lanes = transposed->lanes;
  int64_t row = nest.shape.back(), rows = nest.shape[nest.across];
  int64_t tiles = multiplyDims(nest.shape) / (row * rows) * ((rows + nest.lanes - 1) / nest.lanes);
  // Each row of tiles is split into several work units if there are few rows of tiles.
  int64_t parts = std::clamp<int64_t>(units / tiles, 1, (row + nest.lanes - 1) / nest.lanes);
  nest.block = ((row + parts - 1) / parts + nest.lanes - 1) / nest.lanes * nest.lanes;
  nest.blocks = (row + nest.block - 1) / nest.block;
  nest.units = tiles * nest.blocks;
  nest.work = perElement * double(multiplyDims(nest.shape)) / double(nest.units);
  return true;
}

} // namespace

ConcatOp findElementwiseReadConcat(FusionOp fusion,
                                   function_ref<bool(ReduceOp, ConcatOp)> reduces) {
  Block &body = fusion.getBody().front();
  auto concats = body.getOps<ConcatOp>();
  if (!llvm::hasSingleElement(concats))
    return nullptr;
  ConcatOp concat = *concats.begin();
  auto isReduction = [&](Operation *op) {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && reduces(reduce, concat);
  };
  ArrayRef<int64_t> shape = tensorType(concat.getY()).getShape();
  bool inPlace = llvm::all_of(concat.getY().getUsers(), [&](Operation *user) {
    return isa<YieldOp>(user) || isReduction(user) ||
           (user->hasTrait<Elementwise>() && tensorType(user->getResult(0)).getShape() == shape);
  });
  for (Operation &op : body.without_terminator())
    inPlace &= op.hasTrait<Elementwise>() || isa<ConstantOp, BroadcastOp, ConcatOp>(op) ||
               isReduction(&op);
  return inPlace ? concat : nullptr;
}

SmallVector<Value> findRowsToCache(FusionOp fusion) {
  // Maximum bytes of a cached row: a part of the second-level cache.
  constexpr int64_t kRowBytes = 1 << 18;
  SmallVector<Value> result;
  // Rows can be cached in scratch memory only if each operation reads the same row that it
  // computes, in the same order.
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce ? reduce.getAxes() != ArrayRef<int64_t>{tensorType(reduce.getX()).getRank() - 1}
               : !op.hasTrait<Elementwise>() && !isa<ConstantOp, BroadcastOp, IotaOp>(op))
      return result;
  }
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    if (!op.hasTrait<Elementwise>() || weight(&op) <= 4 || op.getResult(0).hasOneUse())
      continue;
    auto type = tensorType(op.getResult(0));
    if (type.getRank() == 0 || type.getShape().back() * 8 > kRowBytes ||
        isa<IntegerType>(type.getElementType()))
      continue;
    auto reducesRow = [&](Operation *user) {
      auto reduce = dyn_cast<ReduceOp>(user);
      return reduce && reduce.getAxes() == ArrayRef<int64_t>{type.getRank() - 1};
    };
    // All users must read the value in the same row: reductions along the row, and elementwise
    // operations of the same shape.
    bool reduced = false, sameRow = true;
    for (Operation *user : op.getResult(0).getUsers()) {
      reduced |= reducesRow(user);
      sameRow &= isa<YieldOp>(user) || reducesRow(user) ||
                 (user->hasTrait<Elementwise>() &&
                  tensorType(user->getResult(0)).getShape() == type.getShape());
    }
    if (reduced && sameRow)
      result.push_back(op.getResult(0));
  }
  return result;
}

int64_t getRowScratchBytes(Value value) {
  int64_t bytes = tensorType(value).getShape().back() *
                  (getComputeType(tensorType(value).getElementType()).getIntOrFloatBitWidth() / 8);
  return (bytes + 63) / 64 * 64;
}

namespace {

/// Creates a nest for each run of operands of a concatenation, so that no element has to select its
/// operand. `fill` sets the stores of each nest.
std::vector<LoopNest> createConcatNests(ConcatOp concat, function_ref<void(LoopNest &)> fill) {
  std::vector<LoopNest> nests;
  for (const ConcatOperandRun &parts : groupSimilarOperands(concat)) {
    LoopNest nest;
    nest.shape = llvm::to_vector(tensorType(concat.getXs()[parts.first]).getShape());
    nest.parts = parts;
    fill(nest);
    if (multiplyDims(nest.shape) > 0)
      nests.push_back(nest);
  }
  return nests;
}

/// Creates a nest for each shape of the results. Results with one element per row are added to the
/// nest that computes these rows.
std::vector<LoopNest> createResultNests(YieldOp yield) {
  std::vector<LoopNest> nests;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    auto shape = tensorType(value).getShape();
    bool placed = false;
    for (LoopNest &nest : nests) {
      if (ArrayRef<int64_t>(nest.shape) == shape) {
        nest.stores.push_back({value, unsigned(i)});
        placed = true;
      } else if (!shape.empty() && nest.shape.size() == shape.size() && shape.back() == 1 &&
                 dropLastDim(nest.shape) == dropLastDim(shape)) {
        nest.rowStores.push_back({value, unsigned(i)});
        placed = true;
      } else if (!shape.empty() && nest.shape.size() == shape.size() && nest.shape.back() == 1 &&
                 dropLastDim(nest.shape) == dropLastDim(shape) && nest.rowStores.empty()) {
        // A nest of per-row results was created first. Its stores become the row stores of the
        // wider nest.
        std::swap(nest.stores, nest.rowStores);
        nest.shape = llvm::to_vector(shape);
        nest.stores.push_back({value, unsigned(i)});
        placed = true;
      }
      if (placed)
        break;
    }
    if (!placed && multiplyDims(shape) > 0) {
      LoopNest nest;
      nest.shape = llvm::to_vector(shape);
      nest.stores.push_back({value, unsigned(i)});
      nests.push_back(nest);
    }
  }
  return nests;
}

std::vector<LoopNest> createNests(FusionOp fusion) {
  auto yield = cast<YieldOp>(fusion.getBody().front().getTerminator());
  if (yield.getNumOperands() == 1)
    if (auto concat = yield.getOperand(0).getDefiningOp<ConcatOp>())
      return createConcatNests(concat, [&](LoopNest &nest) {
        nest.stores.push_back({concat.getXs()[nest.parts.first], 0, int64_t(concat.getAxis())});
      });
  if (ConcatOp joined = findConcatReadByAll(fusion))
    return createConcatNests(joined, [&](LoopNest &nest) {
      nest.joined = joined;
      ArrayRef<int64_t> whole = tensorType(joined.getY()).getShape();
      for (auto [i, result] : llvm::enumerate(yield.getValues()))
        (tensorType(result).getShape() == whole ? nest.stores : nest.rowStores)
            .push_back({result, unsigned(i)});
    });
  return createResultNests(yield);
}

} // namespace

std::vector<LoopNest> planNests(FusionOp fusion, const Target &target) {
  std::vector<LoopNest> nests = createNests(fusion);
  double work = estimateTotalWork(fusion), elements = 0;
  for (LoopNest &nest : nests)
    elements += double(multiplyDims(nest.shape) * nest.parts.count);
  bool loops = hasElementLoop(fusion);
  for (LoopNest &nest : nests) {
    if (nest.shape.empty())
      nest.shape.push_back(1);
    int64_t row = nest.shape.back(), rows = multiplyDims(dropLastDim(nest.shape));
    for (auto &store : nest.stores)
      nest.scalarRow |=
          areLanesStridedInReduction(store.value, tensorType(store.value).getRank() - 1);
    nest.lanes = nest.scalarRow ? 0 : chooseLanes(fusion, target, row);
    double perElement = std::max(1.0, work / std::max(1.0, elements));
    // A long row is split into blocks, so that a few rows provide work for all cores. It is not
    // split if each block would repeat a reduction of the whole row.
    nest.block = row;
    bool cut = nest.scalarRow || !loops || perElement > 64;
    if (cut && rows < 64) {
      int64_t step = nest.scalarRow ? 1 : nest.lanes;
      // With many elements, blocks are longer (512 units in total), because long sequential streams
      // are read faster from memory.
      constexpr int64_t units = 512;
      int64_t longest = nest.scalarRow ? 1 : multiplyDims(nest.shape) / units;
      int64_t wanted = std::max<int64_t>(longest, int64_t(16384 / perElement));
      nest.block = std::min(row, std::max(step, (wanted + step - 1) / step * step));
    }
    nest.blocks = (row + nest.block - 1) / nest.block;
    nest.units = rows * nest.blocks;
    nest.work = perElement * double(nest.block);
    if (!groupRowsByReduction(nest, perElement) &&
        !tileForTransposes(nest, fusion, target, perElement))
      groupShortRows(nest, fusion, perElement);
  }
  shareWorkUnits(nests);
  return nests;
}

} // namespace dlc::cpu
