//===- Moe.cpp - mixture of experts ---------------------------------------===//
// Mixture of experts: rows are sorted by their experts, multiplied by the experts' weights in
// grouped matmuls, and summed with their weights in the original order.
#include "frontend/onnx/Families.h"
#include "frontend/onnx/contrib/Packed.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Input numbers of one layer of the experts in the node: weights, bias and zero points.
struct ExpertLayer {
  const char *name;
  /// Input numbers of the weights, the bias and the zero points. The zero points are -1 if the
  /// weights are floating-point.
  int64_t weights, bias, zeroPoints;
  int64_t scales() const { return weights + 1; }
};
struct ExpertLayers {
  ExpertLayer first, second;
};
constexpr ExpertLayers kFloats{{"fc1", 2, 3, -1}, {"fc2", 4, 5, -1}},
    kFewBits{{"fc1", 2, 4, 11}, {"fc2", 5, 7, 12}};

struct MoeSizes {
  int64_t rows, hidden, experts, chosen;
};

/// Returns the weights of one layer of all experts as [experts, n, k] in f32; null after an error.
Value readExpertWeights(Node &n, Build &b, const ExpertLayer &layer, const MoeSizes &s, int64_t k) {
  std::string what = layer.name;
  if (layer.zeroPoints < 0) {
    Value w = n.in(layer.weights);
    return b.require(b.rank(w) == 3 && b.dim(w, 0) == s.experts && b.dim(w, 2) == k,
                     what + ": weights must be [" + Twine(s.experts) + ", n, " + Twine(k) + "]")
               ? b.cast(w, b.f32)
               : Value();
  }
  Value bytes = n.in(layer.weights), scales = n.in(layer.scales());
  Packing p{n.integer(what + "_expert_weight_bits", n.integer("expert_weight_bits", 4)),
            n.integer("block_size", 0)};
  if (!b.require(p.bits == 2 || p.bits == 4 || p.bits == 8,
                 what + ": weights have 2, 4 or 8 bits, not " + Twine(p.bits)) ||
      !b.require(isBytes(b, bytes) && b.rank(bytes) == 3 && b.dim(bytes, 0) == s.experts &&
                     b.dim(bytes, 2) * p.perByte() == k,
                 what + ": weights must be bytes, [" + Twine(s.experts) + ", n, " +
                     Twine(k / p.perByte()) + "]") ||
      !b.require(p.block == 0 || (Build::isSane(p.block, 16) && k % p.block == 0),
                 "attribute 'block_size' must divide " + Twine(k) + " and be 16 or more, and is " +
                     Twine(p.block)))
    return {};
  int64_t each = b.dim(bytes, 1), blocks = p.block ? k / p.block : 1, columns = s.experts * each;
  if (!b.require(scales && b.isFloat(scales) && b.count(scales) == columns * blocks,
                 what + ": there must be " + Twine(columns * blocks) +
                     " scales, in floats, and there are " + Twine(scales ? b.count(scales) : 0)))
    return {};
  // With one scale per column instead of per block, zero points are packed along the columns.
  int64_t lines = p.block ? columns : s.experts, inLine = p.block ? blocks : each;
  Value zero =
      zeroPoints(b, n.in(layer.zeroPoints), b.reshape(scales, {lines, inLine}), lines, inLine, p);
  if (!b.ok())
    return {};
  Value numbers = unpackBits(b, b.reshape(bytes, {columns, blocks, k / blocks / p.perByte()}), p);
  zero = b.rank(zero) ? b.reshape(zero, {columns, blocks, 1}) : zero;
  Value all = buildDequantize(b, numbers, {b.reshape(scales, {columns, blocks, 1}), zero});
  return b.cast(b.reshape(all, {s.experts, each, k}), b.f32);
}

/// Computes one layer: a grouped matmul of the rows of each expert with the expert's weights, plus
/// the expert's bias.
Value product(Node &n, Build &b, const ExpertLayer &layer, const MoeSizes &s, Value x, Value expert,
              Value ends) {
  Value w = readExpertWeights(n, b, layer, s, b.dim(x, 1)), bias = n.in(layer.bias);
  if (!b.ok())
    return {};
  Value y = b.op<GroupedMatmulOp>({x, w, ends}, {b.attrUnit("transpose_b")});
  int64_t each = b.dim(w, 1);
  if (!bias || !b.require(b.shape(bias) == ArrayRef<int64_t>({s.experts, each}),
                          std::string(layer.name) + ": the bias must be [" + Twine(s.experts) +
                              ", " + Twine(each) + "]"))
    return y;
  return b.add(y, b.gather(b.cast(bias, b.f32), expert, 0));
}

