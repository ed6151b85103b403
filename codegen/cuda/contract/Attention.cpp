//===- Attention.cpp - attention whose scores are never stored in memory ---===//
//
// A thread block computes several rows of queries and iterates over the keys in tiles. Scores and
// weights stay in registers, in which the result is accumulated as well (Dao et al.,
// FlashAttention-2). The gradient recomputes the scores from the statistics that the forward kernel
// saved for each row: once for dq, iterating over the keys, and once for dk and dv, iterating over
// the queries. Each sum is thus computed by a single block, and all runs give the same results.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/contract/Attention.h"

#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/StridedView.h"
#include "passes/fuse/attention/FusedAttention.h"
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
    SmallVector<std::string> arguments{operand("q", 0), operand("k", 1), operand("v", 2),
                                       result("to_y", 0), result("lse", 1)};
    masks(3, arguments);
    parameters.flag("has_y", yieldedOf(0).has_value());
    parameters.flag("has_lse", yieldedOf(1).has_value());
    end("attention_forward", queries, arguments, depth);
  }

  void backward() {
    bool wantsDq = yieldedOf(0).has_value(), wantsDk = yieldedOf(1).has_value(),
         wantsDv = yieldedOf(2).has_value();
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
    SmallVector<std::string> arguments{operand("y", 3), operand("dy", 5), shares.name};
    frame->write(shares.name);
    end("attention_shares", queries, arguments);
  }

  void alongKeys(const Buffer &shares) {
    rows = 64;
    chooseColumns({depth, width}, depth);
    begin(queries);
    SmallVector<std::string> arguments{operand("q", 0),  operand("k", 1),   operand("v", 2),
                                       operand("dy", 5), operand("lse", 4), shares.name,
                                       result("to_q", 0)};
    frame->use(shares.name);
    masks(6, arguments);
    end("attention_query_grad", queries, arguments, {depth, width});
  }

  void alongQueries(const Buffer &shares, bool wantsDk, bool wantsDv) {
    rows = 64;
    chooseColumns({depth, width}, (wantsDk ? depth : 0) + (wantsDv ? width : 0));
    begin(keys);
    SmallVector<std::string> arguments{operand("q", 0),  operand("k", 1),   operand("v", 2),
                                       operand("dy", 5), operand("lse", 4), shares.name};
    frame->use(shares.name);
    arguments.push_back(wantsDk ? result("to_k", 1) : kNoRows);
    arguments.push_back(wantsDv ? result("to_v", 2) : kNoRows);
    masks(6, arguments);
    parameters.flag("has_k", wantsDk);
    parameters.flag("has_v", wantsDv);
    end("attention_key_grad", keys, arguments, {depth, width});
  }

  bool causal() const { return op->hasAttr("causal"); }

  /// Returns the bytes of shared memory for all tiles and for the statistics of a tile's columns.
  /// `held`: depth of each tile that has `rows` rows.
  int64_t sharedBytes(ArrayRef<int64_t> held) const {
    int64_t elements = columns * (depth + width + 2 * pad);
    for (int64_t size : held)
      elements += rows * (size + pad);
    return elements * bytes + 2 * columns * 4;
  }

  /// Chooses the number of columns of a tile such that all tiles fit in shared memory and the sums
  /// fit in registers. `held`: depth of each tile that has `rows` rows. `sums`: twice the number of
  /// sums per row that a thread accumulates.
  void chooseColumns(ArrayRef<int64_t> held, int64_t sums) {
    columns = (element.isF32() && !rounds) || sums > 128 ? 32 : 64;
    while (columns > 16 && sharedBytes(held) > kShared)
      columns /= 2;
    while (sharedBytes(held) > kShared && rows > 16)
      rows /= 2;
  }

  void begin(int64_t along, int64_t blockThreads = 0) {
    frame.emplace(plan);
    threads = blockThreads ? blockThreads : rows * 2;
    parameters = TemplateParameters(plan.indexType);
    parameters.type("element", getStorageTypeName(element));
    parameters.type("products",
                    Twine("dk::warp_products<element, ") + (rounds ? "true>" : "false>"));
    for (auto [name, value] : {std::pair("threads", threads),
                               {"queries", queries},
                               {"keys", keys},
                               {"depth", depth},
                               {"width", width},
                               {"depth_size", D},
                               {"width_size", E},
                               {"rows", rows},
                               {"columns", columns}})
      parameters.number(name, value);
    parameters.flag("causal", causal());
    parameters.function("float", "scale",
                        formatLiteral(Float32Type::get(op->getContext()), scaleOf()));
    frame->t.line("typedef " + plan.indexType + " index;");
    frame->t.line("const index batch = blockIdx.x / " + Twine((along + rows - 1) / rows) + ";");
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

  /// Declares the variable `name`, a matrix whose rows are in the buffer, and returns the name.
  std::string rowsOf(const std::string &name, const Buffer &buffer, const StridedView &view,
                     bool isWritten) {
    frame->use(buffer.name);
    // The log-sum-exp statistics have one contiguous element per row.
    if (name == "lse")
      return buffer.name;
    ArrayRef<int64_t> strides = view.strides;
    auto together = [&](int64_t count) {
      bool yes =
          buffer.alignment % (count * bytes) == 0 && view.shape.back() % count == 0 &&
          view.offset % count == 0 &&
          llvm::all_of(strides.drop_back(), [&](int64_t stride) { return stride % count == 0; });
      return yes ? ", true" : ", false";
    };
    frame->t.line(Twine("const dk::matrix_rows<") + (isWritten ? "" : "const ") +
                  getStorageTypeName(element) + ", " + Twine(strides[strides.size() - 2]) +
                  together(pad) + together(2) + "> " + name + " = {" + buffer.name + " + " +
                  batchOffset(strides.drop_back(2), view.offset) + "};");
    return name;
  }

  std::string operand(const std::string &name, unsigned number) {
    StridedView view = *matchStridedView(op->getOperand(number));
    return rowsOf(name, plan.known[view.base], view, false);
  }

  /// Returns the argument for a result, which may be absent.
  std::string result(const std::string &name, unsigned number) {
    std::optional<unsigned> yielded = yieldedOf(number);
    if (!yielded)
      return name == "lse" ? "nullptr" : kNoRows;
    Value last = bodyOf(plan.fusion).getTerminator()->getOperand(*yielded);
    return rowsOf(name,
                  {"out" + std::to_string(*yielded), elementOf(last), outputAlignment(*yielded)},
                  *matchStridedDestination(op->getResult(number), last), true);
  }

  /// Returns the index of the fusion's result that is a view of the attention's result.
  std::optional<unsigned> yieldedOf(unsigned number) const {
    if (number < op->getNumResults())
      for (auto [i, yielded] : llvm::enumerate(bodyOf(plan.fusion).getTerminator()->getOperands()))
        if (findAttentionResult(yielded, op) == op->getResult(number))
          return unsigned(i);
    return std::nullopt;
  }

  int64_t outputAlignment(unsigned output) const {
    size_t at = plan.fusion.getBody().getNumArguments() + output;
    return at < plan.options.alignments.size() ? plan.options.alignments[at] : 16;
  }

  /// Adds the arguments `seen` (mask) and `bias`, functions of a query and a key, and the shared
  /// memory.
  void masks(unsigned operandNumber, SmallVectorImpl<std::string> &arguments) {
    std::string condition =
        "key < " + std::to_string(keys) + " && query < " + std::to_string(queries);
    std::string added = "0.0f";
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
      frame->t.line("const " + getStorageTypeName(buffer.element) + " *mask = " + buffer.name +
                    " + " + batchOffset(ArrayRef<int64_t>(strides).drop_back(2), view.offset) +
                    ";");
      std::string at = "dk::load(mask[query * " + std::to_string(strides[strides.size() - 2]) +
                       " + key * " + std::to_string(strides.back()) + "])";
      if (buffer.element.isInteger(1))
        condition += " && " + at;
      else
        added = at;
    }
    frame->t.line("auto seen = [&](index query, index key) -> bool { return " + condition + "; };");
    frame->t.line("auto bias = [&](index query, index key) -> float { return " + added + "; };");
    frame->t.line("extern __shared__ __align__(16) unsigned char memory[];");
    arguments.append({"seen", "bias", "memory"});
  }

  void end(StringRef kernel, int64_t along, ArrayRef<std::string> arguments,
           ArrayRef<int64_t> held = {}) {
    int64_t blocks = (along + rows - 1) / rows * multiplyDims(batch);
    frame->instantiate("attention.cuh", kernel, parameters, arguments);
    frame->finish({uint32_t(blocks), 1, 1}, {uint32_t(threads), 1, 1},
                  held.empty() ? 0 : uint32_t(sharedBytes(held)));
    frame.reset();
  }

  /// Argument for a result that is not stored.
  static constexpr const char *kNoRows = "dk::matrix_rows<float, 0, false, false>()";

  KernelGenerator &plan;
  Operation *op;
  Type element;
  SmallVector<int64_t> batch;
  int64_t queries, keys, D, E, depth, width, bytes, pad;
  bool rounds;
  int64_t rows = 64, columns = 64, threads = 128;
  TemplateParameters parameters{plan.indexType};
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
