//===- LossScale.h - dynamic loss scaling for f16 gradients ---------------===//
#ifndef DLC_FRONTEND_TRACE_LOSSSCALE_H
#define DLC_FRONTEND_TRACE_LOSSSCALE_H

#include "dlc/step.hpp"

namespace dlc::trace {

/// Loss scale of a training step, stored as state of the program: `loss_scale` is the scale, and
/// `loss_scale.good` is the number of consecutive steps with finite gradients.
class LossScaler {
public:
  /// Returns what is wrong with the options; empty if they are valid.
  static std::string mistakeIn(const LossScale &options);

  explicit LossScaler(const LossScale &options);

  Tensor scaled(const Tensor &loss) const;
  /// Divides the gradients by the scale. finite() is available after this call.
  optim::Gradients unscaled(const optim::Gradients &gradients);
  /// Whether all gradients are finite, as 0-d bool.
  Tensor finite() const { return isFinite; }
  /// Reverts the forward pass's assignments if a gradient is not finite, and updates the scale.
  void finish();
  /// The metrics of loss scaling: `scale` and `skipped`.
  std::vector<Tensor> figures() const;

private:
  LossScale options;
  Parameter scale, good;
  Tensor now, isFinite;
};

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_LOSSSCALE_H
