//===- loss.hpp - losses and metrics as trace code ------------------------===//
//
//   Tensor loss = dlc::loss::cross_entropy(logits, target, {.labelSmoothing = 0.1});
//
// Ordinary functions over tensors, like user-defined losses, with PyTorch's formulas and
// reductions.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_LOSS_HPP
#define DLC_LOSS_HPP

#include "dlc/trace.hpp"

#include <optional>

namespace dlc::loss {

using trace::Operand;
using trace::Tensor;

/// Reduction of the elements' losses. Mean averages over all elements; with class weights or
/// ignored targets it is the weighted mean.
enum class Reduction { Mean, Sum, None };

struct ClassOptions {
  Reduction reduction = Reduction::Mean;
  /// Targets with this class index are ignored.
  std::optional<int64_t> ignoreIndex = {};
  /// Weight of each class [C].
  Tensor weight = {};
};
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  std::optional<int64_t> ignoreIndex = {};
  Tensor weight = {};
  /// The fraction of each target's probability that is spread uniformly over all classes.
  double labelSmoothing = 0;
};

/// -log softmax(logits)[target] for logits [N, C], [N, C, ..] or [C] and class indices (i32 or i64)
/// [N], [N, ..] or []. The target may also have the shape of the logits and contain class
/// probabilities.
Tensor cross_entropy(const Operand &logits, const Operand &target,
                     const CrossEntropyOptions &options);
/// -x[target] for log-probabilities x. Shapes are as for cross_entropy.
Tensor nll_loss(const Operand &x, const Operand &target, const ClassOptions &options);

Tensor mse_loss(const Operand &x, const Operand &target, Reduction reduction);
Tensor l1_loss(const Operand &x, const Operand &target, Reduction reduction);
/// Binary cross entropy of sigmoid(x), without overflow. `positiveWeight` multiplies the term of
/// positive targets (`pos_weight`).
Tensor bce_with_logits(const Operand &x, const Operand &target, Reduction reduction,
                       const Operand &positiveWeight = Tensor());
/// target * (log target - x) for log-probabilities x. Mean averages over all elements, as in
/// PyTorch.
Tensor kl_div(const Operand &x, const Operand &target, Reduction reduction);

// Overloads with two operands that can be passed as functions.
Tensor cross_entropy(const Operand &logits, const Operand &target);
Tensor nll_loss(const Operand &x, const Operand &target);
Tensor mse_loss(const Operand &x, const Operand &target);
Tensor l1_loss(const Operand &x, const Operand &target);
Tensor bce_with_logits(const Operand &x, const Operand &target);
Tensor kl_div(const Operand &x, const Operand &target);

} // namespace dlc::loss

namespace dlc::metric {

/// The fraction of targets that equal the index of the largest logit (along dimension 1).
trace::Tensor accuracy(const trace::Operand &logits, const trace::Operand &target);

} // namespace dlc::metric

#endif // DLC_LOSS_HPP
