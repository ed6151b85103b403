//===- Attention.cpp - attention whose scores are never stored in memory ---===//
//
// A thread block computes several rows of queries and iterates over the keys in tiles. Scores and
// weights stay in registers, in which the result is accumulated as well (Dao et al.,
// FlashAttention-2). The gradient recomputes the scores from the statistics that the forward kernel
// saved for each row: once for dq, iterating over the keys, and once for dk and dv, iterating over
// the queries. Each sum is thus computed by a single block, and all runs give the same results.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Attention.h"

#include "ir/dlc/Attributes.h"
#include "passes/fuse/FusedAttention.h"
#include "passes/fuse/StridedView.h"
#include "passes/place/Cost.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

/// Maximum shared memory of a thread block in bytes: two such blocks fit on a multiprocessor of
/// most GPUs, and one fits on all GPUs.
constexpr int64_t kShared = 96 << 10;

Block &bodyOf(FusionOp fusion) { return fusion.getBody().front(); }

/// Returns the attention's result of which the fusion's result is a view; null if it is not such a
/// view.
OpResult findAttentionResult(Value yielded, Operation *attention) {
  while (Operation *op = yielded.getDefiningOp()) {
    if (op == attention)
      return cast<OpResult>(yielded);
    if (!isa<ReshapeOp, TransposeOp>(op))
      break;
    yielded = op->getOperand(0);
  }
  return {};
}

bool hasContiguousRows(const StridedView &view) {
  return view.shape.back() == 1 || view.strides.back() == 1;
}

int64_t roundUp(int64_t size, int64_t to) { return (size + to - 1) / to * to; }

/// Pointer and strides with which a kernel accesses an operand or result of the attention.
struct TensorAccess {
  std::string name, pointer;
  std::string offset; ///< offset of the current batch
  int64_t row = 0;    ///< row stride in elements
  bool vectors = false, pairs = false;
};

class AttentionWriter {
public:
  AttentionWriter(KernelGenerator &plan, Operation *op)
      : plan(plan), op(op), element(elementOf(op->getOperand(0))) {
    auto q = shapeOf(op->getOperand(0)), k = shapeOf(op->getOperand(1)),
         v = shapeOf(op->getOperand(2));
    batch.assign(q.begin(), q.end() - 2);
    queries = q[q.size() - 2], keys = k[k.size() - 2], D = q.back(), E = v.back();
    depth = roundUp(D, 16), width = roundUp(E, 16);
    bytes = element.isF32() ? 4 : 2;
    pad = 16 / bytes;
    // The operands may be rounded to tf32 if an option or an attribute permits it.
    rounds = element.isF32() && (plan.options.tf32 || op->hasAttr(kMathAttr));
  }

