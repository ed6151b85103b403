// mlp.cpp - trains a perceptron on handwritten digits with Adam and prefetched batches, and prints
// its accuracy on a test set. The second argument is an optional precision: bf16, or f16 with loss
// scaling.
#include <dlc/data.hpp>
#include <dlc/train.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

struct Mlp : dlc::nn::Module {
  Linear hidden = add("hidden", Linear(64, 256)), out = add("out", Linear(256, 10));
  Dropout dropout = add("dropout", Dropout(0.2));
  Tensor forward(Tensor x) override { return out(dropout(relu(hidden(flatten(x, 1))))); }
};

int main(int argc, char **argv) try {
  std::string folder = argc > 1 ? argv[1] : ".", precision = argc > 2 ? argv[2] : "none";
  auto digits = dlc::data::npz(folder + "/digits.npz", {"x", "target"});
  auto unseen = dlc::data::npz(folder + "/digits-test.npz", {"x", "target"});

  // Without loss scaling, gradients in f16 would underflow.
  std::optional<dlc::LossScale> scale;
  if (precision == "f16")
    scale = dlc::LossScale{};
  Mlp mlp;
  auto step =
      dlc::train(mlp, dlc::loss::cross_entropy, dlc::optim::adam({.lr = 2e-3}),
                 {{"x", {64, 1, 8, 8}}, {"t", {64}, dlc::DType::I64}},
                 {.metrics = {{"accuracy", dlc::metric::accuracy}}, .lossScale = scale, .log = 22},
                 {.precision = precision});
  auto batches = dlc::data::loader(digits, {.batch = 64, .shuffle = true, .dropLast = true});
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (auto [x, t] : batches)
      step(x, t);
    std::printf("epoch %d: loss %.4f\n", epoch, step.log().back()[0]);
  }

  dlc::Model net = step.predictor({{"x", {unseen.size(), 1, 8, 8}}});
  int right = 0;
  for (auto [x, t] : dlc::data::loader(unseen, {.batch = unseen.size()})) {
    dlc::Tensor y = net.run({{"x", x}})["y"];
    for (int64_t i = 0; i < unseen.size(); ++i) {
      const float *row = y.data<float>() + 10 * i;
      right += std::max_element(row, row + 10) - row == t.data<int64_t>()[i];
    }
  }
  double accuracy = double(right) / double(unseen.size());
  std::printf("accuracy %.4f\n", accuracy);
  return accuracy >= 0.97 ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
