//===- Loss.cpp - classification losses and accuracy ----------------------===//
#include "dlc/loss.hpp"
#include "ir/dlc/Attributes.h"

#include "frontend/trace/State.h"

#include <limits>

using namespace mlir;

namespace dlc::loss {

using namespace trace;

namespace {
/// Scores x [.., C, ..] and class indices, validated. cross_entropy and nll_loss share these
/// operands.
struct ClassLossOperands {
  Tensor x, target;
  int64_t dim, count;

  ClassLossOperands(ApiCall &call, const Operand &given, const Operand &wanted,
                    std::optional<int64_t> ignored) {
    x = call.tensor(call.value(given));
    target = call.tensor(call.value(wanted));
    Shape shape = x.shape();
    call.requireStatic(call.type(given), "for a loss over classes");
    if (shape.empty())
      call.fail("the network's result must be [N, C], [N, C, ..] or [C]; found ", call.type(given));
    dim = shape.size() > 1 ? 1 : 0;
    count = shape[size_t(dim)];
    shape.erase(shape.begin() + dim);
    if (target.shape() != shape)
      call.fail("the targets must be class indices of the shape ", shapeText(shape), " (that of ",
                call.type(given), " without the classes); found ", call.type(wanted));
    if (target.dtype() != DType::I64 && target.dtype() != DType::I32)
      call.fail("the targets must have element type i32 or i64; found ", dtypeName(target.dtype()),
                "; cast them first");
    call.state().recordClassIndices(call.value(wanted), count, ignored);
    target = unsqueeze(target, dim);
  }

  /// Returns the elements of `values` at the target's class, of shape [.., 1, ..]. Computed by
  /// comparison with an iota instead of a gather, so that the selection and its gradient fuse with
  /// the other reductions of the row.
  Tensor picked(ApiCall &call, const Operand &values) const {
    IotaOp::Adaptor::Properties properties;
    properties.axis = call.integer(dim);
    auto type = RankedTensorType::get(line(), elementTypeOf(target.dtype(), call.context()));
    Tensor numbers = call.tensor(call.makeAs<IotaOp>(type, {}, properties));
    return sum(where(numbers == target, values, 0), dim, true);
  }

  Shape line() const {
    Shape shape(size_t(x.rank()), 1);
    shape[size_t(dim)] = count;
    return shape;
  }

