//===- Training.cpp - optimizer steps -------------------------------------===//
// Inputs of the training operators are the learning rate R, the step number T, and then groups of
// tensors: all parameters, all gradients, all optimizer states.
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

constexpr const char *domain = "ai.onnx.preview.training";

/// Returns the number of parameters of an optimizer node, which has `perParameter` tensors for each
/// parameter.
int64_t countParameters(Node &n, Build &b, int64_t perParameter) {
  int64_t tensors = n.numInputs() - 2;
  if (!b.require(tensors > 0 && tensors % perParameter == 0, "required the rate, the step and " +
                                                                 Twine(perParameter) +
                                                                 " tensors per parameter"))
    return 0;
  return tensors / perParameter;
}

struct OptimizerStep {
  Value rate, step;
};

OptimizerStep readOptimizerStep(Node &n, Build &b) {
  return {b.reshape(n.in(0), {}), b.reshape(n.in(1), {})};
}

Value addL2Penalty(Node &n, Build &b, Value x, Value g) {
  double norm = n.real("norm_coefficient", 0);
  return norm == 0 ? g : b.add(b.mul(x, norm), g);
}

void adagrad(Node &n, Build &b) {
  int64_t number = countParameters(n, b, 3);
  OptimizerStep s = readOptimizerStep(n, b);
  for (int64_t i = 0; i < number; ++i) {
    Value x = n.in(2 + i), g = addL2Penalty(n, b, x, n.in(2 + number + i)),
          h = n.in(2 + 2 * number + i);
    Type element = b.elem(x);
    Value rate = b.div(b.cast(s.rate, element),
                       b.add(b.mul(b.cast(s.step, element), n.real("decay_factor", 0)), 1.0));
    Value next = b.add(h, b.mul(g, g));
    n.set(i,
          b.sub(x, b.div(b.mul(g, rate), b.add(b.unary<SqrtOp>(next), n.real("epsilon", 1e-6f)))));
    n.set(number + i, next);
  }
}

void adam(Node &n, Build &b) {
  int64_t number = countParameters(n, b, 4);
  OptimizerStep s = readOptimizerStep(n, b);
  double alpha = n.real("alpha", 0.9f), beta = n.real("beta", 0.999f),
         after = n.real("norm_coefficient_post", 0);
  for (int64_t i = 0; i < number; ++i) {
    Value x = n.in(2 + i), g = addL2Penalty(n, b, x, n.in(2 + number + i));
    Value v = n.in(2 + 2 * number + i), h = n.in(2 + 3 * number + i);
    Type element = b.elem(x);
    v = b.add(b.mul(v, alpha), b.mul(g, 1 - alpha));
    h = b.add(b.mul(h, beta), b.mul(b.mul(g, g), 1 - beta));
    // Adam's bias correction: the moments start at 0 and are too small at first. At step 0 there is
    // no correction.
    Value rate = b.cast(s.rate, element), t = b.cast(s.step, element);
    auto lack = [&](double decay) { return b.sub(b.like(x, 1), b.pow(b.like(x, decay), t)); };
    Value corrected = b.div(b.mul(rate, b.unary<SqrtOp>(lack(beta))), lack(alpha));
    rate = b.select(b.compare(Predicate::gt, t, b.like(t, 0)), corrected, rate);
    Value next =
        b.sub(x, b.mul(b.div(v, b.add(b.unary<SqrtOp>(h), n.real("epsilon", 1e-6f))), rate));
    n.set(i, after == 0 ? next : b.mul(next, 1 - after));
    n.set(number + i, v);
    n.set(2 * number + i, h);
  }
}

void momentum(Node &n, Build &b) {
  int64_t number = countParameters(n, b, 3);
  OptimizerStep s = readOptimizerStep(n, b);
  std::string mode = n.string("mode", "standard");
  double alpha = n.real("alpha", 0.9f), beta = n.real("beta", 1);
  if (mode != "standard" && mode != "nesterov")
    return n.unsupported("mode", mode, "standard, nesterov");
  for (int64_t i = 0; i < number; ++i) {
    Value x = n.in(2 + i), g = addL2Penalty(n, b, x, n.in(2 + number + i)),
          v = n.in(2 + 2 * number + i);
    Type element = b.elem(x);
    Value later = b.compare(Predicate::gt, s.step, b.like(s.step, 0));
    v = b.add(b.mul(v, alpha), b.mul(g, b.select(later, b.like(x, beta), b.like(x, 1))));
    Value move = mode == "standard" ? v : b.add(g, b.mul(v, alpha));
    n.set(i, b.sub(x, b.mul(move, b.cast(s.rate, element))));
    n.set(number + i, v);
  }
}

const Operator table[] = {
    {"Adagrad", adagrad, domain},
    {"Adam", adam, domain},
    {"Momentum", momentum, domain},
};

} // namespace

ArrayRef<Operator> trainingOperators() { return table; }

} // namespace dlc::onnxfront