  void forward() {
    rows = 64;
    // With few queries, most rows of a larger block would be unused.
    if (queries <= 16)
      rows = 16;
    chooseColumns(depth, width);
    begin(queries);
    TensorAccess q = operand("q", 0), k = operand("k", 1), v = operand("v", 2);
    std::optional<TensorAccess> y = result("to_y", 0), lse = result("lse", 1);
    masks(3);
    tiles({{"q_tile", rows, depth}, {"k_tile", columns, depth}, {"v_tile", columns, width}});
    text(R"(  float m[2] = {-INF, -INF}, l[2] = {0, 0}, o[width / 2];
  for (int i = 0; i < width / 2; ++i) o[i] = 0;
)");
    load("q_tile", q, "first", "rows", "depth", "queries", "D");
    load("k_tile", k, "0", "columns", "depth", "keys", "D");
    text("  for (index start = 0; start < limit; start += columns) {\n"
         "    dk::wait_for_all_copies();\n    __syncthreads();\n");
    load("v_tile", v, "start", "columns", "width", "keys", "E");
    text(R"(    float s[columns / 2];
    for (int i = 0; i < columns / 2; ++i) s[i] = 0;
    products::template times<columns, depth, depth_pitch>(s, q_tile + warp * 16 * depth_pitch, k_tile, lane);
    dk::wait_for_all_copies();
    __syncthreads();
)");
    text("    if (start + columns < limit) {\n");
    load("k_tile", k, "start + columns", "columns", "depth", "keys", "D");
    text(R"(    }
    for (int half = 0; half < 2; ++half) {
      const index query = first + warp * 16 + lane / 4 + half * 8;
      float best = m[half];
      for (int i = 0; i < columns / 8; ++i)
        for (int j = 0; j < 2; ++j) {
          float &score = s[i * 4 + half * 2 + j];
          const index key = start + i * 8 + lane % 4 * 2 + j;
          score = seen(query, key) ? score * scale + bias(query, key) : -INF;
          best = dk::largest::of(best, score);
        }
      best = dk::warp_reduce<dk::largest, 4>(best);
      const float base = best == -INF ? 0.0f : best, factor = dk::exp(m[half] - base);
      m[half] = best;
      l[half] *= factor;
      for (int i = 0; i < columns / 8; ++i)
        for (int j = 0; j < 2; ++j) {
          float &score = s[i * 4 + half * 2 + j];
          score = dk::exp(score - base);
          l[half] += score;
        }
      for (int i = 0; i < width / 8; ++i)
        for (int j = 0; j < 2; ++j) o[i * 4 + half * 2 + j] *= factor;
    }
    products::template add<columns, width, width_pitch>(o, s, v_tile, lane);
  }
  float inverse[2];
  for (int half = 0; half < 2; ++half) {
    l[half] = dk::warp_reduce<dk::sum, 4>(l[half]);
    inverse[half] = l[half] == 0 ? 0.0f : 1.0f / l[half];
)");
    if (lse)
      text("    const index query = first + warp * 16 + lane / 4 + half * 8;\n"
           "    if (lane % 4 == 0 && query < queries) " +
           lse->pointer + "[batch * queries + query] = m[half] + dk::log(l[half]);\n");
    text("  }\n");
    if (y)
      store(*y, "width", "queries", "E", "o", "inverse");
    end(queries);
  }

  void backward() {
    Value dq = op->getResult(0), dk = op->getResult(1), dv = op->getResult(2);
    bool wantsDq = bool(yieldedOf(dq)), wantsDk = bool(yieldedOf(dk)),
         wantsDv = bool(yieldedOf(dv));
    Buffer shares = plan.scratch(Float32Type::get(op->getContext()), multiplyDims(batch) * queries);
    writeShares(shares);
    if (wantsDq)
      alongKeys(shares);
    // If the head sizes are small, the registers can hold the sums of both dk and dv.
    if (wantsDk && wantsDv && depth + width <= 256) {
      alongQueries(shares, true, true);
    } else {
      if (wantsDk)
        alongQueries(shares, true, false);
      if (wantsDv)
        alongQueries(shares, false, true);
    }
  }

private:
  // Computes sum(dy * y) of each row. The gradient of the row's scores subtracts this sum.
  void writeShares(const Buffer &shares) {
    rows = 16, columns = 16;
    begin(queries, /*blockThreads=*/128);
    TensorAccess y = operand("y", 3), dy = operand("dy", 5);
    frame->write(shares.name);
    text(
        R"(  for (index row = first + warp; row < first + rows && row < queries; row += threads / 32) {
    float sum = 0;
    for (int e = lane; e < E; e += 32) sum += dk::load(y[row * )" +
        std::to_string(y.row) + " + e]) * dk::load(dy[row * " + std::to_string(dy.row) + R"( + e]);
    sum = dk::warp_reduce<dk::sum, 32>(sum);
    if (lane == 0) )" +
        shares.name + "[batch * queries + row] = sum;\n  }\n");
    end(queries);
  }

