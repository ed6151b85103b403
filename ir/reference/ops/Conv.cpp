//===- Conv.cpp - reference evaluation of convolutions --------------------===//
#include "ir/dlc/Infer.h"
#include "ir/reference/ops/Window.h"

using namespace mlir;

namespace dlc {
using namespace ref;

/// Computes to[i] += scale * from[i] for i < count.
template <typename C> static void addScaled(C *to, C scale, const C *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = wrapAdd(to[i], wrapMul(scale, from[i]));
}

/// Adds the bias to accumulators in the layout [batch][position][channel], and stores the rounded
/// result in y as [batch, channel, position].
template <typename C>
static void storeSums(const std::vector<C> &sums, ArrayRef<Tensor> bias, int64_t channels,
                      int64_t positions, Tensor &y) {
  std::vector<C> row(positions), offsets(channels, C(0));
  if (!bias.empty())
    offsets = loadAll<C>(bias.front());
  for (int64_t at = 0; at < y.size(); at += positions) {
    const int64_t channel = at / positions % channels, batch = at / positions / channels;
    for (int64_t p = 0; p < positions; ++p)
      row[p] = wrapAdd(sums[(batch * positions + p) * channels + channel], offsets[channel]);
    storeRow<C>(y, at, positions, row.data());
  }
}

LogicalResult ConvOp::evaluate(Inputs inputs, Outputs outputs) {
  Tensor x = inputs[0], w = inputs[1];
  ArrayRef<Tensor> bias = inputs.slice(2, getBias() ? 1 : 0);
  if (isNarrowInteger(x.getElementType())) {
    const Tensor *zero = bias.end();
    x = subtractZeroPoint(x, getXZeroPoint() ? zero++ : nullptr);
    std::optional<Tensor> ofWeights;
    if (getWZeroPoint()) {
      // A zero point of the weights is per tensor, or per output channel, which is the first
      // dimension of w.
      Shape shape(zero->getRank() ? w.getRank() : 0, 1);
      if (!shape.empty())
        shape[0] = zero->size();
      const Tensor wide = subtractZeroPoint(*zero, nullptr);
      ofWeights = wide.withType(wide.getType().clone(shape));
    }
    w = subtractZeroPoint(w, ofWeights ? &*ofWeights : nullptr);
  }
  ArrayRef<int64_t> image = x.getShape().drop_front(2);
  const Window window{w.getShape().drop_front(2), getStrides(), getDilations(), getLow(),
                      getHigh()};
  const Shape spatial = window.outputShape(image);
  for (int64_t size : spatial)
    if (size < 0)
      return emitOpError("(C5) has a window larger than the padded operand");
  const int64_t groups = getGroups(), batches = x.getShape()[0], channels = x.getShape()[1];
  const int64_t features = w.getShape()[0], pixels = multiplyDims(image),
                positions = multiplyDims(spatial);
  const int64_t places = multiplyDims(window.size);
  if (groups < 1 || channels % groups || features % groups || w.getShape()[1] != channels / groups)
    return emitOpError("(C3) the channels of x and of the weights do not match with ")
           << groups << " groups";
  const int64_t channelsPer = channels / groups, featuresPer = features / groups;
  Shape shape{batches, features};
  shape.append(spatial);
  Tensor y = makeResult(getY(), shape, x.getElementType());

  dispatchComputeType(y.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> values = loadAll<C>(x), weights = loadAll<C>(w);
    // Weights in the order [group][window element][channel][feature], so that the innermost loop
    // runs over features.
    std::vector<C> ordered(weights.size());
    for (int64_t f = 0; f < features; ++f)
      for (int64_t c = 0; c < channelsPer; ++c)
        for (int64_t p = 0; p < places; ++p)
          ordered[((f / featuresPer * places + p) * channelsPer + c) * featuresPer +
                  f % featuresPer] = weights[(f * channelsPer + c) * places + p];
    std::vector<C> sums(batches * positions * features, C(0));
    window.forEachOutput(image, spatial, [&](int64_t position, ArrayRef<Window::Tap> taps) {
      for (int64_t n = 0; n < batches; ++n)
        for (int64_t g = 0; g < groups; ++g) {
          C *to = sums.data() + (n * positions + position) * features + g * featuresPer;
          for (Window::Tap tap : taps)
            for (int64_t c = 0; c < channelsPer; ++c)
              addScaled(to, values[(n * channels + g * channelsPer + c) * pixels + tap.input],
                        ordered.data() + ((g * places + tap.place) * channelsPer + c) * featuresPer,
                        featuresPer);
        }
    });
    storeSums<C>(sums, bias, features, positions, y);
  });
  outputs.push_back(y);
  return success();
}

