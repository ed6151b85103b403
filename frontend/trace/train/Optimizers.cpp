//===- Optimizers.cpp - SGD, Adam, AdamW, RMSprop -------------------------===//
#include "dlc/optim.hpp"

#include <cmath>

namespace dlc::optim {

using namespace trace;

namespace {
/// Returns the gradient for the descent: that of the loss or, if the loss is maximized, of the
/// negated loss.
Tensor gradientToMinimize(const Update &u, bool maximize) {
  return maximize ? -u.gradient : u.gradient;
}

/// L2 penalty: returns the gradient plus weightDecay * value, the gradient of weightDecay / 2 *
/// |value|^2.
Tensor addWeightDecay(const Update &u, double weightDecay, bool maximize) {
  Tensor gradient = gradientToMinimize(u, maximize);
  return weightDecay == 0 ? gradient : gradient + u.value * weightDecay;
}

/// Bias correction of Adam: returns 1 - beta^count, accurately even if it is small.
Tensor biasCorrection(Update &u, double beta) {
  return beta == 0 ? u.count() * 0 + 1 : -expm1(u.count() * std::log(beta));
}

/// Adam: value - lr * (m / (1 - beta1^count)) / (sqrt(v / (1 - beta2^count)) + eps).
Tensor adamStep(Update &u, const Tensor &value, const Tensor &gradient,
                const AdamOptions &options) {
  Tensor m = u.get("m") * options.beta1 + gradient * (1 - options.beta1);
  Tensor v = u.get("v") * options.beta2 + square(gradient) * (1 - options.beta2);
  u.set("m", m);
  u.set("v", v);
  if (options.amsgrad) {
    v = maximum(u.get("top"), v);
    u.set("top", v);
  }
  // The scalars are combined first, so that each element needs only one square root, one division
  // and few multiplications.
  Tensor rate = u.rate / biasCorrection(u, options.beta1);
  Tensor scale = rsqrt(biasCorrection(u, options.beta2));
  return value - rate * m / (sqrt(v) * scale + options.eps);
}
} // namespace

Optimizer sgd(const SgdOptions &options) {
  return Optimizer("sgd", options.lr, [options](Update &u) {
    Tensor g = addWeightDecay(u, options.weightDecay, options.maximize);
    if (options.momentum != 0) {
      Tensor fresh = options.dampening == 0 ? g : g * (1 - options.dampening);
      Tensor momentum = u.get("momentum") * options.momentum + fresh;
      // As in PyTorch, dampening does not apply to the first gradient.
      if (options.dampening != 0)
        momentum = where(u.count() == 1, g, momentum);
      u.set("momentum", momentum);
      g = options.nesterov ? g + momentum * options.momentum : momentum;
    }
    return u.value - g * u.rate;
  });
}

Optimizer adam(const AdamOptions &options) {
  return Optimizer("adam", options.lr, [options](Update &u) {
    return adamStep(u, u.value, addWeightDecay(u, options.weightDecay, options.maximize), options);
  });
}

Optimizer adamw(const AdamWOptions &options) {
  AdamOptions rest = {.lr = options.lr,
                      .beta1 = options.beta1,
                      .beta2 = options.beta2,
                      .eps = options.eps,
                      .amsgrad = options.amsgrad,
                      .maximize = options.maximize};
  return Optimizer("adamw", options.lr, [rest, decay = options.weightDecay](Update &u) {
    Tensor value = decay == 0 ? u.value : u.value * (1 - u.rate * decay);
    return adamStep(u, value, gradientToMinimize(u, rest.maximize), rest);
  });
}

Optimizer rmsprop(const RmspropOptions &options) {
  return Optimizer("rmsprop", options.lr, [options](Update &u) {
    Tensor g = addWeightDecay(u, options.weightDecay, options.maximize);
    Tensor squares = u.get("square") * options.alpha + square(g) * (1 - options.alpha);
    u.set("square", squares);
    if (options.centered) {
      Tensor mean = u.get("mean") * options.alpha + g * (1 - options.alpha);
      u.set("mean", mean);
      squares = squares - square(mean);
    }
    Tensor change = g / (sqrt(squares) + options.eps);
    if (options.momentum != 0) {
      change = u.get("momentum") * options.momentum + change;
      u.set("momentum", change);
    }
    return u.value - change * u.rate;
  });
}

Optimizer frozen() { return Optimizer("frozen", 0, nullptr); }

Schedule stepDecay(double rate, int64_t every, double factor) {
  if (every < 1)
    throw Error("stepDecay: the interval must be 1 step or more; found " + std::to_string(every));
  return [=](int64_t step) {
    int64_t times = step / every;
    return rate * std::pow(factor, double(times));
  };
}

Schedule cosine(double rate, int64_t steps, double last) {
  if (steps < 1)
    throw Error("cosine: the number of steps must be 1 or more; found " + std::to_string(steps));
  return [=](int64_t step) {
    double part = double(std::min(step, steps)) / double(steps);
    return last + (rate - last) * (1 + std::cos(part * M_PI)) / 2;
  };
}

Schedule warmUp(int64_t steps, Schedule then) {
  return [=](int64_t step) {
    return step < steps ? then(0) * double(step + 1) / double(steps) : then(step - steps);
  };
}

Schedule warmUp(int64_t steps, double rate) {
  return warmUp(steps, [rate](int64_t) { return rate; });
}

} // namespace dlc::optim