  Tensor perClass(const Tensor &weight) const { return reshape(weight, line()); }
};

/// Returns sum / total. If the total is 0, for example because all targets are ignored, the result
/// is NaN with a gradient of 0.
Tensor weightedMean(const Tensor &sum, const Tensor &total) {
  Tensor isZero = total == 0;
  return where(isZero, std::numeric_limits<double>::quiet_NaN(), sum / where(isZero, 1, total));
}

/// Multiplies each loss by its weight and reduces the losses. Without weights, the divisor of the
/// mean is a constant.
Tensor reduceLosses(Tensor each, const Tensor &weight, Reduction reduction, int64_t dim) {
  if (weight)
    each = each * weight;
  if (reduction == Reduction::None)
    return squeeze(each, dim);
  if (reduction == Reduction::Sum)
    return sum(each);
  return weight ? weightedMean(sum(each), sum(weight)) : mean(each);
}

/// Returns the weight of each target: that of its class, or 0 if the target is ignored. Returns an
/// absent tensor if all targets have equal weight.
Tensor weightOf(ApiCall &call, const ClassLossOperands &classes, std::optional<int64_t> ignored,
                const Tensor &weight) {
  Tensor result;
  if (weight)
    result = classes.picked(call, classes.perClass(weight));
  if (!ignored)
    return result;
  Tensor counts = cast(classes.target != *ignored, classes.x.dtype());
  return result ? result * counts : counts;
}

/// Replaces the losses of ignored targets by 0. They cannot be multiplied by 0, because they may be
/// infinite or NaN.
Tensor zeroIgnoredLosses(const Tensor &each, const ClassLossOperands &classes,
                         std::optional<int64_t> ignored) {
  return ignored ? where(classes.target != *ignored, each, 0) : each;
}

/// Cross entropy with class probabilities instead of class indices as the target.
Tensor softCrossEntropy(ApiCall &call, const Operand &logits, const Operand &target,
                        const CrossEntropyOptions &options) {
  Tensor t = call.tensor(call.value(target));
  int64_t dim = t.rank() > 1 ? 1 : 0;
  if (options.ignoreIndex)
    call.fail("ignore_index requires class indices as targets; found probabilities");
  if (options.labelSmoothing != 0)
    t = t * (1 - options.labelSmoothing) + options.labelSmoothing / double(t.dim(dim));
  if (options.weight) {
    Shape line(size_t(t.rank()), 1);
    line[size_t(dim)] = t.dim(dim);
    t = t * reshape(options.weight, line);
  }
  return reduceLosses(-sum(log_softmax(logits, dim) * t, dim, true), Tensor(), options.reduction,
                      dim);
}
} // namespace

Tensor cross_entropy(const Operand &logits, const Operand &target,
                     const CrossEntropyOptions &options) {
  ApiCall call("cross_entropy", {&logits, &target});
  if (!(options.labelSmoothing >= 0 && options.labelSmoothing <= 1))
    call.fail("label smoothing must be from 0 to 1; found ",
              std::to_string(options.labelSmoothing));
  if (isa<FloatType>(call.type(target).getElementType()) &&
      call.type(target).getShape() == call.type(logits).getShape())
    return softCrossEntropy(call, logits, target, options);
  ClassLossOperands classes(call, logits, target, options.ignoreIndex);
  const Tensor &x = classes.x;
  int64_t dim = classes.dim;
  // The maximum of the logits cancels out of the log-sum-exp, so no gradient is computed for it.
  Tensor top = max(x, dim, true);
  State::valueOf(top).getDefiningOp()->setAttr(kNoGradientAttr, call.builder().getUnitAttr());
  Tensor whole = top + log(sum(exp(x - top), dim, true));
  Tensor each = zeroIgnoredLosses(whole - classes.picked(call, x), classes, options.ignoreIndex);
  Tensor weight = weightOf(call, classes, options.ignoreIndex, options.weight);
  if (options.labelSmoothing == 0)
    return reduceLosses(each, weight, options.reduction, dim);

  // Label smoothing term: the sum over all classes c of weight[c] * (whole - x[c]), where `whole`
  // is the log-sum-exp. It is 0 for ignored targets.
  Tensor spread = options.weight ? sum((whole - x) * classes.perClass(options.weight), dim, true)
                                 : whole * double(classes.count) - sum(x, dim, true);
  spread = zeroIgnoredLosses(spread, classes, options.ignoreIndex);
  if (weight)
    each = each * weight;
  each = each * (1 - options.labelSmoothing) +
         spread * (options.labelSmoothing / double(classes.count));
  if (options.reduction == Reduction::Mean && weight)
    return weightedMean(sum(each), sum(weight));
  return reduceLosses(each, Tensor(), options.reduction, dim);
}

Tensor nll_loss(const Operand &x, const Operand &target, const ClassOptions &options) {
  ApiCall call("nll_loss", {&x, &target});
  ClassLossOperands classes(call, x, target, options.ignoreIndex);
  return reduceLosses(
      zeroIgnoredLosses(-classes.picked(call, classes.x), classes, options.ignoreIndex),
      weightOf(call, classes, options.ignoreIndex, options.weight), options.reduction, classes.dim);
}

Tensor cross_entropy(const Operand &logits, const Operand &target) {
  return cross_entropy(logits, target, {});
}
Tensor nll_loss(const Operand &x, const Operand &target) { return nll_loss(x, target, {}); }

} // namespace dlc::loss

namespace dlc::metric {

trace::Tensor accuracy(const trace::Operand &logits, const trace::Operand &target) {
  trace::ApiCall call("accuracy", {&logits, &target});
  trace::Tensor named = argmax(logits, call.type(logits).getRank() > 1 ? 1 : 0);
  if (named.shape() != call.tensor(call.value(target)).shape())
    call.fail("the targets must be class indices of the shape ", trace::shapeText(named.shape()),
              "; found ", call.type(target));
  return mean(cast(named == cast(target, named.dtype()), DType::F32));
}

} // namespace dlc::metric
