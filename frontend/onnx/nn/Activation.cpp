//===- Activation.cpp - activation functions and softmax ------------------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void leakyRelu(Node &n, Build &b) { n.set(0, buildLeakyRelu(b, n.in(0), n.real("alpha", 0.01f))); }

/// PRelu. The slope broadcasts to x. Before opset 7, the slope is a scalar or has one element per
/// channel.
void prelu(Node &n, Build &b) {
  Value x = n.in(0), slope = n.in(1);
  if (n.opset < 7 && b.rank(slope) == 1 && b.count(slope) > 1 && b.rank(x) > 2) {
    Dims shape(b.rank(x) - 1, 1);
    shape[0] = b.count(slope);
    slope = b.reshape(slope, shape);
  }
  n.set(0, b.select(b.compare(Predicate::gt, x, b.like(x, 0)), x, b.mul(x, slope)));
}

/// Elu, Selu and Celu: computes gamma * alpha * (e^(x / scale) - 1) for x <= 0, and gamma * x for x
/// > 0.
Value buildScaledElu(Build &b, Value x, double alpha, double gamma, double scale) {
  Value zero = b.like(x, 0), isHigh = b.compare(Predicate::gt, x, zero);
  // The operand of the exponential is replaced by 0 for positive x, because a large x would
  // overflow the exponential and its gradient.
  Value inner = b.select(isHigh, zero, x);
  if (scale != 1)
    inner = b.div(inner, scale);
  Value low = b.mul(b.unary<Expm1Op>(inner), alpha * gamma);
  Value high = gamma == 1 ? x : b.mul(x, gamma);
  return b.select(isHigh, high, low);
}

void elu(Node &n, Build &b) { n.set(0, buildElu(b, n.in(0), n.real("alpha", 1))); }

void selu(Node &n, Build &b) {
  n.set(0, buildScaledElu(b, n.in(0), n.real("alpha", 1.67326319217681884765625),
                          n.real("gamma", 1.05070102214813232421875), 1));
}

void celu(Node &n, Build &b) {
  double alpha = n.real("alpha", 1);
  if (b.require(alpha != 0, "attribute 'alpha' must not be 0"))
    n.set(0, buildScaledElu(b, n.in(0), alpha, 1, alpha));
}

void hardSigmoid(Node &n, Build &b) {
  n.set(0, buildHardSigmoid(b, n.in(0), n.real("alpha", 0.2f), n.real("beta", 0.5)));
}

void hardSwish(Node &n, Build &b) { n.set(0, buildHardSwish(b, n.in(0))); }

void softplus(Node &n, Build &b) { n.set(0, buildSoftplus(b, n.in(0))); }

void softsign(Node &n, Build &b) { n.set(0, buildSoftsign(b, n.in(0))); }

void mish(Node &n, Build &b) {
  n.set(0, b.mul(n.in(0), b.unary<TanhOp>(buildSoftplus(b, n.in(0)))));
}

Value buildSwish(Build &b, Value x, double alpha) {
  return b.mul(x, b.sigmoid(alpha == 1 ? x : b.mul(x, alpha)));
}

void swish(Node &n, Build &b) { n.set(0, buildSwish(b, n.in(0), n.real("alpha", 1))); }

void swiGlu(Node &n, Build &b) {
  n.set(0, b.mul(buildSwish(b, n.in(0), n.real("alpha", 1)), n.in(1)));
}

void thresholdedRelu(Node &n, Build &b) {
  Value x = n.in(0);
  n.set(0, b.select(b.compare(Predicate::gt, x, b.like(x, n.real("alpha", 1))), x, b.like(x, 0)));
}

void shrink(Node &n, Build &b) {
  Value x = n.in(0), zero = b.like(x, 0);
  double lambda = n.real("lambd", 0.5), bias = n.real("bias", 0);
  Value low = b.select(b.compare(Predicate::lt, x, b.like(x, -lambda)), b.add(x, bias), zero);
  n.set(0, b.select(b.compare(Predicate::gt, x, b.like(x, lambda)), b.sub(x, bias), low));
}