  void alongKeys(const Buffer &shares) {
    rows = 64;
    chooseColumns({depth, width}, depth);
    begin(queries);
    TensorAccess q = operand("q", 0), k = operand("k", 1), v = operand("v", 2),
                 dy = operand("dy", 5);
    TensorAccess lse = operand("lse", 4), dq = *result("to_q", 0);
    frame->use(shares.name);
    masks(6);
    tiles({{"q_tile", rows, depth},
           {"dy_tile", rows, width},
           {"k_tile", columns, depth},
           {"v_tile", columns, width}});
    text(R"(  float o[depth / 2], sums[2], shares[2], factors[2] = {scale, scale};
  for (int i = 0; i < depth / 2; ++i) o[i] = 0;
  for (int half = 0; half < 2; ++half) {
    const index query = first + warp * 16 + lane / 4 + half * 8, at = batch * queries + query;
    sums[half] = query < queries ? dk::largest::of(lse[at], -3.402823466e38f) : 0.0f;
    shares[half] = query < queries ? )" +
         shares.name + R"([at] : 0.0f;
  }
)");
    load("q_tile", q, "first", "rows", "depth", "queries", "D");
    load("dy_tile", dy, "first", "rows", "width", "queries", "E");
    text("  for (index start = 0; start < limit; start += columns) {\n    __syncthreads();\n");
    load("k_tile", k, "start", "columns", "depth", "keys", "D");
    load("v_tile", v, "start", "columns", "width", "keys", "E");
    text(R"(    dk::wait_for_all_copies();
    __syncthreads();
    float s[columns / 2], d[columns / 2];
    for (int i = 0; i < columns / 2; ++i) s[i] = d[i] = 0;
    products::template times<columns, depth, depth_pitch>(s, q_tile + warp * 16 * depth_pitch, k_tile, lane);
    products::template times<columns, width, width_pitch>(d, dy_tile + warp * 16 * width_pitch, v_tile, lane);
    for (int i = 0; i < columns / 2; ++i) {
      const int half = i % 4 / 2;
      const index query = first + warp * 16 + lane / 4 + half * 8, key = start + i / 4 * 8 + lane % 4 * 2 + i % 2;
      const float p = seen(query, key) ? dk::exp(s[i] * scale + bias(query, key) - sums[half]) : 0.0f;
      d[i] = p * (d[i] - shares[half]);
    }
    products::template add<columns, depth, depth_pitch>(o, d, k_tile, lane);
  }
)");
    store(dq, "depth", "queries", "D", "o", "factors");
    end(queries);
  }

  void alongQueries(const Buffer &shares, bool wantsDk, bool wantsDv) {
    rows = 64;
    chooseColumns({depth, width}, (wantsDk ? depth : 0) + (wantsDv ? width : 0));
    begin(keys);
    TensorAccess q = operand("q", 0), k = operand("k", 1), v = operand("v", 2),
                 dy = operand("dy", 5), lse = operand("lse", 4);
    frame->use(shares.name);
    masks(6);
    tiles({{"k_tile", rows, depth},
           {"v_tile", rows, width},
           {"q_tile", columns, depth},
           {"dy_tile", columns, width}});
    text("  float *sums = (float *)(dy_tile + columns * width_pitch), *shares = sums + columns;\n"
         "  float factors[2] = {scale, scale}, one[2] = {1, 1};\n");
    if (wantsDk)
      text("  float o_k[depth / 2];\n  for (int i = 0; i < depth / 2; ++i) o_k[i] = 0;\n");
    if (wantsDv)
      text("  float o_v[width / 2];\n  for (int i = 0; i < width / 2; ++i) o_v[i] = 0;\n");
    load("k_tile", k, "first", "rows", "depth", "keys", "D");
    if (wantsDk)
      load("v_tile", v, "first", "rows", "width", "keys", "E");
    // With a causal mask, earlier queries are masked for all keys of the block.
    text(std::string("  for (index start = ") + (causal() ? "first / columns * columns" : "0") +
         "; start < queries; start += columns) {\n    __syncthreads();\n");
    load("q_tile", q, "start", "columns", "depth", "queries", "D");
    load("dy_tile", dy, "start", "columns", "width", "queries", "E");
    text(R"(    for (int i = threadIdx.x; i < columns; i += threads) {
      const index query = start + i, at = batch * queries + query;
      sums[i] = query < queries ? dk::largest::of(lse[at], -3.402823466e38f) : 0.0f;
      shares[i] = query < queries ? )" +
         shares.name + R"([at] : 0.0f;
    }
    dk::wait_for_all_copies();
    __syncthreads();
    float s[columns / 2];
    for (int i = 0; i < columns / 2; ++i) s[i] = 0;
    products::template times<columns, depth, depth_pitch>(s, k_tile + warp * 16 * depth_pitch, q_tile, lane);
    for (int i = 0; i < columns / 2; ++i) {
      const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const index query = start + column, key = first + warp * 16 + lane / 4 + i % 4 / 2 * 8;
      s[i] = seen(query, key) ? dk::exp(s[i] * scale + bias(query, key) - sums[column]) : 0.0f;
    }
)");
    if (wantsDv)
      text("    products::template add<columns, width, width_pitch>(o_v, s, dy_tile, lane);\n");
    if (wantsDk)
      text(R"(    float d[columns / 2];
    for (int i = 0; i < columns / 2; ++i) d[i] = 0;
    products::template times<columns, width, width_pitch>(d, v_tile + warp * 16 * width_pitch, dy_tile, lane);
    for (int i = 0; i < columns / 2; ++i) d[i] = s[i] * (d[i] - shares[i / 4 * 8 + lane % 4 * 2 + i % 2]);
    products::template add<columns, depth, depth_pitch>(o_k, d, q_tile, lane);
)");
    text("  }\n");
    if (wantsDk)
      store(*result("to_k", 1), "depth", "keys", "D", "o_k", "factors");
    if (wantsDv)
      store(*result("to_v", 2), "width", "keys", "E", "o_v", "one");
    end(keys);
  }

  bool causal() const { return op->hasAttr("causal"); }

  /// Chooses the number of columns of a tile such that all tiles fit in shared memory and the sums
  /// fit in registers. The tiles include those with `rows` rows and the depths `held`. A thread has
  /// `sums` / 2 sums per row.
  void chooseColumns(ArrayRef<int64_t> held, int64_t sums) {
    columns = (element.isF32() && !rounds) || sums > 128 ? 32 : 64;
    auto total = [&] {
      int64_t elements = columns * (depth + width + 2 * pad);
      for (int64_t size : held)
        elements += rows * (size + pad);
      return elements * bytes + 2 * columns * 4;
    };
    while (columns > 16 && total() > kShared)
      columns /= 2;
    while (total() > kShared && rows > 16)
      rows /= 2;
  }

  void begin(int64_t along, int64_t blockThreads = 0) {
    frame.emplace(plan);
    shared = 0;
    std::string I = plan.indexType, tileCount = std::to_string((along + rows - 1) / rows);
    threads = blockThreads ? blockThreads : rows * 2;
    number("threads", threads);
    number("queries", queries), number("keys", keys), number("D", D), number("E", E);
    number("depth", depth), number("width", width);
    number("depth_pitch", depth + pad), number("width_pitch", width + pad);
    number("rows", rows), number("columns", columns);
    text("  typedef " + I + " index;\n  typedef " + getStorageTypeName(element) + " element;\n" +
         "  typedef dk::warp_products<element, " + (rounds ? "true" : "false") + "> products;\n" +
         "  const float scale = " + formatLiteral(Float32Type::get(op->getContext()), scaleOf()) +
         ", INF = dk::float_of(0x7f800000u);\n" +
         "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n" +
         "  const index first = (index)(blockIdx.x % " + tileCount +
         ") * rows, batch = blockIdx.x / " + tileCount + ";\n");
  }

  void number(const char *name, int64_t value) {
    text(std::string("  constexpr int ") + name + " = " + std::to_string(value) + ";\n");
  }
  /// Appends CUDA text. Loops over a thread's register arrays get `#pragma unroll`, because
  /// registers cannot be indexed at run time.
  void text(StringRef more) {
    while (!more.empty()) {
      auto [line, rest] = more.split('\n');
      if (line.ltrim().starts_with("for (int ") && !line.contains("threadIdx") &&
          !line.contains("= lane"))
        frame->t.append("#pragma unroll\n");
      frame->t.append(line.str() + "\n");
      more = rest;
    }
  }

  double scaleOf() const { return op->getAttrOfType<FloatAttr>("scale").getValueAsDouble(); }

  /// Returns the offset of the current batch. The last of `strides` is that of the last batch
  /// dimension.
  std::string batchOffset(ArrayRef<int64_t> strides, int64_t offset) const {
    std::string sum = std::to_string(offset);
    int64_t inner = 1;
    for (int64_t d = int64_t(batch.size()) - 1, s = int64_t(strides.size()) - 1; d >= 0; --d, --s) {
      if (s >= 0 && strides[s] != 0 && batch[d] != 1)
        sum += " + (index)(batch / " + std::to_string(inner) + " % " + std::to_string(batch[d]) +
               ") * " + std::to_string(strides[s]);
      inner *= batch[d];
    }
    return sum;
  }

  TensorAccess placeOf(const std::string &pointer, const Buffer &buffer, const StridedView &view,
                       bool isWritten) {
    frame->use(buffer.name);
    TensorAccess place{buffer.name, pointer, {}, 0, false, false};
    if (pointer == "lse") {
      // The log-sum-exp statistics have one contiguous element per row.
      text("  " + std::string(isWritten ? "" : "const ") + "float *" + pointer + " = " +
           buffer.name + ";\n");
      return place;
    }
    ArrayRef<int64_t> strides = view.strides;
    place.row = strides[strides.size() - 2];
    place.offset = batchOffset(strides.drop_back(2), view.offset);
    auto together = [&](int64_t count) {
      return buffer.alignment % (count * bytes) == 0 && view.shape.back() % count == 0 &&
             view.offset % count == 0 &&
             llvm::all_of(strides.drop_back(), [&](int64_t stride) { return stride % count == 0; });
    };
    place.vectors = together(pad), place.pairs = together(2);
    text("  " + std::string(isWritten ? "" : "const ") + "element *" + pointer + " = " +
         buffer.name + " + " + place.offset + ";\n");
    return place;
  }

  TensorAccess operand(const std::string &pointer, unsigned number) {
    StridedView view = *matchStridedView(op->getOperand(number));
    return placeOf(pointer, plan.known[view.base], view, false);
  }

  std::optional<TensorAccess> result(const std::string &pointer, unsigned number) {
    if (number >= op->getNumResults())
      return std::nullopt;
    Value value = op->getResult(number);
    std::optional<unsigned> yielded = yieldedOf(value);
    if (!yielded)
      return std::nullopt;
    Value last = bodyOf(plan.fusion).getTerminator()->getOperand(*yielded);
    return placeOf(pointer,
                   {"out" + std::to_string(*yielded), elementOf(last), outputAlignment(*yielded)},
                   *matchStridedDestination(value, last), true);
  }

  std::optional<unsigned> yieldedOf(Value value) const {
    for (auto [i, yielded] : llvm::enumerate(bodyOf(plan.fusion).getTerminator()->getOperands()))
      if (findAttentionResult(yielded, op) == value)
        return unsigned(i);
    return std::nullopt;
  }

  int64_t outputAlignment(unsigned output) const {
    size_t at = plan.fusion.getBody().getNumArguments() + output;
    return at < plan.options.alignments.size() ? plan.options.alignments[at] : 16;
  }

  /// Emits functions `seen` (mask) and `bias` of a query and a key, and the end of the block's
  /// range of keys.
  void masks(unsigned operandNumber) {
    std::string condition = "key < keys && query < queries", added = "0.0f";
    if (causal())
      condition += " && key <= query";
    if (operandNumber < op->getNumOperands()) {
      Value mask = op->getOperand(operandNumber);
      StridedView view = *matchStridedView(mask);
      for (size_t d = 0; d < view.shape.size(); ++d)
        if (view.shape[d] == 1)
          view.strides[d] = 0;
      SmallVector<int64_t> strides(2, 0);
      strides.append(view.strides.begin(), view.strides.end());
      Buffer buffer = plan.known[view.base];
      frame->use(buffer.name);
      text("  const " + getStorageTypeName(buffer.element) + " *mask = " + buffer.name + " + " +
           batchOffset(ArrayRef<int64_t>(strides).drop_back(2), view.offset) + ";\n");
      std::string at = "dk::load(mask[query * " + std::to_string(strides[strides.size() - 2]) +
                       " + key * " + std::to_string(strides.back()) + "])";
      if (buffer.element.isInteger(1))
        condition += " && " + at;
      else
        added = at;
    }
    text("  auto seen = [&](index query, index key) -> bool { return " + condition + "; };\n" +
         "  auto bias = [&](index query, index key) -> float { return " + added + "; };\n");
    text(std::string("  const index limit = ") +
         (causal() ? "first + rows < keys ? first + rows : keys" : "keys") + ";\n");
  }

  struct Tile {
    const char *name;
    int64_t lines, depth;
  };
  void tiles(ArrayRef<Tile> list) {
    text("  extern __shared__ __align__(16) unsigned char memory[];\n");
    for (const Tile &tile : list) {
      text("  element *" + std::string(tile.name) + " = (element *)(memory + " +
           std::to_string(shared) + ");\n");
      shared += tile.lines * (tile.depth + pad) * bytes;
    }
    shared += 2 * columns * 4;
  }

  void load(const char *tile, const TensorAccess &from, const std::string &start,
            const std::string &lines, const std::string &depthName, const std::string &count,
            const std::string &size) {
    std::string row = std::to_string(from.row);
    text("    dk::load_lines<" + lines + ", " + depthName + ", " + depthName + "_pitch, threads, " +
         (from.vectors ? "true" : "false") + ">(" + tile + ", " + from.pointer + " + (index)(" +
         start + ") * " + row + ", (index)" + row + ", (index)(" + count + " - (" + start + ")), " +
         size + ");\n");
  }

  void store(const TensorAccess &to, const std::string &widthName, const std::string &count,
             const std::string &size, const std::string &sums, const std::string &factors) {
    text("  dk::store_rows<" + widthName + ", " + (to.pairs ? "true" : "false") + ">(" +
         to.pointer + ", (index)" + std::to_string(to.row) + ", first + warp * 16, (index)" +
         count + ", " + size + ", " + sums + ", " + factors + ", lane);\n");
  }

  void end(int64_t along) {
    int64_t blocks = (along + rows - 1) / rows * multiplyDims(batch);
    plan.include("warp_products.cuh");
    frame->finish({uint32_t(blocks), 1, 1}, {uint32_t(threads), 1, 1}, uint32_t(shared));
    frame.reset();
  }

  KernelGenerator &plan;
  Operation *op;
  Type element;
  SmallVector<int64_t> batch;
  int64_t queries, keys, D, E, depth, width, bytes, pad;
  bool rounds;
  int64_t rows = 64, columns = 64, threads = 128, shared = 0;
  std::optional<LaunchBuilder> frame;
};

} // namespace

