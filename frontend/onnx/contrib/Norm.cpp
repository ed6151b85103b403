//===- Norm.cpp - fused normalizations of sums and of embeddings ----------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Default of the attribute `epsilon` in the schemas of these operators.
constexpr double usualEpsilon = 1e-12f;

/// Sets the outputs for the mean and the inverse standard deviation of `sum` over the last
/// dimension. If `centre` is not set, the mean is neither subtracted nor output.
void setStatistics(Node &n, Build &b, Value sum, bool centre, double eps) {
  Value x = b.widen(sum);
  int64_t last = b.rank(x) - 1;
  auto mean = [&](Value v) { return b.reduce(ReduceKind::mean, v, {last}, true); };
  if (centre && (n.hasOutput(1) || n.hasOutput(2))) {
    Value middle = mean(x);
    n.set(1, middle);
    x = b.sub(x, middle);
  }
  if (n.hasOutput(2))
    n.set(2, b.unary<RsqrtOp>(b.add(mean(b.mul(x, x)), eps)));
}

/// SkipLayerNormalization: normalizes input + skip (+ bias). The skip may lack the batch dimension
/// or have a batch size of 1.
void skipNorm(Node &n, Build &b, bool centre, Value bias) {
  Value x = n.in(0), skip = n.in(1), gamma = n.in(2), beta = centre ? n.in(3) : Value();
  int64_t rank = b.rank(x), hidden = rank ? b.dim(x, -1) : 0;
  if (!b.require(rank == 2 || rank == 3,
                 "the input must have rank 2 or 3, and has rank " + Twine(rank)))
    return;
  ArrayRef<int64_t> shape = b.shape(x), other = b.shape(skip);
  bool fits =
      other == shape || (rank == 3 && other == shape.drop_front()) ||
      (rank == 3 && other.size() == 3 && other[0] == 1 && other.drop_front() == shape.drop_front());
  if (!b.require(fits, "the skip must have the input's shape, with or without the batch"))
    return;
  for (Value v : {gamma, beta, bias})
    if (!b.require(!v || (b.rank(v) == 1 && b.count(v) == hidden),
                   "gamma, beta and bias must have " + Twine(hidden) + " elements"))
      return;
  Value sum = b.add(x, skip);
  if (bias)
    sum = b.add(sum, bias);
  double eps = n.real("epsilon", usualEpsilon);
  n.set(0, centre ? layerNorm(b, sum, gamma, beta, rank - 1, eps)
                  : rmsNorm(b, sum, gamma, rank - 1, eps));
  setStatistics(n, b, sum, centre, eps);
  n.set(3, sum);
}

void skipLayerNormalization(Node &n, Build &b) { skipNorm(n, b, true, n.in(4)); }
void skipSimplifiedLayerNormalization(Node &n, Build &b) { skipNorm(n, b, false, n.in(3)); }

/// An embedding table, which may be quantized: its rows are dequantized after the lookup with the
/// scale and the zero point.
struct EmbeddingTable {
  Value rows;
  QuantizationParams by;
};

Value lookUpRows(Build &b, const EmbeddingTable &table, Value indices) {
  if (!b.require(b.rank(table.rows) == 2, "an embedding must be a matrix"))
    return {};
  Value found = gatherAlong(b, table.rows, indices, 0);
  return table.by.scale ? buildDequantize(b, found, table.by) : found;
}

/// EmbedLayerNormalization: normalizes the sum of the word, position and segment embeddings.
/// Position ids default to 0, 1, ....
void embed(Node &n, Build &b, const EmbeddingTable &word, const EmbeddingTable &position,
           const EmbeddingTable &segment, Value gamma, Value beta, Value mask, Value positions,
           bool countMask) {
  Value ids = n.in(0), segments = n.in(1);
  if (!b.require(b.rank(ids) == 2, "input_ids must be [batch, sequence]") ||
      !b.require(bool(segments) == bool(segment.rows),
                 "segment ids and the segments' embedding must be given together"))
    return;
  int64_t batch = b.dim(ids, 0), length = b.dim(ids, 1);
  Value sum = lookUpRows(b, word, ids);
  sum = b.add(sum, lookUpRows(b, position, positions ? positions : b.iota(b.i64, {length}, 0)));
  if (segments)
    sum = b.add(sum, lookUpRows(b, segment, segments));
  n.set(0, layerNorm(b, sum, gamma, beta, 2, n.real("epsilon", usualEpsilon)));
  if (mask && countMask) {
    Value one = b.cast(b.compare(Predicate::eq, mask, b.like(mask, 1)), b.i32);
    n.set(1, b.reduce(ReduceKind::sum, one, {1}, false));
  } else {
    n.set(1, b.splat(b.i32, {batch}, 0));
  }
  n.set(2, sum);
}

