//===- ParallelTest.cpp - models on several devices, compiled and run -------------===//
#include "dlc/parallel.hpp"
#include "dlc/train.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace dlc;

namespace {

/// Virtual devices, or GPUs if DLC_TEST_GPUS is set.
const bool kOnGpus = std::getenv("DLC_TEST_GPUS") != nullptr;
const char *const kFirst = kOnGpus ? "cuda:0" : "cpu";
const char *const kSecond = kOnGpus ? "cuda:1" : "cpu:1";

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(16, 32)), out = add("out", Linear(32, 4));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
};

/// A network with the first half on one device and the second half on another.
struct Halves : Mlp {
  Halves() {
    hidden.to(kFirst);
    out.to(kSecond);
  }
  Tensor forward(Tensor x) override { return out(relu(hidden(x.to(kFirst))).to(kSecond)); }
};

std::vector<float> valuesOf(const Tensor &x) {
  Tensor here = x.to("cpu");
  return {here.data<float>(), here.data<float>() + here.elements()};
}

void expectSame(const std::vector<float> &found, const std::vector<float> &wanted,
                double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << "element " << i;
}

template <typename M> std::vector<float> results(M model, const Tensor &x) {
  Model net = compile(trace::trace(model, {{"x", x.shape()}}), {.cacheDir = ""});
  return valuesOf(net.run({{"x", x}})["y"]);
}

std::set<std::string> devicesOf(const Model &model) {
  std::set<std::string> devices;
  for (const ModelCommand &command : model.commands())
    if (command.op != "copy" && command.op != "record" && command.op != "wait")
      devices.insert(command.device);
  return devices;
}

/// Trains for some steps. Returns their losses, followed by all parameters.
template <typename M>
std::vector<float> trained(M model, const trace::Spec &target, StepOptions options = {}) {
  Step step = train(model, loss::mse_loss, optim::adam({.lr = 1e-2}), {{"x", {8, 16}}, target},
                    options, {.cacheDir = ""});
  std::vector<float> figures;
  for (int i = 0; i < 5; ++i)
    figures.push_back(step(Tensor::random({8, 16}, DType::F32, "cpu", uint64_t(i)),
                           Tensor::random({8, 4}, DType::F32, "cpu", uint64_t(100 + i))));
  for (const trace::Parameter &parameter : model.parameters()) {
    trace::Array array = parameter.value();
    for (int64_t i = 0; i < array.size(); ++i)
      figures.push_back(float(array.at(i)));
  }
  return figures;
}

TEST(Parallel, LayersOnTwoDevices) {
  Tensor x = Tensor::random({8, 16});
  Model net = compile(trace::trace(Halves(), {{"x", {8, 16}}}), {.cacheDir = ""});
  Tensor y = net.run({{"x", x}})["y"];
  EXPECT_EQ(y.device(), Device(kSecond));
  expectSame(valuesOf(y), results(Mlp(), x));
  EXPECT_EQ(devicesOf(net), (std::set<std::string>{Device(kFirst).name(), kSecond}));
}

TEST(Parallel, WrittenMovesAreNoImplicitTransfers) {
  Model net =
      compile(trace::trace(Halves(), {{"x", {8, 16}}}), {.forbidTransfers = "*", .cacheDir = ""});
  EXPECT_EQ(net.run({{"x", Tensor::ones({8, 16})}})["y"].device(), Device(kSecond));
}

TEST(Parallel, WholeModelsMove) {
  Tensor x = Tensor::random({8, 16});
  Mlp mlp;
  mlp.to(kSecond);
  Model net =
      compile(trace::trace(mlp, {{"x", {8, 16}, DType::F32, Device(kSecond)}}), {.cacheDir = ""});
  Tensor y = net.run({{"x", x.to(kSecond)}})["y"];
  EXPECT_EQ(y.device(), Device(kSecond));
  EXPECT_EQ(devicesOf(net), std::set<std::string>{kSecond});
  expectSame(valuesOf(y), results(Mlp(), x));
}

TEST(Parallel, TrainingOverTwoDevicesIsThatOfOne) {
  std::vector<float> one = trained(Mlp(), {"t", {8, 4}});
  trace::Spec there{"t", {8, 4}, DType::F32, Device(kSecond)};
  expectSame(trained(Halves(), there), one);
  expectSame(trained(micro_batches(Halves(), 4), there), one);
}

