//===- TileShape.cpp - contractions as batched matrices, and the shape of their tiles ---===//
#include "codegen/cuda/contract/TileShape.h"

#include "codegen/cuda/contract/Bytes.h"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// Returns whether adjacent channels of the image are contiguous in memory, because of its layout
/// or because it is a transpose of a channels-last tensor.
bool areChannelsLast(Value image) {
  int64_t rank = typeOf(image).getRank();
  if (rank < 3 || rank > 5 || shapeOf(image)[1] == 1)
    return false;
  if (!layoutOf(image.getType()).empty())
    return layoutOf(image.getType()) == getChannelsLastTag(rank);
  Operation *op = image.getDefiningOp();
  if (isa_and_nonnull<CastOp, SubOp>(op) && shapeOf(op->getOperand(0)) == shapeOf(image))
    return areChannelsLast(op->getOperand(0));
  auto transpose = dyn_cast_or_null<TransposeOp>(op);
  if (!transpose || transpose.getPermutation()[0] != 0 || transpose.getPermutation()[1] != rank - 1)
    return false;
  return llvm::is_sorted(transpose.getPermutation().drop_front(2));
}

} // namespace

Indices ContractionGeometry::foldedAt(Emitter &e, const Expr &k) const {
  if (!channelsLast)
    return e.x.unravel(folded, k);
  SmallVector<int64_t> extents(folded);
  std::rotate(extents.begin(), extents.begin() + 1, extents.end());
  Indices at = e.x.unravel(extents, k);
  std::rotate(at.begin(), at.end() - 1, at.end());
  return at;
}

ContractionGeometry getContractionGeometry(Operation *op) {
  ContractionGeometry g;
  g.folded = foldedExtents(op);
  SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
  g.results = multiplyDims(shape);
  g.contracted = multiplyDims(g.folded);
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    // If only the row operand has batch dimensions, these are treated as rows.
    bool shared = typeOf(matmul.getB()).getRank() == 2 ||
                  multiplyDims(shapeOf(matmul.getB()).drop_back(2)) == 1;
    size_t rank = shape.size(), split = shared ? 0 : rank - 2;
    SmallVector<int64_t> batchShape(shape.begin(), shape.begin() + split);
    SmallVector<int64_t> rowShape(shape.begin() + split, shape.end() - 1);
    g.batches = multiplyDims(batchShape);
    g.rows = multiplyDims(rowShape);
    g.columns = shape.back();
    g.rowOperand = 0;
    g.indexOf = [=](Emitter &e, const Expr &batch, const Expr &row, const Expr &column) {
      Indices at = e.x.unravel(batchShape, batch);
      llvm::append_range(at, e.x.unravel(rowShape, row));
      at.push_back(column);
      return at;
    };
    return g;
  }
  g.rowOperand = 1;
  if (auto gradient = dyn_cast<ConvWeightGradOp>(op)) {
    g.batches = gradient.getGroups();
    g.rows = shape[0] / g.batches;
    SmallVector<int64_t> rest(shape.begin() + 1, shape.end());
    g.columns = multiplyDims(rest);
    g.indexOf = [=, rows = g.rows](Emitter &e, const Expr &batch, const Expr &row,
                                   const Expr &column) {
      Indices at{e.x.add(batch * rows, row)};
      llvm::append_range(at, e.x.unravel(rest, column));
      return at;
    };
    return g;
  }
  auto conv = dyn_cast<ConvOp>(op);
  g.batches = conv ? conv.getGroups() : cast<ConvTransposeOp>(op).getGroups();
  g.rows = shape[1] / g.batches;
  SmallVector<int64_t> rest{shape[0]};
  rest.append(shape.begin() + 2, shape.end());
  g.columns = multiplyDims(rest);
  g.channelsLast = conv && areChannelsLast(conv.getX());
  g.indexOf = [rest, channels = g.rows, last = g.channelsLast](
                  Emitter &e, const Expr &batch, const Expr &row, const Expr &column) {
    Indices at = e.x.unravel(rest, last ? row : column);
    at.insert(at.begin() + 1, e.x.add(batch * channels, last ? column : row));
    return at;
  };
  if (g.channelsLast) {
    std::swap(g.rows, g.columns);
    g.rowOperand = 0;
  }
  return g;
}

