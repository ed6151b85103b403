//===- Activation.cpp - GELU, SiLU and gates with fused operations --------===//
#include "frontend/onnx/contrib/Activation.h"
#include "frontend/onnx/Families.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;

namespace dlc::onnxfront {
namespace {

Value buildGelu(Build &b, Value x, bool approximate) {
  SmallVector<NamedAttribute> attributes;
  if (approximate)
    attributes.push_back(b.attrUnit("approximate"));
  return b.op<GeluOp>({x}, attributes);
}

Value biased(Node &n, Build &b) { return n.has(1) ? b.add(n.in(0), n.in(1)) : n.in(0); }

void biasGelu(Node &n, Build &b) { n.set(0, buildGelu(b, biased(n, b), false)); }

void fastGelu(Node &n, Build &b) { n.set(0, buildGelu(b, biased(n, b), true)); }

void quickGelu(Node &n, Build &b) {
  Value x = n.in(0);
  n.set(0, b.mul(x, b.sigmoid(b.mul(x, n.real("alpha", 1.702f)))));
}

/// BiasSplitGelu: the left half of the last dimension times the GELU of the right half, after
/// adding a bias.
void biasSplitGelu(Node &n, Build &b) {
  Value x = biased(n, b);
  int64_t last = b.rank(x) - 1, size = last < 0 ? 1 : b.dim(x, last);
  if (!b.require(size % 2 == 0, "the last dimension must be even, and is " + Twine(size)))
    return;
  Value left = b.sliceAxis(x, last, 0, size / 2), right = b.sliceAxis(x, last, size / 2, size / 2);
  n.set(0, b.mul(left, buildGelu(b, right, false)));
}

/// ScaledSiLU: the SiLU of scale * x, where the scale is an input or the attribute `alpha`.
void scaledSilu(Node &n, Build &b) {
  Value x = n.in(0), scale = n.in(1);
  if (!b.require(!scale || b.count(scale) == 1, "the scale must be one number"))
    return;
  Value wide = b.widen(x);
  Value z = scale ? b.mul(wide, b.cast(b.reshape(scale, {}), b.elem(wide)))
                  : b.mul(wide, n.real("alpha", 1));
  z = b.cast(z, b.elem(x));
  n.set(0, b.mul(z, b.sigmoid(z)));
}

/// GatedAdd: x + y * gate.
void gatedAdd(Node &n, Build &b) { n.set(0, b.add(n.in(0), b.mul(n.in(1), n.in(2)))); }

using Parameters = ArrayRef<double>;

/// LinearAttentionGate: computes the decay and the update rate that are inputs of LinearAttention.
void linearAttentionGate(Node &n, Build &b) {
  Value a = n.in(0), rate = n.in(3);
  Value decay = b.mul(buildSoftplus(b, b.add(b.widen(a), b.widen(n.in(1)))), b.widen(n.in(2)));
  n.set(0, b.cast(decay, b.elem(a)));
  if (n.hasOutput(1) && b.require(bool(rate), "input 'b' is required if its output is used"))
    n.set(1, b.cast(b.sigmoid(b.widen(rate)), b.elem(rate)));
}

struct FusedActivation {
  const char *name;
  std::vector<double> parameters;
  Value (*build)(Build &b, Value x, Parameters parameters);
};

const FusedActivation fused[] = {
    {"Relu", {}, [](Build &b, Value x, Parameters) { return b.unary<ReluOp>(x); }},
    {"Tanh", {}, [](Build &b, Value x, Parameters) { return b.unary<TanhOp>(x); }},
    {"Sigmoid", {}, [](Build &b, Value x, Parameters) { return b.sigmoid(x); }},
    {"Softplus", {}, [](Build &b, Value x, Parameters) { return buildSoftplus(b, x); }},
    {"Softsign", {}, [](Build &b, Value x, Parameters) { return buildSoftsign(b, x); }},
    {"LeakyRelu",
     {0.01f},
     [](Build &b, Value x, Parameters p) { return buildLeakyRelu(b, x, p[0]); }},
    {"Elu", {1}, [](Build &b, Value x, Parameters p) { return buildElu(b, x, p[0]); }},
    {"Clip",
     {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()},
     [](Build &b, Value x, Parameters p) { return b.clamp(x, p[0], p[1]); }},
    {"HardSigmoid",
     {0.2f, 0.5},
     [](Build &b, Value x, Parameters p) { return buildHardSigmoid(b, x, p[0], p[1]); }},
    {"HardSwish", {}, [](Build &b, Value x, Parameters) { return buildHardSwish(b, x); }},
};

const Operator table[] = {
    {"BiasGelu", 2, biasGelu},
    {"FastGelu", 1, fastGelu},
    {"QuickGelu", 1, quickGelu, "alpha"},
    {"BiasSplitGelu", 2, biasSplitGelu},
    {"ScaledSiLU", 1, scaledSilu, "alpha"},
    {"GatedAdd", 3, gatedAdd},
    {"LinearAttentionGate", 3, linearAttentionGate},
};

} // namespace

Value buildFusedActivation(Build &b, Value x, StringRef name, ArrayRef<double> parameters) {
  if (name.empty())
    return x;
  SmallVector<StringRef> known;
  for (const FusedActivation &f : fused) {
    known.push_back(f.name);
    if (name != f.name)
      continue;
    std::vector<double> all(parameters.begin(), parameters.end());
    for (size_t i = all.size(); i < f.parameters.size(); ++i)
      all.push_back(f.parameters[i]);
    return f.build(b, x, all);
  }
  return b.error("attribute 'activation'=" + name +
                 " is not supported; supported: " + llvm::join(known, ", "));
}

ArrayRef<Operator> fusedActivationOperators() { return table; }

} // namespace dlc::onnxfront
