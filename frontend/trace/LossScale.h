//===- LossScale.h - gradients that f16 can hold --------------------------===//
#ifndef DLC_FRONTEND_TRACE_LOSSSCALE_H
#define DLC_FRONTEND_TRACE_LOSSSCALE_H

#include "dlc/step.hpp"

namespace dlc::trace {

/// The scale of a training step's loss as state of the program: `loss_scale`, and how many steps in
/// a row were good, `loss_scale.good`.
class LossScaler {
public:
  /// Says what is wrong with the options, if anything is.
  static std::string mistakeIn(const LossScale &options);

  explicit LossScaler(const LossScale &options);

  Tensor scaled(const Tensor &loss) const;
  /// The gradients of the loss itself. From here on finite() is known.
  optim::Gradients unscaled(const optim::Gradients &gradients);
  /// Whether all of them are finite: 0-d bool.
  Tensor finite() const { return isFinite; }
  /// Undoes what the forward pass assigned where they are not, and gives the scale its next value.
  void finish();
  /// The metrics.
  std::vector<Tensor> figures() const;

private:
  LossScale options;
  Parameter scale, good;
  Tensor now, isFinite;
};

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_LOSSSCALE_H
