//===- Activation.cpp - activations, composed of elementwise functions ----===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Activations are computed in at least f32, as in PyTorch.
template <Value (*body)(Node &, Build &, Value)> void activation(Node &n, Build &b) {
  n.set(b.cast(body(n, b, b.widen(n.tensor("self"))), n.resultElement()));
}

Value isGreaterThan(Build &b, Value x, double limit) {
  return b.compare(Predicate::gt, x, b.like(x, limit));
}

/// Softplus: log(1 + e^x) without overflow. At 0 the gradient of the term with the maximum is 1/2,
/// and the gradient of the remaining term is 0.
Value buildSoftplus(Build &b, Value x) {
  Value tail = b.unary<Log1pOp>(b.unary<ExpOp>(b.unary<NegOp>(b.unary<AbsOp>(x))));
  return b.add(b.max(x, b.like(x, 0)), tail);
}

void relu(Node &n, Build &b) { n.set(b.unary<ReluOp>(n.tensor("self"))); }

void gelu(Node &n, Build &b) {
  std::string form = n.text("approximate", "none");
  if (!b.require(form == "none" || form == "tanh",
                 "argument 'approximate': required: none or tanh; found " + form))
    return;
  SmallVector<NamedAttribute> attributes;
  if (form == "tanh")
    attributes.push_back(b.attrUnit("approximate"));
  n.set(b.op<GeluOp>({n.tensor("self")}, attributes));
}

Value silu(Node &, Build &b, Value x) { return b.mul(x, b.sigmoid(x)); }

Value leakyRelu(Node &n, Build &b, Value x) {
  return b.select(isGreaterThan(b, x, 0), x, b.mul(x, n.real("negative_slope")));
}

/// ELU: computes alpha * (e^(input * x) - 1) for x <= 0, and x otherwise.
Value buildElu(Build &b, Value x, double alpha, double input) {
  // The operand of the exponential is replaced by 0 for positive x, because a large x would
  // overflow the exponential and its gradient.
  Value isHigh = isGreaterThan(b, x, 0), inner = b.select(isHigh, b.like(x, 0), x);
  return b.select(isHigh, x, b.mul(b.unary<Expm1Op>(b.mul(inner, input)), alpha));
}

Value elu(Node &n, Build &b, Value x) {
  return b.mul(buildElu(b, x, n.real("alpha", 1), n.real("input_scale", 1)), n.real("scale", 1));
}

Value celu(Node &n, Build &b, Value x) {
  double alpha = n.real("alpha", 1);
  return b.require(alpha != 0, "argument 'alpha': required: a number that is not 0")
             ? buildElu(b, x, alpha, 1 / alpha)
             : Value();
}

Value hardtanh(Node &n, Build &b, Value x) {
  return b.clamp(x, n.real("min_val", -1), n.real("max_val", 1));
}

Value hardsigmoid(Node &, Build &b, Value x) { return b.div(b.clamp(b.add(x, 3.0), 0, 6), 6.0); }

Value hardswish(Node &n, Build &b, Value x) { return b.mul(x, hardsigmoid(n, b, x)); }

Value softplus(Node &n, Build &b, Value x) {
  double beta = n.real("beta", 1), threshold = n.real("threshold", 20);
  Value scaled = b.mul(x, beta);
  return b.select(isGreaterThan(b, scaled, threshold), x, b.div(buildSoftplus(b, scaled), beta));
}

Value mish(Node &, Build &b, Value x) { return b.mul(x, b.unary<TanhOp>(buildSoftplus(b, x))); }

Value logSigmoid(Node &, Build &b, Value x) {
  return b.unary<NegOp>(buildSoftplus(b, b.unary<NegOp>(x)));
}

Value hardshrink(Node &n, Build &b, Value x) {
  Value kept = isGreaterThan(b, b.unary<AbsOp>(x), n.real("lambd", 0.5));
  return b.select(b.either(kept, b.unary<IsNanOp>(x)), x, b.like(x, 0));
}

