//===- AlexNet.cpp - AlexNet-S (ImageNet) and AlexNet-R (CIFAR-10) --------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
/// Returns 3x3 max pooling with stride 2 and TensorFlow's SAME padding: an odd padding element is
/// added at the end.
Tensor maxPoolSamePadding(const Tensor &x) {
  trace::PoolOptions options{.stride = 2, .padding = {}, .high = {}};
  for (int64_t d : {2, 3}) {
    int64_t size = x.dim(d), padding = std::max<int64_t>(((size + 1) / 2 - 1) * 2 + 3 - size, 0);
    options.padding.push_back(padding / 2);
    options.high.push_back(padding - padding / 2);
  }
  return max_pool2d(x, 3, options);
}

struct AlexNetS : Module {
  // SAME padding for an 11x11 window of stride 4, from 224 to 56 pixels: 3 before and 4 after.
  Conv2d c1 = add("c1", Conv2d(3, 96, 11, {.stride = 4, .padding = 3, .high = 4}));
  Conv2d c2 = add("c2", Conv2d(96, 256, 5, {.padding = 2}));
  Conv2d c3 = add("c3", Conv2d(256, 384, 3, {.padding = 1}));
  Conv2d c4 = add("c4", Conv2d(384, 384, 3, {.padding = 1}));
  Conv2d c5 = add("c5", Conv2d(384, 256, 3, {.padding = 1}));
  Linear f6 = add("f6", Linear(256 * 49, 4096)), f7 = add("f7", Linear(4096, 4096)),
         f8 = add("f8", Linear(4096, 1000));

  Tensor forward(Tensor x) override {
    x = maxPoolSamePadding(relu(c1(x)));
    x = maxPoolSamePadding(relu(c2(x)));
    x = relu(c3(x));
    x = relu(c4(x));
    x = maxPoolSamePadding(relu(c5(x)));
    x = relu(f6(flatten(x, 1)));
    return f8(relu(f7(x)));
  }
};

struct AlexNetR : Module {
  Conv2d c1 = add("c1", Conv2d(3, 32, 5, {.padding = 2}));
  Conv2d c2 = add("c2", Conv2d(32, 32, 5, {.padding = 2}));
  Conv2d c3 = add("c3", Conv2d(32, 64, 5, {.padding = 2}));
  Linear f = add("f", Linear(64 * 4 * 4, 10));

  Tensor forward(Tensor x) override {
    trace::PoolOptions up{.stride = 2, .ceilMode = true};
    x = relu(max_pool2d(c1(x), 3, up));
    x = avg_pool2d(relu(c2(x)), 3, up);
    x = avg_pool2d(relu(c3(x)), 3, up);
    return f(flatten(x, 1));
  }
};
} // namespace

std::shared_ptr<Module> makeAlexNetS() { return std::make_shared<AlexNetS>(); }
std::shared_ptr<Module> makeAlexNetR() { return std::make_shared<AlexNetR>(); }

} // namespace dlc::bench
