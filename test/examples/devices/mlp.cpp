// mlp.cpp - trains a perceptron on try_gpu(). The next batch is copied while a step runs.
#include <dlc/train.hpp>

#include <cstdio>
#include <cstdlib>

struct Mlp : dlc::nn::Module {
  Linear hidden = add("hidden", Linear(16, 64)), out = add("out", Linear(64, 1));
  Tensor forward(Tensor x) override { return out(tanh(hidden(x))); }
};

constexpr int64_t kBatch = 64;

/// Returns random inputs, and as targets the mean of their first half minus the mean of the second.
std::pair<dlc::Tensor, dlc::Tensor> batch(uint64_t number) {
  dlc::Tensor x = dlc::Tensor::random({kBatch, 16}, dlc::DType::F32, "cpu", number);
  dlc::Tensor t(dlc::DType::F32, {kBatch, 1});
  for (int64_t i = 0; i < kBatch; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < 16; ++j)
      sum += (j < 8 ? 1.0f : -1.0f) * x.data<float>()[16 * i + j];
    t.data<float>()[i] = sum / 8;
  }
  return {x, t};
}

int main(int argc, char **argv) try {
  dlc::Device device = argc > 1 ? dlc::Device(argv[1]) : dlc::try_gpu();
  Mlp mlp;
  mlp.to(device);
  auto step = dlc::train(mlp, dlc::loss::mse_loss, dlc::optim::adam({.lr = 3e-3}),
                         {{"x", {kBatch, 16}}, {"t", {kBatch, 1}}}, {}, {.device = device.name()});
  // Copies from pinned memory asynchronously. The step that uses the batch waits for the copy.
  auto send = [&](uint64_t number) {
    auto [x, t] = batch(number);
    return std::pair{x.pin().to(device, true), t.pin().to(device, true)};
  };
  float first = 0, last = 0;
  auto next = send(0);
  for (uint64_t i = 0; i < 300; ++i) {
    auto [x, t] = next;
    next = send(i + 1);
    last = step(x, t);
    first = i == 0 ? last : first;
  }
  std::printf("on %s: loss %.5f at first, %.5f after 300 steps\n", device.name().c_str(), first,
              last);
  return last < first / 10 ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
