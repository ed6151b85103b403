//===- MobileNet.cpp - MobileNetV2 ----------------------------------------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
Sequential convBnRelu6(int64_t in, int64_t out, int64_t window, int64_t stride, int64_t groups) {
  trace::ConvOptions options{.stride = stride, .padding = (window - 1) / 2, .groups = groups};
  return Sequential(Conv2d(in, out, window, options, false), BatchNorm2d(out), ReLU6());
}

struct InvertedResidual : Module {
  InvertedResidual(int64_t in, int64_t out, int64_t stride, int64_t expansion)
      : residual(stride == 1 && in == out) {
    int64_t wide = in * expansion;
    Sequential parts;
    if (expansion != 1)
      parts.append(convBnRelu6(in, wide, 1, 1, 1));
    parts.append(convBnRelu6(wide, wide, 3, stride, wide));
    parts.append(Conv2d(wide, out, 1, {}, false));
    parts.append(BatchNorm2d(out));
    conv = add("conv", parts);
  }
  Tensor forward(Tensor x) override {
    Tensor y = conv(x);
    return residual ? x + y : y;
  }
  bool residual;
  Sequential conv;
};

struct MobileNetV2 : Module {
  Sequential features = add("features", makeFeatures());
  Sequential classifier = add("classifier", Sequential(Dropout(0.2), Linear(1280, 1000)));

  static Sequential makeFeatures() {
    struct Stage {
      int64_t expansion, channels, count, stride;
    };
    constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    Sequential features;
    features.append(convBnRelu6(3, 32, 3, 2, 1));
    int64_t in = 32;
    for (const Stage &stage : stages)
      for (int64_t i = 0; i < stage.count; ++i) {
        features.append(
            InvertedResidual(in, stage.channels, i == 0 ? stage.stride : 1, stage.expansion));
        in = stage.channels;
      }
    features.append(convBnRelu6(in, 1280, 1, 1, 1));
    return features;
  }
  Tensor forward(Tensor x) override {
    return classifier(flatten(adaptive_avg_pool2d(features(x), 1), 1));
  }
};
} // namespace

std::shared_ptr<Module> makeMobileNetV2() { return std::make_shared<MobileNetV2>(); }

} // namespace dlc::bench