LogicalResult ConvTransposeOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &w = inputs[1];
  ArrayRef<int64_t> image = x.getShape().drop_front(2);
  const Window window{w.getShape().drop_front(2), getStrides(), getDilations(), getLow(),
                      getHigh()};
  const int64_t groups = getGroups(), batches = x.getShape()[0], channels = x.getShape()[1];
  if (groups < 1 || channels % groups || w.getShape()[0] != channels)
    return emitOpError("(C3) the channels of x and of the weights do not match with ")
           << groups << " groups";
  const int64_t featuresPer = w.getShape()[1], features = featuresPer * groups;
  const int64_t channelsPer = channels / groups;
  Shape spatial;
  for (size_t d = 0; d < image.size(); ++d) {
    const int64_t extent = (window.size[d] - 1) * window.dilations[d] + 1;
    spatial.push_back((image[d] - 1) * window.strides[d] + extent - window.low[d] - window.high[d] +
                      getExtra()[d]);
    if (spatial.back() < 0)
      return emitOpError("(C5) leaves spatial dimension ")
             << d << " with " << spatial.back() << " elements";
  }
  Shape shape{batches, features};
  shape.append(spatial);
  Tensor y = makeResult(getY(), shape, x.getElementType());
  const int64_t pixels = multiplyDims(image), positions = multiplyDims(spatial),
                places = multiplyDims(window.size);

  dispatchComputeType(y.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> values = loadAll<C>(x), weights = loadAll<C>(w);
    // Weights in the order [window element][channel][feature within the group], so that the
    // innermost loop runs over features.
    std::vector<C> ordered(weights.size());
    for (int64_t cf = 0; cf < channels * featuresPer; ++cf)
      for (int64_t p = 0; p < places; ++p)
        ordered[p * channels * featuresPer + cf] = weights[cf * places + p];
    std::vector<C> sums(batches * positions * features, C(0));
    // Transposed convolution as the adjoint of a convolution: the window slides over the result,
    // and its positions are the pixels of x.
    window.forEachOutput(spatial, image, [&](int64_t pixel, ArrayRef<Window::Tap> taps) {
      for (int64_t n = 0; n < batches; ++n)
        for (Window::Tap tap : taps)
          for (int64_t c = 0; c < channels; ++c)
            addScaled(sums.data() + (n * positions + tap.input) * features +
                          c / channelsPer * featuresPer,
                      values[(n * channels + c) * pixels + pixel],
                      ordered.data() + (tap.place * channels + c) * featuresPer, featuresPer);
    });
    storeSums<C>(sums, inputs.drop_front(2), features, positions, y);
  });
  outputs.push_back(y);
  return success();
}

LogicalResult ConvWeightGradOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &x = inputs[0], &dy = inputs[1];
  ArrayRef<int64_t> image = x.getShape().drop_front(2), spatial = dy.getShape().drop_front(2);
  const Window window{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  if (ArrayRef<int64_t>(window.outputShape(image)) != spatial)
    return emitOpError("(C5) does not match dy's spatial dimensions");
  const int64_t groups = getGroups(), batches = x.getShape()[0], channels = x.getShape()[1];
  const int64_t features = dy.getShape()[1];
  if (groups < 1 || channels % groups || features % groups)
    return emitOpError("(C3) the channels of x and of dy do not match with ")
           << groups << " groups";
  const int64_t channelsPer = channels / groups, featuresPer = features / groups;
  const int64_t pixels = multiplyDims(image), positions = multiplyDims(spatial);
  const int64_t places = multiplyDims(window.size);
  Shape shape{features, channelsPer};
  llvm::append_range(shape, window.size);
  Tensor dw = makeResult(getDw(), shape, x.getElementType());

  const std::vector<double> values = loadAll<double>(x), slopes = loadAll<double>(dy);
  // `ordered` is [batch][pixel][channel] and `sums` is [window element][feature][channel of the
  // group], so that the innermost loop runs over channels.
  std::vector<double> ordered(values.size()), sums(dw.size()), results(dw.size());
  for (int64_t n = 0; n < batches; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < pixels; ++p)
        ordered[(n * pixels + p) * channels + c] = values[(n * channels + c) * pixels + p];
  window.forEachOutput(image, spatial, [&](int64_t position, ArrayRef<Window::Tap> taps) {
    for (int64_t n = 0; n < batches; ++n)
      for (Window::Tap tap : taps)
        for (int64_t f = 0; f < features; ++f)
          addScaled(sums.data() + (tap.place * features + f) * channelsPer,
                    slopes[(n * features + f) * positions + position],
                    ordered.data() + (n * pixels + tap.input) * channels +
                        f / featuresPer * channelsPer,
                    channelsPer);
  });
  for (int64_t p = 0; p < places; ++p)
    for (int64_t fc = 0; fc < features * channelsPer; ++fc)
      results[fc * places + p] = sums[p * features * channelsPer + fc];
  storeAll<double>(dw, results);
  outputs.push_back(dw);
  return success();
}

} // namespace dlc