Operation *findAttention(FusionOp fusion) {
  for (Operation &op : bodyOf(fusion).without_terminator())
    if (isAttention(&op))
      return &op;
  return nullptr;
}

bool canGenerateAttention(FusionOp fusion, Operation *attention, std::string *why) {
  auto no = [&](const char *reason) {
    if (why)
      *why = reason;
    return false;
  };
  if (!canFuseAttention(attention, why))
    return false;
  for (Operation &op : bodyOf(fusion).without_terminator())
    if (&op != attention && !op.hasTrait<ViewLike>())
      return no(
          "attention can only be fused with changes of the layout of its operands and results");
  unsigned plain = isa<AttentionGradOp>(attention) ? 6 : 3;
  for (OpOperand &operand : attention->getOpOperands()) {
    auto view = matchStridedView(operand.get());
    if (!view || !isa<BlockArgument>(view->base) ||
        (operand.getOperandNumber() < plain && !hasContiguousRows(*view)) ||
        (isa<AttentionGradOp>(attention) && operand.getOperandNumber() == 4 &&
         !isa<BlockArgument>(operand.get())))
      return no("attention requires operands with contiguous rows");
  }
  llvm::DenseSet<Value> found;
  for (Value yielded : bodyOf(fusion).getTerminator()->getOperands()) {
    OpResult result = findAttentionResult(yielded, attention);
    auto view = result ? matchStridedDestination(result, yielded) : std::nullopt;
    bool isSum = result && isa<AttentionTrainOp>(attention) && result.getResultNumber() == 1;
    if (!view || !found.insert(result).second ||
        (isSum ? yielded != result : !hasContiguousRows(*view)))
      return no("attention requires that each result is stored once, with contiguous rows");
  }
  return true;
}

void emitAttentionKernel(KernelGenerator &plan, Operation *attention) {
  plan.kernel.flops = estimateFlops(attention);
  AttentionWriter writer(plan, attention);
  if (isa<AttentionGradOp>(attention))
    writer.backward();
  else
    writer.forward();
}

} // namespace dlc::cuda
