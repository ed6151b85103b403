//===- LossScale.h - dynamic loss scaling for f16 gradients ---------------===//
#ifndef DLC_FRONTEND_TRACE_TRAIN_LOSSSCALE_H
#define DLC_FRONTEND_TRACE_TRAIN_LOSSSCALE_H

#include "dlc/step.hpp"

namespace dlc::trace {

/// Dynamic loss scale of a training step, stored as state of the program: `loss_scale` is the
/// scale, and `loss_scale.good` is the number of consecutive steps with finite gradients.
class LossScaler {
public:
  /// Returns an error message if the options are invalid; otherwise an empty string.
  static std::string mistakeIn(const LossScale &options);

  explicit LossScaler(const LossScale &options);

  Tensor scaled(const Tensor &loss) const;
  /// Divides the gradients by the loss scale. finite() is available after this call.
  optim::Gradients unscaled(const optim::Gradients &gradients);
  /// Returns a 0-d bool tensor that is true if all gradients are finite.
  Tensor finite() const { return isFinite; }
  /// Reverts the state assignments of the forward pass if a gradient is not finite, and updates the
  /// loss scale.
  void finish();
  /// Returns the metrics of loss scaling: `scale`, and `skipped`, which is 1 if the step was
  /// skipped.
  std::vector<Tensor> figures() const;

private:
  LossScale options;
  Parameter scale, good;
  Tensor now, isFinite;
};

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_TRAIN_LOSSSCALE_H
