//===- Layers.cpp - linear, convolution, normalization and pooling layers --===//
#include "frontend/trace/RankPart.h"

namespace dlc::nn {

namespace {
/// Returns a window option with `count` entries. A single entry is repeated.
Dims repeatWindowOption(const char *layer, Dims dims, size_t count) {
  if (dims.size() == 1)
    dims.resize(count, dims[0]);
  if (dims.size() != count)
    throw Error(std::string(layer) + ": the window must have one entry, or one for each of the " +
                std::to_string(count) + " spatial dimensions; found " +
                std::to_string(dims.size()));
  return dims;
}

void checkPositive(const char *layer, std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes)
    if (size < 1)
      throw Error(std::string(layer) + ": sizes must be 1 or more; found " + std::to_string(size));
}

int64_t multiplySizes(const Dims &dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}
} // namespace

Linear::Linear(int64_t in, int64_t out, bool withBias) {
  markLayer();
  checkPositive("Linear", {in, out});
  weight = parameter("weight", {out, in}, Init::fanIn(in));
  if (withBias)
    bias = parameter("bias", {out}, Init::fanIn(in));
}
Tensor Linear::forward(Tensor x) { return trace::linear(x, weight, bias); }

ConvNd::ConvNd(int64_t rank, int64_t in, int64_t out, Dims window, ConvOptions options,
               bool withBias)
    : options(std::move(options)) {
  markLayer();
  window = repeatWindowOption("Conv", std::move(window), size_t(rank));
  int64_t groups = this->options.groups;
  checkPositive("Conv", {in, out, groups, *std::min_element(window.begin(), window.end())});
  if (in % groups != 0 || out % groups != 0)
    throw Error("Conv: the number of groups must divide the channels; found " +
                std::to_string(groups) + " groups for " + std::to_string(in) + " and " +
                std::to_string(out) + " channels");
  Shape shape = {out, in / groups};
  shape.insert(shape.end(), window.begin(), window.end());
  int64_t fanIn = in / groups * multiplySizes(window);
  weight = parameter("weight", shape, Init::fanIn(fanIn));
  if (withBias)
    bias = parameter("bias", {out}, Init::fanIn(fanIn));
}
Tensor ConvNd::forward(Tensor x) { return trace::conv(x, weight, bias, options); }

ConvTranspose2d::ConvTranspose2d(int64_t in, int64_t out, Dims window, ConvOptions options,
                                 Dims outputPadding, bool withBias)
    : options(std::move(options)), outputPadding(std::move(outputPadding)) {
  markLayer();
  window = repeatWindowOption("ConvTranspose2d", std::move(window), 2);
  int64_t groups = this->options.groups;
  checkPositive("ConvTranspose2d", {in, out, groups, window[0], window[1]});
  if (in % groups != 0 || out % groups != 0)
    throw Error("ConvTranspose2d: the number of groups must divide the channels; found " +
                std::to_string(groups));
  int64_t fanIn = out / groups * multiplySizes(window);
  weight = parameter("weight", {in, out / groups, window[0], window[1]}, Init::fanIn(fanIn));
  if (withBias)
    bias = parameter("bias", {out}, Init::fanIn(fanIn));
}
Tensor ConvTranspose2d::forward(Tensor x) {
  return trace::conv_transpose(x, weight, bias, options, outputPadding);
}

