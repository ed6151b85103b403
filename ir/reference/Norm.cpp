//===- Norm.cpp - normalisation -------------------------------------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Softmax or its logarithm along one axis.
static Tensor softmax(Operation *op, const Tensor &x, int64_t axis, bool logarithm) {
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
  outputs.push_back(softmax(*this, inputs[0], getAxis(), false));
  return success();
}
LogicalResult LogSoftmaxOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(softmax(*this, inputs[0], getAxis(), true));
  return success();
}

/// A parameter stretched to `shape`, as doubles.
static std::vector<double> stretched(const Tensor &parameter, ArrayRef<int64_t> shape) {
  Tensor wide = Tensor::empty(RankedTensorType::get(shape, parameter.getElementType()));
  copyStrided(parameter, 0, broadcastStrides(parameter.getShape(), shape), wide);
  return loadAll<double>(wide);
}

/// Rows from `axis` on, less their mean when `centred`, over their deviation, times scale plus
/// bias.
static Tensor normalise(Operation *op, const Tensor &x, const Tensor &scale, const Tensor &bias,
                        int64_t axis, double eps, bool centred) {
  Tensor y = makeResult(op->getResult(0), x.getShape(), x.getElementType());
  const AxisView view(x.getShape(), axis, x.getRank());
  ArrayRef<int64_t> rest = x.getShape().drop_front(axis);
  // Adding -0 changes nothing, not even the sign of a zero.
  std::vector<double> scales(view.size, 1), offsets(view.size, -0.0), values = loadAll<double>(x);
  if (scale)
    scales = stretched(scale, rest);
  if (bias)
    offsets = stretched(bias, rest);
  for (int64_t o = 0; o < view.outer; ++o) {
    double *row = values.data() + o * view.size;
    double mean = 0, square = 0;
    for (int64_t k = 0; k < view.size && centred; ++k)
      mean += row[k] / double(view.size);
    for (int64_t k = 0; k < view.size; ++k)
      square += (row[k] - mean) * (row[k] - mean) / double(view.size);
    for (int64_t k = 0; k < view.size; ++k)
      row[k] = (row[k] - mean) / std::sqrt(square + eps) * scales[k] + offsets[k];
  }
  storeAll<double>(y, values);
  return y;
}

LogicalResult LayerNormOp::evaluate(Inputs inputs, Outputs outputs) {
  // Absent operands leave no gap in the inputs.
  Inputs rest = inputs.drop_front();
  Tensor scale, bias;
  if (getScale())
    scale = rest.consume_front();
  if (getBias())
    bias = rest.consume_front();
  outputs.push_back(
      normalise(*this, inputs[0], scale, bias, getAxis(), getEps().convertToDouble(), true));
  return success();
}

LogicalResult RmsNormOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(normalise(*this, inputs[0], getScale() ? inputs[1] : Tensor(), Tensor(),
                              getAxis(), getEps().convertToDouble(), false));
  return success();
}

LogicalResult GroupNormOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0];
  Inputs rest = inputs.drop_front();
  Tensor scale, bias;
  if (getScale())
    scale = rest.consume_front();
  if (getBias())
    bias = rest.consume_front();
  const AxisView view(x.getShape(), 1);
  const int64_t groups = int64_t(getGroups()), channels = view.size / groups,
                count = channels * view.inner;
  std::vector<double> values = loadAll<double>(x);
  for (int64_t group = 0; group < view.outer * groups; ++group) {
    double *row = values.data() + group * count;
    double mean = 0, square = 0;
    for (int64_t i = 0; i < count; ++i)
      mean += row[i] / double(count);
    for (int64_t i = 0; i < count; ++i)
      square += (row[i] - mean) * (row[i] - mean) / double(count);
    const double deviation = std::sqrt(square + getEps().convertToDouble());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = group % groups * channels + i / view.inner;
      // Adding -0 changes nothing, not even the sign of a zero.
      row[i] = (row[i] - mean) / deviation * (scale ? scale.getDouble(c) : 1) +
               (bias ? bias.getDouble(c) : -0.0);
    }
  }
  Tensor y = makeResult(getY(), x.getShape(), x.getElementType());
  storeAll<double>(y, values);
  outputs.push_back(y);
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

/// Calls `f(c, i)` for every element i of x, in order, with its channel.
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