namespace {

int64_t tilesOf(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

/// Tile shape for tensor cores. `rate`: million multiply-adds per microsecond that one
/// multiprocessor reaches with such tiles and 16-bit operands.
struct TensorCoreTile {
  int64_t rows, columns, warpRows, warpColumns, threads, blocksTogether;
  double rate;
  int64_t bytes = 0; ///< element size in bytes that the tile requires; 0: any
};
constexpr TensorCoreTile kTensorTiles[] = {
    {128, 256, 64, 64, 256, 1, 1.44},
    {256, 128, 64, 64, 256, 1, 1.44},
    {128, 128, 64, 32, 256, 2, 1.48, 2},
    // For 32-bit elements: half as many threads, because each thread needs more registers for
    // fragments and addresses.
    {128, 128, 64, 64, 128, 2, 1.44, 4},
    {64, 128, 32, 64, 128, 2, 1.1},
    {128, 64, 64, 32, 128, 2, 1.1},
    {64, 64, 32, 32, 128, 2, 0.7},
    {32, 64, 16, 32, 128, 2, 0.4},
    {64, 32, 32, 16, 128, 2, 0.4},
    {32, 32, 16, 16, 128, 2, 0.25},
};
/// Tile shapes for warpgroup matrix instructions (wgmma), with 64 rows for each group of four
/// warps.
constexpr TensorCoreTile kWarpgroupTiles[] = {
    {128, 256, 64, 256, 256, 1, 2.55}, {256, 192, 128, 192, 256, 1, 2.55},
    {256, 128, 128, 128, 256, 1, 2.4}, {192, 192, 64, 192, 384, 1, 2.45},
    {128, 192, 64, 192, 256, 1, 2.4},  {128, 128, 64, 128, 256, 2, 1.95},
    {64, 128, 64, 128, 128, 2, 1.3},   {128, 64, 64, 64, 256, 2, 1.25},
    {64, 64, 64, 64, 128, 2, 0.75},
};

/// Cost in microseconds of a pipeline step (minimum), of a launch, and of a byte of memory traffic.
constexpr double kStepTime = 0.15, kLaunchTime = 2, kByteTime = 0.4e-6;
/// Microseconds per operand element that is computed before it is stored in shared memory. It takes
/// longer if a multiprocessor has a single thread block.
constexpr double kElementTime = 1e-4;
/// Microseconds to store a result element, if no other thread block multiplies at the same time.
constexpr double kResultTime = 6e-5;
/// Factor by which a tile takes longer if it is alone on a multiprocessor on which two thread
/// blocks fit.
constexpr double kAlone = 1.5;
/// Minimum length of a part of the contracted dimension, and maximum number of parts.
constexpr int64_t kShortestPart = 128, kMaxParts = 64;

void chooseTensorTiles(const KernelOptions &options, const ContractionGeometry &g,
                       const bool (&computed)[2], TileShape &s) {
  double least = 0;
  double work = s.sharedBytes == 1 ? 0.5 : s.sharedBytes == 2 ? 1 : 2.3;
  int64_t processors = std::max(1, options.multiprocessors);
  // A candidate is chosen over an earlier one only if its estimate is at least 2% shorter.
  auto consider = [&](const TensorCoreTile &tile, bool warpgroups) {
    if (tile.bytes != 0 && tile.bytes != s.sharedBytes)
      return;
    int64_t stage = (tile.rows + tile.columns) * s.depth * s.sharedBytes;
    int64_t sums = (tile.rows * (tile.columns + 8) + tile.rows + tile.columns) * 4;
    int64_t fewest = warpgroups ? 3 : 2, most = 4, together = tile.blocksTogether;
    auto stagesOf = [&](int64_t blocks) {
      int64_t bytes = (options.sharedBytes + 1024) / blocks - 1024;
      return sums <= bytes ? std::min(most, bytes / stage) : 0;
    };
    if (stagesOf(together) < fewest)
      together = 1;
    int64_t stages = stagesOf(together);
    if (stages < fewest)
      return;
    int64_t blocks = tilesOf(g.rows, tile.rows) * tilesOf(g.columns, tile.columns) * g.batches;
    for (int64_t parts = 1; parts <= kMaxParts; parts += std::max<int64_t>(1, parts / 4)) {
      if (parts > 1 && g.contracted / parts < kShortestPart)
        break;
      int64_t steps = tilesOf(tilesOf(g.contracted, parts), s.depth);
      double busiest = double(tilesOf(blocks * parts, processors));
      double waves = double(tilesOf(blocks * parts, processors * together));
      double products =
          busiest * double(tile.rows * tile.columns * steps * s.depth) * work * 1e-6 / tile.rate;
      int64_t elements = (computed[0] ? tile.rows : 0) + (computed[1] ? tile.columns : 0);
      products +=
          busiest * double(elements * steps * s.depth) * kElementTime * (together > 1 ? 1 : 2.5);
      double results = busiest * double(tile.rows * tile.columns) * kResultTime;
      products += together > 1 ? results / 2 : results;
      // A single thread block does not use the full rate of the multiprocessor.
      if (busiest < double(together))
        products *= kAlone;
      double time = std::max(products, waves * double(steps) * kStepTime) + waves * kLaunchTime;
      if (parts > 1)
        time += kLaunchTime + double(g.results * (parts * 8 + 4)) * kByteTime;
      if (least != 0 && time >= least * 0.98)
        continue;
      least = time;
      s.rows = tile.rows, s.columns = tile.columns;
      s.warpTileRows = tile.warpRows, s.warpTileColumns = tile.warpColumns;
      s.warpRows = tile.rows / tile.warpRows;
      s.threads = tile.threads;
      s.warpgroups = warpgroups;
      s.stages = stages;
      s.blocksTogether = together;
      s.parts = parts;
    }
  };
  if (options.warpgroups && s.sharedBytes == 2)
    for (const TensorCoreTile &tile : kWarpgroupTiles)
      consider(tile, true);
  for (const TensorCoreTile &tile : kTensorTiles)
    consider(tile, false);
}

} // namespace

TileShape chooseTileTypes(const KernelGenerator &plan, Operation *op) {
  TileShape s;
  // 8-bit integers are summed in i32, the element type of the result.
  Type element = elementOf(isIntegerContraction(op) ? op->getResult(0) : op->getOperand(0));
  Type f32 = Float32Type::get(op->getContext());
  s.computed = s.accumulator = element;
  s.sharedName = getStorageTypeName(element);
  s.sharedBytes = ref::elementBytes(element);
  auto math = op->getAttrOfType<StringAttr>(kMathAttr);
  bool rounded = plan.options.tf32 || (math && (math == "tf32" || math == "bf16"));
  if (element.isBF16() || element.isF16()) {
    s.tensorCores = true;
    s.mma = element.isBF16() ? "bf16" : "f16";
    s.computed = s.accumulator = f32;
    s.step = 16;
  } else if (element.isF32() && rounded) {
    s.tensorCores = true;
    s.mma = "tf32";
    s.step = 8;
  } else if (plan.options.bytes && matchByteOperands(op)) {
    s.tensorCores = true;
    s.mma = "bytes";
    s.sharedBytes = 1;
    s.step = 32;
  }
  return s;
}

void chooseTileShape(const KernelGenerator &plan, const ContractionGeometry &g,
                     const bool (&computed)[2], TileShape &s) {
  int64_t wanted = plan.options.multiprocessors;
  auto blocks = [&] { return tilesOf(g.rows, s.rows) * tilesOf(g.columns, s.columns) * g.batches; };
  if (s.tensorCores) {
    s.depth = 128 / s.sharedBytes;
    chooseTensorTiles(plan.options, g, computed, s);
  } else {
    bool large = s.accumulator.isF32();
    if (large && g.rows > 64)
      s.rows = 128;
    if (large && g.columns > 64)
      s.columns = 128;
    // If the GPU has capacity for more thread blocks, tiles are made smaller, so that there are
    // more.
    while (blocks() < wanted && s.rows + s.columns > 128)
      (s.rows > s.columns ? s.rows : s.columns) = 64;
    s.micro = 4;
    s.depth = s.sharedBytes == 8 ? 8 : 16;
    int64_t shortest = 256;
    if (blocks() * 2 <= wanted && g.contracted >= 2 * shortest)
      s.parts = std::min({wanted * 2 / blocks(), g.contracted / shortest, int64_t(64)});
  }
  s.rowTiles = tilesOf(g.rows, s.rows);
  s.columnTiles = tilesOf(g.columns, s.columns);
  // The length of each part of the contracted dimension is a multiple of the tile's depth. The last
  // part may be shorter.
  s.chunk = tilesOf(tilesOf(g.contracted, s.parts), s.depth) * s.depth;
  s.parts = std::max<int64_t>(1, tilesOf(g.contracted, s.chunk));
}

} // namespace dlc::cuda
