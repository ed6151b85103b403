//===- loss.hpp - losses and metrics as trace code ------------------------===//
//
//   Tensor loss = dlc::loss::cross_entropy(logits, target, {.labelSmoothing = 0.1});
//
// Ordinary functions over tensors, as a user's own: PyTorch's formulas and reductions.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_LOSS_HPP
#define DLC_LOSS_HPP

#include "dlc/trace.hpp"

#include <optional>

namespace dlc::loss {

using trace::Operand;
using trace::Tensor;

/// What becomes of the elements' losses. Mean: over all elements, or by weight where there are
/// weights or ignored targets.
enum class Reduction { Mean, Sum, None };

struct ClassOptions {
  Reduction reduction = Reduction::Mean;
  /// Targets that do not count.
  std::optional<int64_t> ignoreIndex = {};
  /// One per class [C].
  Tensor weight = {};
};
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  std::optional<int64_t> ignoreIndex = {};
  Tensor weight = {};
  /// So much of each target is spread over all classes.
  double labelSmoothing = 0;
};

/// -log softmax(logits)[target] for logits [N, C], [N, C, ..] or [C] and class numbers (i32 or i64)
/// [N], [N, ..] or []; or a target of logits' shape with the classes' probabilities.
Tensor cross_entropy(const Operand &logits, const Operand &target,
                     const CrossEntropyOptions &options);
/// -x[target] for logarithms of probabilities; shapes as for cross_entropy.
Tensor nll_loss(const Operand &x, const Operand &target, const ClassOptions &options);

Tensor mse_loss(const Operand &x, const Operand &target, Reduction reduction);
Tensor l1_loss(const Operand &x, const Operand &target, Reduction reduction);
/// Of sigmoid(x), without overflow; `positiveWeight` multiplies the part of positive targets.
Tensor bce_with_logits(const Operand &x, const Operand &target, Reduction reduction,
                       const Operand &positiveWeight = Tensor());
/// target * (log target - x) for logarithms x; PyTorch's mean over all elements.
Tensor kl_div(const Operand &x, const Operand &target, Reduction reduction);

// With two operands, so that they can be handed on as functions.
Tensor cross_entropy(const Operand &logits, const Operand &target);
Tensor nll_loss(const Operand &x, const Operand &target);
Tensor mse_loss(const Operand &x, const Operand &target);
Tensor l1_loss(const Operand &x, const Operand &target);
Tensor bce_with_logits(const Operand &x, const Operand &target);
Tensor kl_div(const Operand &x, const Operand &target);

} // namespace dlc::loss

namespace dlc::metric {

/// The part of the targets that the largest logit (along dimension 1) names.
trace::Tensor accuracy(const trace::Operand &logits, const trace::Operand &target);

} // namespace dlc::metric

#endif // DLC_LOSS_HPP
