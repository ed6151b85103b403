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

/// How the losses of the elements are reduced. Mean averages over all elements. With class weights
/// or ignored targets it is the weighted mean.
enum class Reduction { Mean, Sum, None };

struct ClassOptions {
  Reduction reduction = Reduction::Mean;
  /// Class index that marks ignored targets, which do not contribute to the loss.
  std::optional<int64_t> ignoreIndex = {};
  /// Weights of the classes, of shape [C].
  Tensor weight = {};
};
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  std::optional<int64_t> ignoreIndex = {};
  Tensor weight = {};
  /// Label smoothing: the fraction of each target's probability that is spread uniformly over all
  /// classes.
  double labelSmoothing = 0;
};

/// Cross entropy -log softmax(logits)[target] for logits [N, C], [N, C, ..] or [C] and class
/// indices (i32 or i64) [N], [N, ..] or []. The target may also have the shape of the logits and
/// contain class probabilities.
Tensor cross_entropy(const Operand &logits, const Operand &target,
                     const CrossEntropyOptions &options);
/// Negative log-likelihood -x[target] for log-probabilities x [N, C], [N, C, ..] or [C] and class
/// indices [N], [N, ..] or [].
Tensor nll_loss(const Operand &x, const Operand &target, const ClassOptions &options);

Tensor mse_loss(const Operand &x, const Operand &target, Reduction reduction);
Tensor l1_loss(const Operand &x, const Operand &target, Reduction reduction);
/// Binary cross entropy of sigmoid(x), without overflow. `positiveWeight` multiplies the term of
/// positive targets (`pos_weight`).
Tensor bce_with_logits(const Operand &x, const Operand &target, Reduction reduction,
                       const Operand &positiveWeight = Tensor());
/// Kullback-Leibler divergence target * (log target - x) for log-probabilities x. Reduction::Mean
/// averages over all elements, as in PyTorch.
Tensor kl_div(const Operand &x, const Operand &target, Reduction reduction);

// Overloads of the losses with two operands, which can be passed as functions, for example to
// dlc::train().
Tensor cross_entropy(const Operand &logits, const Operand &target);
Tensor nll_loss(const Operand &x, const Operand &target);
Tensor mse_loss(const Operand &x, const Operand &target);
Tensor l1_loss(const Operand &x, const Operand &target);
Tensor bce_with_logits(const Operand &x, const Operand &target);
Tensor kl_div(const Operand &x, const Operand &target);

} // namespace dlc::loss

namespace dlc::metric {

/// Returns the fraction of targets that equal the index of the largest logit along dimension 1.
trace::Tensor accuracy(const trace::Operand &logits, const trace::Operand &target);

} // namespace dlc::metric

#endif // DLC_LOSS_HPP