Value softshrink(Node &n, Build &b, Value x) {
  double limit = n.real("lambd", 0.5);
  Value kept = b.either(isGreaterThan(b, b.unary<AbsOp>(x), limit), b.unary<IsNanOp>(x));
  return b.select(kept, b.sub(x, b.clamp(x, -limit, limit)), b.like(x, 0));
}

/// Gradient of hardshrink and softshrink: passes dy where |x| exceeds the limit `lambd`, and is 0
/// elsewhere.
void shrinkGradient(Node &n, Build &b) {
  Value x = n.tensor("self"), dy = n.tensor(n.has("grad_out") ? "grad_out" : "grad_output");
  double limit = n.real("lambd", 0.5);
  Value inside = b.both(b.compare(Predicate::ge, x, b.like(x, -limit)),
                        b.compare(Predicate::le, x, b.like(x, limit)));
  n.set(b.select(inside, b.like(dy, 0), dy));
}

/// Gradient of rrelu (randomized leaky ReLU). In training, the slope of each element is the one
/// that the forward pass drew. Otherwise the slope is the mean of the bounds `lower` and `upper`.
void rreluGradient(Node &n, Build &b) {
  Value x = n.tensor("self"), dy = n.tensor("grad_output");
  double low = n.real("lower"), high = n.real("upper");
  constexpr double kSame = 1e-6;
  if (n.flag("training") && high - low > kSame)
    return n.set(b.mul(dy, n.tensor("noise")));
  n.set(b.select(isGreaterThan(b, x, 0), dy, b.mul(dy, (low + high) / 2)));
}

Value threshold(Node &n, Build &b, Value x) {
  Value low = b.compare(Predicate::le, x, b.like(x, n.real("threshold")));
  return b.select(low, b.like(x, n.real("value")), x);
}

/// PReLU with one slope per channel, or a single slope.
void prelu(Node &n, Build &b) {
  Value x = n.tensor("self"), slope = n.tensor("weight");
  if (b.rank(slope) == 1 && b.rank(x) >= 2) {
    Dims shape(size_t(b.rank(x)), 1);
    shape[1] = b.count(slope);
    slope = b.reshape(slope, shape);
  } else if (b.count(slope) == 1) {
    slope = b.reshape(slope, Dims(size_t(b.rank(x)), 1));
  }
  n.set(b.select(isGreaterThan(b, x, 0), x, b.mul(x, slope)));
}

void glu(Node &n, Build &b) {
  Value x = n.tensor("self");
  int64_t axis = n.axis("dim", b.rank(x)), half = b.dim(x, axis) / 2;
  if (!b.require(b.rank(x) > 0 && half * 2 == b.dim(x, axis),
                 "argument 'dim': required: a dimension of even size"))
    return;
  Value gate = b.sliceAxis(x, axis, half, half);
  n.set(b.mul(b.sliceAxis(x, axis, 0, half), b.sigmoid(gate)));
}

const Operator table[] = {
    {"relu.default", relu},
    {"gelu.default", gelu},
    {"silu.default", activation<silu>},
    {"leaky_relu.default", activation<leakyRelu>},
    {"elu.default", activation<elu>},
    {"celu.default", activation<celu>},
    {"hardtanh.default", activation<hardtanh>},
    {"hardsigmoid.default", activation<hardsigmoid>},
    {"hardswish.default", activation<hardswish>},
    {"softplus.default", activation<softplus>},
    {"mish.default", activation<mish>},
    {"log_sigmoid.default", activation<logSigmoid>},
    {"hardshrink.default", activation<hardshrink>},
    {"softshrink.default", activation<softshrink>},
    {"hardshrink_backward.default", shrinkGradient},
    {"softshrink_backward.default", shrinkGradient},
    {"rrelu_with_noise_backward.default", rreluGradient},
    {"threshold.default", activation<threshold>},
    {"_prelu_kernel.default", prelu},
    {"prelu.default", prelu},
    {"glu.default", glu},
};

} // namespace

ArrayRef<Operator> activationOperators() { return table; }

} // namespace dlc::aten
