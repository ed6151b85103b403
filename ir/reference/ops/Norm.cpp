//===- Norm.cpp - reference evaluation of normalizations ------------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Computes the softmax, or the log-softmax if `logarithm` is set, along one axis.
static Tensor computeSoftmax(Operation *op, const Tensor &x, int64_t axis, bool logarithm) {
  Tensor y = makeResult(op->getResult(0), x.getShape(), x.getElementType());
  const AxisView view(x.getShape(), axis);
  std::vector<double> values = loadAll<double>(x);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      double *row = values.data() + o * view.size * view.inner + i;
      double largest = -HUGE_VAL, sum = 0;
      for (int64_t k = 0; k < view.size; ++k)
        largest = maxOf(largest, row[k * view.inner]);
      for (int64_t k = 0; k < view.size; ++k)
        sum += std::exp(row[k * view.inner] - largest);
      for (int64_t k = 0; k < view.size; ++k) {
        const double shifted = row[k * view.inner] - largest;
        row[k * view.inner] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
  storeAll<double>(y, values);
  return y;
}

LogicalResult SoftmaxOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(computeSoftmax(*this, inputs[0], getAxis(), false));
  return success();
}
LogicalResult LogSoftmaxOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(computeSoftmax(*this, inputs[0], getAxis(), true));
  return success();
}

/// Additive identity. It is -0.0, because x + 0.0 would change -0.0 to 0.0.
static constexpr double kNoOffset = -0.0;

/// Returns a scale or bias broadcast to `shape`, as doubles. A null parameter is replaced by the
/// value `otherwise`.
static std::vector<double> stretched(const Tensor &parameter, ArrayRef<int64_t> shape,
                                     double otherwise) {
  if (!parameter)
    return std::vector<double>(size_t(multiplyDims(shape)), otherwise);
  Tensor wide = Tensor::empty(RankedTensorType::get(shape, parameter.getElementType()));
  copyStrided(parameter, 0, broadcastStrides(parameter.getShape(), shape), wide);
  return loadAll<double>(wide);
}

/// Returns the scale and bias that follow x in the inputs. An absent operand has no input, and is
/// returned as a null tensor.
template <typename Op> static std::pair<Tensor, Tensor> getScaleAndBias(Op op, Inputs inputs) {
  Inputs rest = inputs.drop_front();
  Tensor scale, bias;
  if (op.getScale())
    scale = rest.consume_front();
  if (op.getBias())
    bias = rest.consume_front();
  return {scale, bias};
}

/// Normalizes rows of `size` elements: subtracts the mean if `centred` is set, divides by the
/// standard deviation, multiplies by the scale and adds the bias. Successive rows cycle through
/// `scales` and `offsets`.
static Tensor normalise(Operation *op, const Tensor &x, int64_t size, ArrayRef<double> scales,
                        ArrayRef<double> offsets, double eps, bool centred) {
  Tensor y = makeResult(op->getResult(0), x.getShape(), x.getElementType());
  std::vector<double> values = loadAll<double>(x);
  for (size_t first = 0; first < values.size(); first += size_t(size)) {
    double *row = values.data() + first;
    double mean = 0, square = 0;
    for (int64_t k = 0; k < size && centred; ++k)
      mean += row[k] / double(size);
    for (int64_t k = 0; k < size; ++k)
      square += (row[k] - mean) * (row[k] - mean) / double(size);
    for (int64_t k = 0; k < size; ++k) {
      const size_t at = (first + size_t(k)) % scales.size();
      row[k] = (row[k] - mean) / std::sqrt(square + eps) * scales[at] + offsets[at];
    }
  }
  storeAll<double>(y, values);
  return y;
}

/// Normalizes over the dimensions from `axis` on (layer_norm, rms_norm), with a scale and bias that
/// broadcast to these dimensions.
static Tensor normaliseFrom(Operation *op, int64_t axis, const Tensor &x, const Tensor &scale,
                            const Tensor &bias, double eps, bool centred) {
  const AxisView view(x.getShape(), axis, x.getRank());
  ArrayRef<int64_t> rest = x.getShape().drop_front(axis);
  return normalise(op, x, view.size, stretched(scale, rest, 1), stretched(bias, rest, kNoOffset),
                   eps, centred);
}

LogicalResult LayerNormOp::evaluate(Inputs inputs, Outputs outputs) {
  auto [scale, bias] = getScaleAndBias(*this, inputs);
  outputs.push_back(normaliseFrom(*this, getAxis(), inputs[0], scale, bias,
                                  getEps().convertToDouble(), /*centred=*/true));
  return success();
}

LogicalResult RmsNormOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(normaliseFrom(*this, getAxis(), inputs[0], getScale() ? inputs[1] : Tensor(),
                                  Tensor(), getEps().convertToDouble(), /*centred=*/false));
  return success();
}

LogicalResult GroupNormOp::evaluate(Inputs inputs, Outputs outputs) {
  auto [scale, bias] = getScaleAndBias(*this, inputs);
  const AxisView view(inputs[0].getShape(), 1);
  auto ofImage = [&](const Tensor &parameter, double otherwise) {
    std::vector<double> all;
    for (int64_t c = 0; c < view.size; ++c)
      all.insert(all.end(), size_t(view.inner), parameter ? parameter.getDouble(c) : otherwise);
    return all;
  };
  outputs.push_back(normalise(*this, inputs[0], view.size / int64_t(getGroups()) * view.inner,
                              ofImage(scale, 1), ofImage(bias, kNoOffset),
                              getEps().convertToDouble(), /*centred=*/true));
  return success();
}

