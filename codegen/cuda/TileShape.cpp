//===- TileShape.cpp - contractions as rows and columns, and their tiles ---===//
#include "codegen/cuda/TileShape.h"

using namespace mlir;

namespace dlc::cuda {

Geometry geometryOf(Operation *op) {
  Geometry g;
  SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
  g.results = product(shape);
  g.contracted = product(foldedExtents(op));
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    // Batches that only the rows know are rows.
    bool shared =
        typeOf(matmul.getB()).getRank() == 2 || product(shapeOf(matmul.getB()).drop_back(2)) == 1;
    size_t rank = shape.size(), split = shared ? 0 : rank - 2;
    SmallVector<int64_t> batchShape(shape.begin(), shape.begin() + split);
    SmallVector<int64_t> rowShape(shape.begin() + split, shape.end() - 1);
    g.batches = product(batchShape);
    g.rows = product(rowShape);
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
    g.columns = product(rest);
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
  g.columns = product(rest);
  g.indexOf = [=, rows = g.rows](Emitter &e, const Expr &batch, const Expr &row,
                                 const Expr &column) {
    Indices at = e.x.unravel(rest, column);
    at.insert(at.begin() + 1, e.x.add(batch * rows, row));
    return at;
  };
  return g;
}

TileShape chooseTiles(Planner &plan, Operation *op, const Geometry &g) {
  TileShape s;
  Type element = elementOf(op->getOperand(0));
  Type f32 = Float32Type::get(op->getContext());
  s.computed = s.accumulator = element;
  s.sharedName = storageName(element);
  s.sharedBytes = ref::elementBytes(element);
  auto math = op->getAttrOfType<StringAttr>("dlc.math");
  bool rounded = plan.options.tf32 || (math && (math == "tf32" || math == "bf16"));
  if (element.isBF16() || element.isF16()) {
    s.tensorCores = true;
    s.mma = element.isBF16() ? "bf16" : "f16";
    s.computed = s.accumulator = f32;
    s.depth = 32;
    s.step = 16;
  } else if (element.isF32() && rounded) {
    s.tensorCores = true;
    s.mma = "tf32";
    s.depth = 16;
    s.step = 8;
  }
  auto tiles = [](int64_t n, int64_t tile) { return (n + tile - 1) / tile; };
  int64_t wanted = plan.options.multiprocessors;
  auto blocks = [&] { return tiles(g.rows, s.rows) * tiles(g.columns, s.columns) * g.batches; };
  bool large = s.tensorCores || element.isF32();
  if (large && g.rows > 64)
    s.rows = 128;
  if (large && g.columns > 64)
    s.columns = 128;
  // Few blocks: smaller ones.
  while (blocks() < wanted && s.rows + s.columns > 128)
    (s.rows > s.columns ? s.rows : s.columns) = 64;
  if (s.tensorCores) {
    bool wide = s.rows == 128 && s.columns == 128;
    s.warpTileRows = wide ? 64 : 32;
    s.warpTileColumns = 32;
    s.warpRows = s.rows / s.warpTileRows;
    s.threads = s.warpRows * (s.columns / s.warpTileColumns) * 32;
  } else {
    s.micro = 4;
    s.depth = s.sharedBytes == 8 ? 8 : 16;
  }
  s.rowTiles = tiles(g.rows, s.rows);
  s.columnTiles = tiles(g.columns, s.columns);
  int64_t shortest = 256;
  if (blocks() * 2 <= wanted && g.contracted >= 2 * shortest)
    s.parts = std::min({wanted * 2 / blocks(), g.contracted / shortest, int64_t(64)});
  // Whole steps of the depth; the last part may be shorter.
  s.chunk = tiles(tiles(g.contracted, s.parts), s.depth) * s.depth;
  s.parts = std::max<int64_t>(1, tiles(g.contracted, s.chunk));
  return s;
}

} // namespace dlc::cuda