/// SwiGLU activation of pairs of columns, a gate and a linear part. The pairs are interleaved or in
/// two halves.
Value swiglu(Node &n, Build &b, Value x) {
  int64_t fusion = n.integer("swiglu_fusion", 0), rows = b.dim(x, 0), wide = b.dim(x, 1) / 2;
  if (!b.require(fusion == 1 || fusion == 2,
                 "attribute 'swiglu_fusion' must be 1 or 2, since fc1 computes both halves") ||
      !b.require(wide * 2 == b.dim(x, 1), "fc1 must have an even number of columns"))
    return {};
  int64_t step = fusion == 1 ? 2 : 1, second = fusion == 1 ? 1 : wide;
  Value gate = b.slice(x, {0, 0}, {rows, wide}, {1, step}),
        linear = b.slice(x, {0, second}, {rows, wide}, {1, step});
  if (n.hasAttr("swiglu_limit")) {
    double limit = n.real("swiglu_limit", 0);
    gate = b.min(gate, b.like(gate, limit));
    linear = b.clamp(linear, -limit, limit);
  }
  Value open = b.mul(gate, b.sigmoid(b.mul(gate, n.real("activation_alpha", 1))));
  return b.mul(open, b.add(linear, n.real("activation_beta", 0)));
}

Value applyActivation(Node &n, Build &b, Value x) {
  std::string name = n.string("activation_type", "relu");
  if (name == "swiglu")
    return swiglu(n, b, x);
  if (name == "identity")
    return x;
  if (name == "relu")
    return b.max(x, b.like(x, 0));
  if (name == "silu")
    return b.mul(x, b.sigmoid(x));
  if (name == "gelu")
    return b.op<GeluOp>({x}, {b.attrUnit("approximate")});
  n.unsupported("activation_type", name, "relu, gelu, silu, swiglu, identity");
  return {};
}

bool hasUnsupportedAttribute(Node &n, Build &b) {
  if (std::string type = n.string("quant_type", "int"); type != "int") {
    n.unsupported("quant_type", type, "int");
    return true;
  }
  for (const char *name : {"use_sparse_mixer", "weights_prepacked"})
    if (n.integer(name, 0) > 0) {
      n.unsupported(name, Twine(n.integer(name, 0)), "0");
      return true;
    }
  constexpr int64_t kThird = 8, kRouterWeights = 14;
  for (int64_t i : {kThird, kThird + 1, kThird + 2, kThird + 5})
    if (!b.require(
            !n.has(i),
            "input " + Twine(i) +
                " is not supported: the third matmul must be fused with the first, as in swiglu"))
      return true;
  for (int64_t i = kRouterWeights + 1; i < n.numInputs(); ++i)
    if (!b.require(!n.has(i), "input " + Twine(i) +
                                  " is only valid for narrow floats, and 'quant_type' is int"))
      return true;
  return false;
}

std::vector<Value> buildTopK(Build &b, Value x, int64_t k, bool largest) {
  auto both = b.ops<TopKOp>({x}, {b.attr("k", k), b.attr("axis", b.rank(x) - 1),
                                  b.attr("largest", b.b.getBoolAttr(largest)),
                                  b.attr("sorted", b.b.getBoolAttr(true))});
  return both.size() == 2 ? both : std::vector<Value>(2);
}

/// Returns the sizes of a mixture-of-experts node from the shapes of the input and the router;
/// nothing after an error.
std::optional<MoeSizes> readMoeSizes(Node &n, Build &b) {
  Value x = n.in(0), router = n.in(1);
  if (!b.require((b.rank(x) == 2 || b.rank(x) == 3) && b.isFloat(x) && b.rank(router) == 2,
                 "the input must have rank 2 or 3, and router_probs rank 2"))
    return {};
  MoeSizes s{b.count(x) / std::max<int64_t>(b.dim(x, -1), 1), b.dim(x, -1), b.dim(router, 1),
             n.integer("k", 1)};
  if (!b.require(b.dim(router, 0) == s.rows && s.chosen >= 1 && s.chosen <= s.experts,
                 "router_probs must have " + Twine(s.rows) +
                     " rows, and columns for at least 'k' experts, " + Twine(s.chosen)))
    return {};
  return s;
}

