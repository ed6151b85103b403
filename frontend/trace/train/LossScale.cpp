//===- LossScale.cpp - dynamic loss scaling for f16 gradients -------------===//
#include "frontend/trace/train/LossScale.h"

#include "frontend/trace/State.h"
#include "frontend/trace/train/Shares.h"

#include <cmath>
#include <limits>

namespace dlc::trace {

void State::keepUnless(mlir::Value condition) {
  ApiCall call("keepUnless", Location());
  for (const Parameter &parameter : std::vector<Parameter>(assigned)) {
    mlir::Value next = this->parameter(parameter), before = start(parameter);
    if (next != before)
      assign(parameter, call.make<SelectOp>({condition, next, before}));
  }
}

std::string LossScaler::mistakeIn(const LossScale &o) {
  auto positive = [](double number) { return std::isfinite(number) && number > 0; };
  if (!positive(o.least) || !positive(o.largest) || !(o.least <= o.start && o.start <= o.largest))
    return "the initial loss scale must be between its bounds, which must be above 0; found " +
           std::to_string(o.start) + " between " + std::to_string(o.least) + " and " +
           std::to_string(o.largest);
  if (!(o.growth >= 1 && std::isfinite(o.growth)) || !(o.shrink > 0 && o.shrink < 1) ||
      o.interval < 1)
    return "the loss scale requires a growth factor of 1 or more, a shrink factor below 1, and an "
           "interval of 1 or more steps; found " +
           std::to_string(o.growth) + ", " + std::to_string(o.shrink) + " and " +
           std::to_string(o.interval);
  return "";
}

LossScaler::LossScaler(const LossScale &options)
    : options(options), scale(variable("loss_scale", {}, DType::F32, options.start)),
      good(variable("loss_scale.good", {}, DType::I64)) {
  Operand operand(scale);
  ApiCall call("LossScale", {&operand});
  now = call.tensor(call.value(operand));
}

Tensor LossScaler::scaled(const Tensor &loss) const { return loss * cast(now, loss.dtype()); }

optim::Gradients LossScaler::unscaled(const optim::Gradients &gradients) {
  optim::Gradients result = gradients;
  Tensor factor = 1 / now, total;
  for (Tensor &value : result.values) {
    value = value * cast(factor, value.dtype());
    // Detects non-finite gradients: infinity or NaN in any element makes the sum of magnitudes
    // infinite or NaN. The sum needs no additional pass over memory, because the update or the norm
    // reads the gradients anyway.
    Tensor part = sum(abs(cast(value, DType::F32)));
    total = total ? total + part : part;
  }
  isFinite = optim::sumOverRanks(gradients, total) <= double(std::numeric_limits<float>::max());
  return result;
}

void LossScaler::finish() {
  ApiCall call("LossScale", Location());
  call.state().keepUnless(State::valueOf(isFinite));
  Tensor next = where(isFinite, good + 1, 0);
  Tensor grows = next >= options.interval;
  Tensor grown = where(grows, now * options.growth, now);
  assign(scale,
         clamp(where(isFinite, grown, now * options.shrink), options.least, options.largest));
  assign(good, where(grows, 0, next));
}

std::vector<Tensor> LossScaler::figures() const {
  return {now, cast(logical_not(isFinite), DType::F32)};
}

} // namespace dlc::trace