BatchNorm::BatchNorm(int64_t features, double eps, double momentum) : eps(eps), momentum(momentum) {
  markLayer();
  checkPositive("BatchNorm", {features});
  weight = parameter("weight", {features}, Init::constant(1));
  bias = parameter("bias", {features}, Init::constant(0));
  runningMean = buffer("running_mean", {features}, Init::constant(0));
  runningVar = buffer("running_var", {features}, Init::constant(1));
  batches = buffer("num_batches_tracked", {}, Init::constant(0), DType::I64);
}
Tensor BatchNorm::forward(Tensor x) {
  if (!isTraining())
    return trace::batch_norm(x, weight, bias, runningMean, runningVar, eps);
  auto [y, mean, variance] = trace::batch_norm_train(x, weight, bias, eps);
  int64_t count = 1;
  Shape shape = x.shape();
  for (size_t i = 0; i < shape.size(); ++i)
    count *= i == 1 ? 1 : shape[i];
  // The product of the sizes is negative or 0 if a size is dynamic (-1).
  if (count < 2)
    trace::ApiCall("BatchNorm", {trace::Operand(x)})
        .fail("in training all sizes must be known, with more than one element per channel; found ",
              trace::shapeText(shape), "; give a larger batch, or call eval() on the layer");
  assign(runningMean, runningMean * (1 - momentum) + mean * momentum);
  trace::Operand unbiased(momentum * double(count) / double(count - 1));
  trace::BatchPartScope *rankPart = trace::State::current()->rankPart;
  if (Tensor batches = rankPart ? rankPart->batches() : Tensor())
    unbiased = momentum * (batches * count / (batches * count - 1));
  assign(runningVar, runningVar * (1 - momentum) + variance * unbiased);
  assign(batches, batches + 1);
  return y;
}

LayerNorm::LayerNorm(Dims shape, double eps, bool affine) : eps(eps), dims(int64_t(shape.size())) {
  markLayer();
  if (!affine)
    return;
  weight = parameter("weight", shape, Init::constant(1));
  bias = parameter("bias", shape, Init::constant(0));
}
Tensor LayerNorm::forward(Tensor x) { return trace::layer_norm(x, weight, bias, eps, dims); }

RMSNorm::RMSNorm(Dims shape, double eps) : eps(eps), dims(int64_t(shape.size())) {
  markLayer();
  weight = parameter("weight", shape, Init::constant(1));
}
Tensor RMSNorm::forward(Tensor x) { return trace::rms_norm(x, weight, eps, dims); }

GroupNorm::GroupNorm(int64_t groups, int64_t features, double eps) : groups(groups), eps(eps) {
  markLayer();
  checkPositive("GroupNorm", {groups, features});
  weight = parameter("weight", {features}, Init::constant(1));
  bias = parameter("bias", {features}, Init::constant(0));
}
Tensor GroupNorm::forward(Tensor x) { return trace::group_norm(x, groups, weight, bias, eps); }

Embedding::Embedding(int64_t count, int64_t width) {
  markLayer();
  checkPositive("Embedding", {count, width});
  weight = parameter("weight", {count, width}, Init::normal());
}
Tensor Embedding::forward(Tensor indices) { return trace::embedding(indices, weight); }

MaxPool2d::MaxPool2d(Dims window, PoolOptions options)
    : window(std::move(window)), options(std::move(options)) {
  markLayer();
}
Tensor MaxPool2d::forward(Tensor x) { return trace::max_pool2d(x, window, options); }

AvgPool2d::AvgPool2d(Dims window, PoolOptions options)
    : window(std::move(window)), options(std::move(options)) {
  markLayer();
}
Tensor AvgPool2d::forward(Tensor x) { return trace::avg_pool2d(x, window, options); }

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Dims size) : size(std::move(size)) { markLayer(); }
Tensor AdaptiveAvgPool2d::forward(Tensor x) { return trace::adaptive_avg_pool2d(x, size); }

Dropout::Dropout(double probability) : probability(probability) {
  markLayer();
  if (!(probability >= 0 && probability <= 1))
    throw Error("Dropout: the probability must be from 0 to 1; found " +
                std::to_string(probability));
}

Tensor Dropout::forward(Tensor x) { return isTraining() ? trace::dropout(x, probability) : x; }

Flatten::Flatten(int64_t start, int64_t end) : start(start), end(end) { markLayer(); }
Tensor Flatten::forward(Tensor x) { return trace::flatten(x, start, end); }

Apply::Apply(Function function) : function(function) { markLayer(); }
Tensor Apply::forward(Tensor x) { return function(x); }

void Sequential::appendPart(std::shared_ptr<Module> part) {
  markLayer();
  attach(std::to_string(parts.size()), *part);
  parts.push_back(std::move(part));
}
Tensor Sequential::forward(Tensor x) {
  for (const std::shared_ptr<Module> &part : parts)
    x = (*part)(x);
  return x;
}

} // namespace dlc::nn