Value normalizeWeights(Build &b, Value weights) {
  return b.div(weights, b.reduce(ReduceKind::sum, weights, {1}, true));
}

/// Runs the chosen experts of each row and sums their results, multiplied by `weights`. `experts`
/// is [rows, chosen].
void mix(Node &n, Build &b, const ExpertLayers &layers, const MoeSizes &s, Value experts,
         Value weights) {
  Value x = n.in(0);
  if (!b.ok())
    return;
  // Sorts the (row, expert) pairs by expert. `place` is the position of each pair in the sorted
  // order.
  int64_t pairs = s.rows * s.chosen;
  Dims rowOf(pairs);
  for (int64_t i = 0; i < pairs; ++i)
    rowOf[i] = i / s.chosen;
  Value expert = b.reshape(experts, {pairs}), number = b.iota(b.i64, {pairs}, 0);
  Value key = b.add(b.mul(expert, double(pairs)), number);
  Value order = buildTopK(b, key, pairs, false)[1], place = buildTopK(b, order, pairs, false)[1];
  Value isThere =
      b.compare(Predicate::le, b.reshape(expert, {pairs, 1}), b.iota(b.i64, {1, s.experts}, 1));
  Value ends = b.reduce(ReduceKind::sum, b.cast(isThere, b.i64), {0}, false);
  Value sorted = b.gather(expert, order, 0);
  Value rows = b.gather(b.cast(b.reshape(x, {s.rows, s.hidden}), b.f32),
                        b.gather(b.ints(rowOf), order, 0), 0);
  Value h = applyActivation(n, b, product(n, b, layers.first, s, rows, sorted, ends));
  Value y = b.ok() ? product(n, b, layers.second, s, h, sorted, ends) : Value();
  if (!b.ok() || !b.require(b.dim(y, 1) == s.hidden,
                            "fc2 must have a row for each of " + Twine(s.hidden) + " columns"))
    return;
  y = b.mul(b.reshape(b.gather(y, place, 0), {s.rows, s.chosen, s.hidden}),
            b.expandDims(weights, 2));
  n.set(0, b.cast(b.reshape(b.reduce(ReduceKind::sum, y, {1}, false), b.shape(x)), b.elem(x)));
}

void moe(Node &n, Build &b) {
  if (n.integer("use_sparse_mixer", 0))
    return n.unsupported("use_sparse_mixer", "1", "0");
  if (!b.require(
          !n.has(6) && !n.has(7),
          "input 6 is not supported: the third matmul must be fused with the first, as in swiglu"))
    return;
  auto s = readMoeSizes(n, b);
  if (!s)
    return;
  auto best = buildTopK(b, b.softmax(b.cast(n.in(1), b.f32), 1), s->chosen, true);
  Value weights = best[0];
  if (n.integer("normalize_routing_weights", 0))
    weights = normalizeWeights(b, weights);
  mix(n, b, kFloats, *s, best[1], weights);
}

void qMoe(Node &n, Build &b) {
  Value router = n.in(1), given = n.in(14);
  if (hasUnsupportedAttribute(n, b))
    return;
  auto s = readMoeSizes(n, b);
  if (!s || !b.require(!given || b.shape(given) == b.shape(router),
                       "router_weights must have router_probs' shape"))
    return;
  auto best = buildTopK(b, b.cast(router, b.f32), s->chosen, true);
  Value weights = b.ok() ? b.softmax(best[0], 1) : Value();
  if (given) {
    weights = b.op<GatherElementsOp>({b.cast(given, b.f32), best[1]}, {b.attr("axis", int64_t(1))});
    if (n.integer("normalize_routing_weights", 0))
      weights = normalizeWeights(b, weights);
  }
  mix(n, b, kFewBits, *s, best[1], weights);
}

const Operator table[] = {
    {"MoE", 3, moe,
     "activation_alpha activation_beta activation_type k normalize_routing_weights swiglu_fusion "
     "swiglu_limit use_sparse_mixer"},
    {"QMoE", 3, qMoe,
     "accuracy_level activation_alpha activation_beta activation_type block_size "
     "expert_weight_bits fc1_expert_weight_bits fc2_expert_weight_bits fc3_expert_weight_bits k "
     "normalize_routing_weights quant_type swiglu_fusion swiglu_limit use_sparse_mixer "
     "weights_prepacked"},
};

} // namespace

ArrayRef<Operator> moeOperators() { return table; }

} // namespace dlc::onnxfront
