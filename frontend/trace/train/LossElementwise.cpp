//===- LossElementwise.cpp - elementwise losses ---------------------------===//
#include "dlc/loss.hpp"

#include "frontend/trace/State.h"

namespace dlc::loss {

using namespace trace;

namespace {
Tensor reduceLosses(const Tensor &each, Reduction reduction) {
  return reduction == Reduction::Mean ? mean(each) : reduction == Reduction::Sum ? sum(each) : each;
}

/// Reports an error for operands of different shapes, because broadcasting in a loss is nearly
/// always a mistake.
void checkSameShape(ApiCall &call, const Operand &x, const Operand &target) {
  if (call.type(x).getShape() != call.type(target).getShape())
    call.fail("the result and its target must have the same shape; found ", call.type(x), " and ",
              call.type(target), "; reshape one");
}
} // namespace

Tensor mse_loss(const Operand &x, const Operand &target, Reduction reduction) {
  ApiCall call("mse_loss", {&x, &target});
  checkSameShape(call, x, target);
  return reduceLosses(square(x - target), reduction);
}

Tensor l1_loss(const Operand &x, const Operand &target, Reduction reduction) {
  ApiCall call("l1_loss", {&x, &target});
  checkSameShape(call, x, target);
  return reduceLosses(abs(x - target), reduction);
}

Tensor bce_with_logits(const Operand &x, const Operand &target, Reduction reduction,
                       const Operand &positiveWeight) {
  ApiCall call("bce_with_logits", {&x, &target, &positiveWeight});
  checkSameShape(call, x, target);
  // Binary cross entropy: t softplus(-x) + (1 - t) softplus(x), where softplus(x) = x +
  // softplus(-x).
  Tensor negative = softplus(-x);
  if (!positiveWeight)
    return reduceLosses((1 - target) * x + negative, reduction);
  Tensor factor = 1 + target * (positiveWeight - 1);
  return reduceLosses((1 - target) * x + factor * negative, reduction);
}

Tensor kl_div(const Operand &x, const Operand &target, Reduction reduction) {
  ApiCall call("kl_div", {&x, &target});
  checkSameShape(call, x, target);
  // 0 log 0 is defined as 0. The select also avoids computing the logarithm of 0.
  Tensor some = target > 0;
  return reduceLosses(where(some, target * (log(where(some, target, 1)) - x), 0), reduction);
}

Tensor mse_loss(const Operand &x, const Operand &target) {
  return mse_loss(x, target, Reduction::Mean);
}
Tensor l1_loss(const Operand &x, const Operand &target) {
  return l1_loss(x, target, Reduction::Mean);
}
Tensor bce_with_logits(const Operand &x, const Operand &target) {
  return bce_with_logits(x, target, Reduction::Mean);
}
Tensor kl_div(const Operand &x, const Operand &target) {
  return kl_div(x, target, Reduction::Mean);
}

} // namespace dlc::loss