LogicalResult BatchNormOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  Tensor y = makeResult(getY(), x.getShape(), x.getElementType());
  const AxisView view(x.getShape(), 1);
  const double eps = getEps().convertToDouble();
  std::vector<double> values = loadAll<double>(x);
  for (int64_t row = 0; row < view.outer * view.size; ++row) {
    const int64_t c = row % view.size;
    const double scale = inputs[1].getDouble(c), bias = inputs[2].getDouble(c);
    const double mean = inputs[3].getDouble(c), deviation = std::sqrt(inputs[4].getDouble(c) + eps);
    for (int64_t i = row * view.inner; i < (row + 1) * view.inner; ++i)
      values[i] = (values[i] - mean) / deviation * scale + bias;
  }
  storeAll<double>(y, values);
  outputs.push_back(y);
  return success();
}

/// Calls `f(c, i)` for every element of x, in order, with the channel c and the row-major index i.
template <typename F> static void forEachInChannel(const AxisView &view, F f) {
  for (int64_t row = 0; row < view.outer * view.size; ++row)
    for (int64_t i = row * view.inner; i < (row + 1) * view.inner; ++i)
      f(row % view.size, i);
}

LogicalResult BatchNormTrainOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &scale = inputs[1], &bias = inputs[2];
  const AxisView view(x.getShape(), 1);
  const int64_t channels = view.size, count = view.outer * view.inner;
  if (channels && !count)
    return emitOpError("(C4) has channels without elements");
  const double eps = getEps().convertToDouble();
  std::vector<double> values = loadAll<double>(x), means(channels), variances(channels);
  forEachInChannel(view, [&](int64_t c, int64_t i) { means[c] += values[i] / double(count); });
  forEachInChannel(view, [&](int64_t c, int64_t i) {
    variances[c] += (values[i] - means[c]) * (values[i] - means[c]) / double(count);
  });
  forEachInChannel(view, [&](int64_t c, int64_t i) {
    values[i] = (values[i] - means[c]) / std::sqrt(variances[c] + eps) * scale.getDouble(c) +
                bias.getDouble(c);
  });
  Tensor y = makeResult(getY(), x.getShape(), x.getElementType());
  Tensor mean = makeResult(getMean(), channels, scale.getElementType());
  Tensor variance = makeResult(getVariance(), channels, scale.getElementType());
  storeAll<double>(y, values);
  storeAll<double>(mean, means);
  storeAll<double>(variance, variances);
  outputs.append({y, mean, variance});
  return success();
}

LogicalResult BatchNormGradOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &dy = inputs[1], &scale = inputs[2];
  const AxisView view(x.getShape(), 1);
  const int64_t channels = view.size;
  const double count = double(view.outer * view.inner), eps = getEps().convertToDouble();
  std::vector<double> values = loadAll<double>(x), slopes = loadAll<double>(dy);
  std::vector<double> deviations(channels), dscales(channels), dbiases(channels);
  for (int64_t c = 0; c < channels; ++c)
    deviations[c] = std::sqrt(inputs[4].getDouble(c) + eps);
  forEachInChannel(view, [&](int64_t c, int64_t i) {
    values[i] = (values[i] - inputs[3].getDouble(c)) / deviations[c];
    dbiases[c] += slopes[i];
    dscales[c] += slopes[i] * values[i];
  });
  forEachInChannel(view, [&](int64_t c, int64_t i) {
    values[i] = scale.getDouble(c) / deviations[c] *
                (slopes[i] - dbiases[c] / count - values[i] * dscales[c] / count);
  });
  Tensor dx = makeResult(getDx(), x.getShape(), x.getElementType());
  Tensor dscale = makeResult(getDscale(), channels, scale.getElementType());
  Tensor dbias = makeResult(getDbias(), channels, scale.getElementType());
  storeAll<double>(dx, values);
  storeAll<double>(dscale, dscales);
  storeAll<double>(dbias, dbiases);
  outputs.append({dx, dscale, dbias});
  return success();
}

LogicalResult LrnOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  Tensor y = makeResult(getY(), x.getShape(), x.getElementType());
  const AxisView view(x.getShape(), 1);
  const int64_t size = getSize(), before = (size - 1) / 2, after = size - 1 - before;
  const double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  const double k = getK().convertToDouble();
  const std::vector<double> values = loadAll<double>(x);
  std::vector<double> results(values.size());
  for (int64_t n = 0; n < view.outer; ++n)
    for (int64_t c = 0; c < view.size; ++c)
      for (int64_t i = 0; i < view.inner; ++i) {
        auto at = [&](int64_t channel) { return (n * view.size + channel) * view.inner + i; };
        double sum = 0;
        for (int64_t near = std::max<int64_t>(0, c - before);
             near <= std::min(view.size - 1, c + after); ++near)
          sum += values[at(near)] * values[at(near)];
        results[at(c)] = values[at(c)] / std::pow(k + alpha / double(size) * sum, beta);
      }
  storeAll<double>(y, results);
  outputs.push_back(y);
  return success();
}

} // namespace dlc
