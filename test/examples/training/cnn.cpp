// cnn.cpp - trains a small convolutional network with batch norm on handwritten digits, with SGD
// with momentum, a cosine schedule and a checkpoint. Saves the parameters at the end.
#include <dlc/data.hpp>
#include <dlc/train.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

struct Cnn : dlc::nn::Module {
  Conv2d c1 = add("c1", Conv2d(1, 16, 3, {.padding = 1}, false)),
         c2 = add("c2", Conv2d(16, 32, 3, {.padding = 1}, false));
  BatchNorm2d b1 = add("b1", BatchNorm2d(16)), b2 = add("b2", BatchNorm2d(32));
  Linear out = add("out", Linear(32 * 2 * 2, 10));
  Tensor forward(Tensor x) override {
    x = max_pool2d(relu(b1(c1(x))), 2);
    x = max_pool2d(relu(b2(c2(x))), 2);
    return out(flatten(x, 1));
  }
};

double accuracy(const dlc::Model &net, const dlc::data::Dataset &digits) {
  int right = 0;
  for (auto [x, t] : dlc::data::loader(digits, {.batch = digits.size()})) {
    dlc::Tensor y = net.run({{"x", x}})["y"];
    for (int64_t i = 0; i < digits.size(); ++i) {
      const float *row = y.data<float>() + 10 * i;
      right += std::max_element(row, row + 10) - row == t.data<int64_t>()[i];
    }
  }
  return double(right) / double(digits.size());
}

int main(int argc, char **argv) try {
  std::string folder = argc > 1 ? argv[1] : ".";
  auto digits = dlc::data::npz(folder + "/digits.npz", {"x", "target"});
  auto unseen = dlc::data::npz(folder + "/digits-test.npz", {"x", "target"});

  Cnn cnn;
  constexpr int64_t epochs = 12, perEpoch = 44;
  auto sgd = dlc::optim::sgd(
      {.lr = dlc::optim::warmUp(perEpoch, dlc::optim::cosine(0.05, epochs * perEpoch)),
       .momentum = 0.9,
       .weightDecay = 1e-4});
  auto step = dlc::train(cnn, dlc::loss::cross_entropy, sgd,
                         {{"x", {32, 1, 8, 8}}, {"t", {32}, dlc::DType::I64}});
  auto batches = dlc::data::loader(digits, {.batch = 32, .shuffle = true, .dropLast = true});
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    float loss = 0;
    for (auto [x, t] : batches)
      loss = step(x, t);
    std::printf("epoch %d: loss %.4f after %d steps\n", int(epoch), loss, int(step.steps()));
    step.save(folder + "/checkpoint.safetensors");
  }
  double found = accuracy(step.predictor({{"x", {unseen.size(), 1, 8, 8}}}), unseen);

  // The same network again, with the parameters of the file.
  cnn.save(folder + "/cnn.safetensors");
  Cnn again;
  again.load(folder + "/cnn.safetensors");
  dlc::Model net = dlc::compile(dlc::trace::trace(again, {{"x", {unseen.size(), 1, 8, 8}}}));
  std::printf("accuracy %.4f, and %.4f from the file\n", found, accuracy(net, unseen));
  return found >= 0.97 ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