void gelu(Node &n, Build &b) {
  std::string approximate = n.string("approximate", "none");
  if (approximate == "tanh")
    n.set(0, b.op<GeluOp>({n.in(0)}, {b.attrUnit("approximate")}));
  else if (approximate == "none")
    n.set(0, b.op<GeluOp>({n.in(0)}));
  else
    n.unsupported("approximate", approximate, "none, tanh");
}

/// Softmax and LogSoftmax. From opset 13 on they apply to one axis. Before opset 13, x is reshaped
/// to a matrix of the dimensions before `axis` and those from `axis` on.
template <typename Op> void softmaxNode(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  if (n.opset >= 13) {
    int64_t axis = b.axis(n.integer("axis", -1), rank);
    return n.set(0, b.op<Op>({x}, {b.attr("axis", axis)}));
  }
  int64_t axis = b.axis(n.integer("axis", 1), rank);
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? rows : columns) *= b.shape(x)[i];
  if (rank > 0 && axis == rank - 1)
    return n.set(0, b.op<Op>({x}, {b.attr("axis", axis)}));
  n.set(0, b.reshape(b.op<Op>({b.reshape(x, {rows, columns})}, {b.attr("axis", int64_t(1))}),
                     b.shape(x)));
}

/// Hardmax: 1 at the first maximum along the axis, otherwise 0.
void hardmax(Node &n, Build &b) {
  Value x = n.in(0), flat = x;
  int64_t axis = b.axis(n.integer("axis", n.opset >= 13 ? -1 : 1), b.rank(x));
  Dims whole = b.dims(x);
  if (!b.ok())
    return;
  if (n.opset < 13) {
    int64_t rows = 1, columns = 1;
    for (int64_t i = 0; i < b.rank(x); ++i)
      (i < axis ? rows : columns) *= whole[i];
    flat = b.reshape(x, {rows, columns});
    axis = 1;
  }
  Value best =
      b.op<ArgReduceOp>({flat}, {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::max)),
                                 b.attr("axis", axis), b.attrUnit("keepdims")});
  Value hit = b.compare(Predicate::eq, b.iota(b.i64, b.shape(flat), axis), best);
  n.set(0, b.reshape(b.cast(hit, b.elem(x)), whole));
}

const Operator table[] = {
    {"LeakyRelu", leakyRelu},
    {"PRelu", prelu},
    {"Elu", elu},
    {"Selu", selu},
    {"Celu", celu},
    {"HardSigmoid", hardSigmoid},
    {"HardSwish", hardSwish},
    {"Softplus", softplus},
    {"Softsign", softsign},
    {"Mish", mish},
    {"Swish", swish},
    {"SwiGLU", swiGlu},
    {"ThresholdedRelu", thresholdedRelu},
    {"Shrink", shrink},
    {"Gelu", gelu},
    {"Gelu", 1, gelu, "", microsoft},
    {"Softmax", softmaxNode<SoftmaxOp>},
    {"LogSoftmax", softmaxNode<LogSoftmaxOp>},
    {"Hardmax", hardmax},
};

} // namespace

Value buildLeakyRelu(Build &b, Value x, double alpha) {
  return b.select(b.compare(Predicate::gt, x, b.like(x, 0)), x, b.mul(x, alpha));
}

Value buildElu(Build &b, Value x, double alpha) { return buildScaledElu(b, x, alpha, 1, 1); }

Value buildHardSigmoid(Build &b, Value x, double alpha, double beta) {
  return b.clamp(b.add(b.mul(x, alpha), beta), 0, 1);
}

Value buildHardSwish(Build &b, Value x) { return b.mul(x, buildHardSigmoid(b, x, 1.0 / 6, 0.5)); }

/// Softplus: max(x, 0) + log1p(e^-|x|), which does not overflow. At 0 the gradients of the two
/// terms are 1/2 and 0.
Value buildSoftplus(Build &b, Value x) {
  Value tail = b.unary<Log1pOp>(b.unary<ExpOp>(b.unary<NegOp>(b.unary<AbsOp>(x))));
  return b.add(b.max(x, b.like(x, 0)), tail);
}

Value buildSoftsign(Build &b, Value x) { return b.div(x, b.add(b.unary<AbsOp>(x), 1.0)); }

ArrayRef<Operator> activationOperators() { return table; }

} // namespace dlc::onnxfront