TEST(Parallel, TrainingOnAnotherDevice) {
  std::vector<float> one = trained(Mlp(), {"t", {8, 4}});
  Mlp mlp;
  mlp.to(kSecond);
  Step step = train(mlp, loss::mse_loss, optim::adam({.lr = 1e-2}), {{"x", {8, 16}}, {"t", {8, 4}}},
                    {}, {.device = kSecond, .cacheDir = ""});
  for (int i = 0; i < 5; ++i) {
    Tensor x = Tensor::random({8, 16}, DType::F32, "cpu", uint64_t(i));
    Tensor t = Tensor::random({8, 4}, DType::F32, "cpu", uint64_t(100 + i));
    EXPECT_NEAR(step(x.pin().to(kSecond, true), t.pin().to(kSecond, true)), one[size_t(i)], 1e-5);
  }
  EXPECT_EQ(devicesOf(step.model()), std::set<std::string>{kSecond});
  // The predictor uses the parameters on their device.
  Model net = step.predictor();
  EXPECT_EQ(net.run({{"x", Tensor::ones({8, 16})}})["y"].device(), Device(kSecond));
}

TEST(Parallel, ClassesAreCheckedWhereverTheyAre) {
  Step step =
      train(Mlp(), loss::cross_entropy, optim::sgd({.lr = 0.1}),
            {{"x", {8, 16}}, {"t", {8}, DType::I64}}, {}, {.device = kSecond, .cacheDir = ""});
  Tensor x = Tensor::ones({8, 16}, DType::F32, kSecond);
  EXPECT_GT(step(x, Tensor::zeros({8}, DType::I64, kSecond)), 0);
  try {
    step(x, Tensor::full({8}, 4, DType::I64, kSecond));
    ADD_FAILURE() << "class 4 of 4 was taken";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("found: 4"));
  }
}

TEST(Parallel, DataParallelInference) {
  for (int64_t batch : {8, 7, 1}) {
    Tensor x = Tensor::random({batch, 16});
    expectSame(results(data_parallel(Mlp(), {kFirst, kSecond}), x), results(Mlp(), x));
  }
  Model net = compile(trace::trace(data_parallel(Mlp(), {kFirst, kSecond}), {{"x", {8, 16}}}),
                      {.cacheDir = ""});
  EXPECT_EQ(devicesOf(net).count(kSecond), 1u);
  EXPECT_EQ(net.run({{"x", Tensor::ones({8, 16})}})["y"].device(), Device(kFirst));
  // Constants are on the device already, so only half of the batch is copied to it, and its result
  // back.
  int copies = 0;
  for (const ModelCommand &command : net.commands())
    copies += command.op == "copy" && !kOnGpus;
  EXPECT_LE(copies, 3);
}

TEST(Parallel, DataParallelTraining) {
  std::vector<float> one = trained(Mlp(), {"t", {8, 4}});
  trace::Spec target{"t", {8, 4}, DType::F32, Device(kFirst)};
  expectSame(trained(data_parallel(Mlp(), {kFirst, kSecond}), target), one);
}

TEST(Parallel, DataParallelOverThree) {
  if (kOnGpus)
    GTEST_SKIP() << "two GPUs";
  std::vector<float> one = trained(Mlp(), {"t", {8, 4}});
  expectSame(trained(data_parallel(Mlp(), {"cpu:1", "cpu:2", "cpu:3"}),
                     {"t", {8, 4}, DType::F32, Device("cpu:1")}),
             one);
}

/// Returns the work on a device in the order of its streams: 'x' for a command, 'w' for a wait.
std::string workOn(const Model &model, const std::string &device) {
  std::string work;
  for (const ModelCommand &command : model.commands())
    if (command.device == device && command.op != "record" && command.op != "copy")
      work += command.op == "wait" ? 'w' : 'x';
  return work;
}

TEST(Parallel, MicroBatchesLetBothHalvesWork) {
  if (kOnGpus)
    GTEST_SKIP() << "streams are those of the virtual devices' test";
  struct Net : Halves {
    Tensor forward(Tensor x) override { return out(relu(hidden(x.to("cpu:2"))).to("cpu:1")); }
    Net() { hidden.to("cpu:2"); }
  };
  Model net = compile(trace::trace(micro_batches(Net(), 4), {{"x", {64, 16}}}), {.cacheDir = ""});
  // The first half waits for its input only, never for the second half.
  std::string first = workOn(net, "cpu:2");
  EXPECT_GE(first.size(), 5u) << first;
  EXPECT_LE(std::count(first.begin(), first.end(), 'w'), 4) << first;
  // The second half waits for each part separately (both the copy of the part and the command that
  // uses it), so it starts as soon as the first part has arrived.
  std::string second = workOn(net, "cpu:1");
  EXPECT_EQ(second.find('x'), 2u) << second;
  EXPECT_EQ(std::count(second.begin() + 3, second.end(), 'w'), 6) << second;
}

} // namespace