void embedLayerNormalization(Node &n, Build &b) {
  embed(n, b, {n.in(2), {}}, {n.in(3), {}}, {n.in(4), {}}, n.in(5), n.in(6), n.in(7), n.in(8),
        n.integer("mask_index_type", 1) != 0);
}

void qEmbedLayerNormalization(Node &n, Build &b) {
  auto quantization = [&](int64_t of, int64_t scale) {
    return n.has(of) ? readQuantization(n, b, scale, scale + 5, b.elem(n.in(of)))
                     : QuantizationParams{};
  };
  auto table = [&](int64_t of, int64_t scale) {
    return EmbeddingTable{n.in(of), quantization(of, scale)};
  };
  auto vector = [&](int64_t of, int64_t scale) {
    return b.require(n.has(of), "gamma and beta must be given")
               ? buildDequantize(b, n.in(of), quantization(of, scale))
               : Value();
  };
  EmbeddingTable word = table(2, 8), position = table(3, 9), segment = table(4, 10);
  Value gamma = vector(5, 11), beta = vector(6, 12);
  if (b.ok())
    embed(n, b, word, position, segment, gamma, beta, n.in(7), {}, true);
}

/// GatedRMSNorm: an RMS norm along the last dimension in f32, times sigmoid(gate). With the
/// activation `silu` the result is also multiplied by the gate.
void gatedRmsNorm(Node &n, Build &b) {
  Value x = n.in(0), scale = n.in(1), gate = n.in(2);
  std::string name = n.string("activation", "silu");
  int64_t width = b.count(scale);
  if (name != "silu" && name != "swish" && name != "sigmoid")
    return n.unsupported("activation", name, "silu, swish, sigmoid");
  if (!b.require(b.rank(x) >= 1 && b.rank(scale) == 1 && width > 0 && b.dim(x, -1) % width == 0,
                 "the scale must have one dimension, whose size divides the input's last") ||
      !b.require(b.shape(gate) == b.shape(x), "the gate must have the input's shape"))
    return;
  Value rows = b.reshape(b.widen(x), {b.count(x) / width, width});
  Value y = b.reshape(rmsNorm(b, rows, b.widen(scale), 1, n.real("epsilon", 1e-5f)), b.shape(x));
  Value wide = b.widen(gate), open = b.sigmoid(wide);
  n.set(0, b.cast(b.mul(y, name == "sigmoid" ? open : b.mul(wide, open)), b.elem(x)));
}

/// BranchwiseRMSNorm: an RMS norm of each branch of x [.., branches, width] or [.., branches *
/// width], in f32.
void branchwiseRmsNorm(Node &n, Build &b) {
  Value x = n.in(0), scale = n.in(1);
  int64_t rank = b.rank(x), branches = n.integer("num_branches", 0);
  if (branches == 0 && rank >= 2)
    branches = b.dim(x, -2);
  else if (branches > 0 && rank >= 1 && b.dim(x, -1) % branches != 0)
    branches = 0;
  if (!b.require(branches > 0 && b.count(x) > 0,
                 "the input must have rank 2 or more, or 'num_branches' divide its last dimension"))
    return;
  int64_t width = b.dim(x, -1) / (n.integer("num_branches", 0) ? branches : 1);
  if (!b.require(!scale || b.count(scale) == width || b.count(scale) == branches * width,
                 "the scale must have " + Twine(width) + " or " + Twine(branches * width) +
                     " elements"))
    return;
  Value rows = b.reshape(b.widen(x), {b.count(x) / (branches * width), branches, width});
  Value y = rmsNorm(b, rows, b.splat(b.elem(rows), {width}, 1), 2, n.real("epsilon", 1e-5f));
  if (scale)
    y = b.mul(y, b.reshape(b.widen(scale), {b.count(scale) / width, width}));
  n.set(0, b.cast(b.reshape(y, b.shape(x)), b.elem(x)));
}

const Operator table[] = {
    {"GatedRMSNorm", 3, gatedRmsNorm, "activation epsilon"},
    {"BranchwiseRMSNorm", 1, branchwiseRmsNorm, "epsilon num_branches"},
    {"SkipLayerNormalization", 3, skipLayerNormalization, "epsilon"},
    {"SkipSimplifiedLayerNormalization", 3, skipSimplifiedLayerNormalization, "epsilon"},
    {"EmbedLayerNormalization", 1, embedLayerNormalization, "epsilon mask_index_type"},
    {"QEmbedLayerNormalization", 1, qEmbedLayerNormalization, "epsilon"},
};

} // namespace

ArrayRef<Operator> fusedNormOperators() { return table; }

} // namespace dlc::onnxfront
