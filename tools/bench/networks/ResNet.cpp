//===- ResNet.cpp - ResNet-50 (ImageNet) and ResNet-56 (CIFAR-10) ---------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
Conv2d conv3x3(int64_t in, int64_t out, int64_t stride) {
  return Conv2d(in, out, 3, {.stride = stride, .padding = 1}, false);
}

struct Bottleneck : Module {
  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : conv1(add("conv1", Conv2d(in, width, 1, {}, false))), bn1(add("bn1", BatchNorm2d(width))),
        conv2(add("conv2", conv3x3(width, width, stride))), bn2(add("bn2", BatchNorm2d(width))),
        conv3(add("conv3", Conv2d(width, 4 * width, 1, {}, false))),
        bn3(add("bn3", BatchNorm2d(4 * width))), projects(stride != 1 || in != 4 * width) {
    if (projects)
      downsample = add("downsample", Sequential(Conv2d(in, 4 * width, 1, {.stride = stride}, false),
                                                BatchNorm2d(4 * width)));
  }
  Tensor forward(Tensor x) override {
    Tensor y = relu(bn1(conv1(x)));
    y = relu(bn2(conv2(y)));
    y = bn3(conv3(y));
    return relu(y + (projects ? downsample(x) : x));
  }
  Conv2d conv1;
  BatchNorm2d bn1;
  Conv2d conv2;
  BatchNorm2d bn2;
  Conv2d conv3;
  BatchNorm2d bn3;
  bool projects;
  Sequential downsample;
};

struct ResNet50 : Module {
  Conv2d conv1 = add("conv1", Conv2d(3, 64, 7, {.stride = 2, .padding = 3}, false));
  BatchNorm2d bn1 = add("bn1", BatchNorm2d(64));
  std::vector<Sequential> stages;
  Linear fc = add("fc", Linear(2048, 1000));

  ResNet50() {
    constexpr int64_t counts[] = {3, 4, 6, 3};
    int64_t in = 64;
    for (int64_t stage = 0; stage < 4; ++stage) {
      Sequential blocks;
      int64_t width = 64 << stage;
      for (int64_t i = 0; i < counts[stage]; ++i) {
        blocks.append(Bottleneck(in, width, i == 0 && stage > 0 ? 2 : 1));
        in = 4 * width;
      }
      stages.push_back(add("layer" + std::to_string(stage + 1), blocks));
    }
  }
  Tensor forward(Tensor x) override {
    x = max_pool2d(relu(bn1(conv1(x))), 3, {.stride = 2, .padding = 1});
    for (Sequential &stage : stages)
      x = stage(x);
    return fc(flatten(adaptive_avg_pool2d(x, 1), 1));
  }
};

struct BasicBlock : Module {
  BasicBlock(int64_t in, int64_t out, int64_t stride)
      : c1(add("c1", conv3x3(in, out, stride))), b1(add("b1", BatchNorm2d(out))),
        c2(add("c2", conv3x3(out, out, 1))), b2(add("b2", BatchNorm2d(out))), stride(stride),
        extra(out - in) {}
  Tensor forward(Tensor x) override {
    Tensor y = b2(c2(relu(b1(c1(x)))));
    if (stride != 1)
      x = pad(avg_pool2d(x, 2), {0, extra / 2, 0, 0}, {0, extra - extra / 2, 0, 0});
    return x + y;
  }
  Conv2d c1;
  BatchNorm2d b1;
  Conv2d c2;
  BatchNorm2d b2;
  int64_t stride, extra;
};

struct ResNet56 : Module {
  Conv2d c = add("c", conv3x3(3, 16, 1));
  BatchNorm2d b = add("b", BatchNorm2d(16));
  Sequential blocks = add("blocks", makeBlocks());
  Linear f = add("f", Linear(64, 10));

  static Sequential makeBlocks() {
    Sequential blocks;
    int64_t in = 16;
    for (int64_t out : {16, 32, 64})
      for (int64_t i = 0; i < 9; ++i) {
        blocks.append(BasicBlock(in, out, i == 0 && out > 16 ? 2 : 1));
        in = out;
      }
    return blocks;
  }
  Tensor forward(Tensor x) override { return f(mean(blocks(relu(b(c(x)))), {2, 3})); }
};
} // namespace

std::shared_ptr<Module> makeResNet50() { return std::make_shared<ResNet50>(); }
std::shared_ptr<Module> makeResNet56() { return std::make_shared<ResNet56>(); }

} // namespace dlc::bench
