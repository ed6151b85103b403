// resnet.cpp - trains a ResNet-18 on handwritten digits, resized to 32x32, in several processes:
// mpirun -n 2 resnet FOLDER. Batch norm uses the statistics of the whole batch, so a single process
// learns the same.
#include <dlc/data.hpp>
#include <dlc/train.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

using namespace dlc::nn;

struct Block : Module {
  Block(int64_t in, int64_t out, int64_t stride)
      : conv1(add("conv1", Conv2d(in, out, 3, {.stride = stride, .padding = 1}, false))),
        bn1(add("bn1", BatchNorm2d(out))),
        conv2(add("conv2", Conv2d(out, out, 3, {.padding = 1}, false))),
        bn2(add("bn2", BatchNorm2d(out))), projects(stride != 1 || in != out) {
    if (projects)
      shortcut = add("shortcut",
                     Sequential(Conv2d(in, out, 1, {.stride = stride}, false), BatchNorm2d(out)));
  }
  Tensor forward(Tensor x) override {
    Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + (projects ? shortcut(x) : x));
  }
  Conv2d conv1;
  BatchNorm2d bn1;
  Conv2d conv2;
  BatchNorm2d bn2;
  bool projects;
  Sequential shortcut;
};

struct ResNet18 : Module {
  Conv2d conv1 = add("conv1", Conv2d(1, 64, 7, {.stride = 2, .padding = 3}, false));
  BatchNorm2d bn1 = add("bn1", BatchNorm2d(64));
  Sequential stages =
      add("stages", Sequential(Block(64, 64, 1), Block(64, 64, 1), Block(64, 128, 2),
                               Block(128, 128, 1), Block(128, 256, 2), Block(256, 256, 1),
                               Block(256, 512, 2), Block(512, 512, 1)));
  Linear fc = add("fc", Linear(512, 10));
  Tensor forward(Tensor x) override {
    x = max_pool2d(relu(bn1(conv1(x))), 3, {.stride = 2, .padding = 1});
    return fc(flatten(adaptive_avg_pool2d(stages(x), 1), 1));
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
  dlc::WorldPlace here = dlc::world();
  const int64_t batch = 32 / here.size, epochs = 4, perEpoch = 44;
  auto sgd = dlc::optim::sgd({.lr = dlc::optim::cosine(0.02, epochs * perEpoch), .momentum = 0.9});
  auto step = dlc::train(dlc::data_parallel(ResNet18()), dlc::loss::cross_entropy, sgd,
                         {{"x", {batch, 1, 32, 32}}, {"t", {batch}, dlc::DType::I64}},
                         {.syncBatchNorm = true});
  auto digits = dlc::data::npz(folder + "/digits-32.npz", {"x", "target"});
  auto batches = dlc::data::loader(
      digits,
      {.batch = batch, .shuffle = true, .dropLast = true, .rank = here.rank, .world = here.size});
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    float loss = 0;
    for (auto [x, t] : batches)
      loss = step(x, t);
    if (here.rank == 0)
      std::printf("epoch %d: loss %.4f\n", int(epoch), loss);
  }
  auto unseen = dlc::data::npz(folder + "/digits-32-test.npz", {"x", "target"});
  double found = accuracy(step.predictor({{"x", {unseen.size(), 1, 32, 32}}}), unseen);
  if (here.rank == 0)
    std::printf("%d processes: accuracy %.4f of digits never seen\n", here.size, found);
  return 0;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
