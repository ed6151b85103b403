//===- digits.cpp - dlc-train-digits: compares --accuracy strict and default on real data -----===//
//
// Trains a benchmark network for small images on handwritten digits, once with each accuracy, from
// the same parameters and with the same batches, and compares the accuracy on the test set.
//
//===----------------------------------------------------------------------------------------===//
#include "dlc/data.hpp"
#include "dlc/train.hpp"
#include "tools/bench/networks/Training.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace dlc;

namespace {
/// Resizes images [n, 1, h, w] in [0, 1] to [n, 3, size, size] in [-1, 1] with bilinear
/// interpolation.
Tensor resizeImages(const Tensor &x, int64_t size) {
  int64_t n = x.shape()[0], height = x.shape()[2], width = x.shape()[3];
  Tensor large(DType::F32, {n, 3, size, size});
  auto weigh = [&](int64_t i, int64_t from, int64_t &low, int64_t &high) {
    double at =
        std::clamp((double(i) + 0.5) * double(from) / double(size) - 0.5, 0.0, double(from - 1));
    low = int64_t(at);
    high = std::min(low + 1, from - 1);
    return float(at - double(low));
  };
  float *to = large.data<float>();
  for (int64_t image = 0; image < n; ++image)
    for (int64_t channel = 0; channel < 3; ++channel)
      for (int64_t y = 0; y < size; ++y)
        for (int64_t column = 0; column < size; ++column) {
          const float *picture = x.data<float>() + image * height * width;
          int64_t top, bottom, left, right;
          float down = weigh(y, height, top, bottom), across = weigh(column, width, left, right);
          auto row = [&](int64_t at) {
            return picture[at * width + left] * (1 - across) + picture[at * width + right] * across;
          };
          *to++ = 2 * (row(top) * (1 - down) + row(bottom) * down) - 1;
        }
  return large;
}

data::Dataset loadDigits(const std::string &path, int64_t size) {
  data::NamedTensors fields = data::readNpz(path);
  auto find = [&](const char *name) {
    for (auto &[each, tensor] : fields)
      if (each == name)
        return tensor;
    throw Error("'" + path + "' must have an array '" + name + "'");
  };
  Tensor x = find("x"), target = find("target");
  if (x.dtype() != DType::F32 || x.shape().size() != 4 || x.shape()[1] != 1)
    throw Error("'x' of '" + path + "' must be f32 pictures [n, 1, height, width]");
  return data::arrays(resizeImages(x, size), target);
}

double computeAccuracy(const Model &net, const data::Dataset &unseen) {
  int64_t right = 0;
  for (auto [x, t] : data::loader(unseen, {.batch = unseen.size()})) {
    Tensor y = net.run({{"x", x}}).begin()->second;
    for (int64_t i = 0; i < unseen.size(); ++i) {
      const float *row = y.data<float>() + 10 * i;
      right += std::max_element(row, row + 10) - row == t.data<int64_t>()[i];
    }
  }
  return double(right) / double(unseen.size());
}

struct TrainingPlan {
  std::string network;
  int64_t size, batch, epochs;
  double rate;
};

/// Trains the network with the given --accuracy mode and returns its classification accuracy on the
/// test set.
double learn(const TrainingPlan &plan, const std::string &accuracy, const data::Dataset &seen,
             const data::Dataset &unseen, int threads) {
  auto start = std::chrono::steady_clock::now();
  bench::TrainingSetup training = bench::makeTraining(plan.network, plan.batch);
  training.inputs[0].shape = {plan.batch, 3, plan.size, plan.size};
  int64_t steps = seen.size() / plan.batch;
  auto sgd = optim::sgd(
      {.lr = optim::warmUp(steps, optim::cosine(plan.rate, plan.epochs * steps)), .momentum = 0.9});
  Step step = train(training.module, training.loss, sgd, training.inputs, {},
                    {.threads = threads, .accuracy = accuracy});
  float first = 0, last = 0;
  auto batches = data::loader(seen, {.batch = plan.batch, .shuffle = true, .dropLast = true});
  for (int64_t epoch = 0; epoch < plan.epochs; ++epoch)
    for (auto [x, t] : batches) {
      last = step(x, t);
      if (step.steps() == 1)
        first = last;
    }
  int64_t transforms = 0, parts = 0;
  for (const ModelCommand &command : step.model().commands()) {
    transforms += command.implementation.find("winograd") != std::string::npos;
    parts += command.implementation.find("tiles") != std::string::npos;
  }
  if (accuracy == "strict" && transforms + parts > 0)
    throw Error("accuracy strict took " + std::to_string(transforms + parts) +
                " kernels that it does not permit");
  if (accuracy != "strict" && transforms + parts == 0)
    throw Error(
        "accuracy " + accuracy +
        " used neither Winograd transforms nor bf16 parts, so that there is nothing to compare");
  trace::Spec all = training.inputs[0];
  all.shape[0] = unseen.size();
  double found = computeAccuracy(step.predictor({all}), unseen);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-10s %-8s %4d steps   loss %.4f to %.4f   accuracy %.4f   %d by transforms, %d in "
              "parts   %.1f s\n",
              plan.network.c_str(), accuracy.c_str(), int(step.steps()), double(first),
              double(last), found, int(transforms), int(parts), seconds);
  std::fflush(stdout);
  return found;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Trains a benchmark network for small pictures on digits, with each accuracy");
  std::string folder;
  TrainingPlan plan{"resnet-56", 16, 64, 6, 0.05};
  int threads = 0;
  double least = 0.95, apart = 0.015;
  app.add_option("network", plan.network, "resnet-56 or alexnet-r")->required();
  app.add_option("folder", folder, "Folder with digits.npz and digits-test.npz")->required();
  app.add_option("--size", plan.size, "Height and width of the images");
  app.add_option("--batch", plan.batch, "Batch size");
  app.add_option("--epochs", plan.epochs, "Number of epochs");
  app.add_option("--lr", plan.rate, "Maximum learning rate");
  app.add_option("--threads", threads, "Number of threads; 0: all");
  app.add_option("--least", least, "Minimum test accuracy");
  app.add_option("--apart", apart, "Maximum difference of the test accuracies");
  CLI11_PARSE(app, argc, argv);
  try {
    data::Dataset seen = loadDigits(folder + "/digits.npz", plan.size),
                  unseen = loadDigits(folder + "/digits-test.npz", plan.size);
    double faster = learn(plan, "default", seen, unseen, threads),
           strict = learn(plan, "strict", seen, unseen, threads);
    bool good = std::min(faster, strict) >= least && std::abs(faster - strict) <= apart;
    std::printf("%s: default %.4f, strict %.4f: %s\n", plan.network.c_str(), faster, strict,
                good ? "the same" : "not the same");
    return good ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-train-digits: %s\n", error.what());
    return 1;
  }
}
