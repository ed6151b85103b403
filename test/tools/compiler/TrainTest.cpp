//===- TrainTest.cpp - compiled training steps -----------------------------===//
#include "dlc/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace dlc;

namespace {

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

template <typename F> std::string errorOf(F &&function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "no dlc::Error was thrown";
  return "";
}

const ModelOptions quick = {.threads = 2, .cacheDir = ""};

/// Returns pseudo-random values from -1 to 1.
Tensor numbers(std::vector<int64_t> shape, int seed = 0) {
  Tensor tensor(DType::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.data<float>()[i] = float((i + 17 * seed) * 7919 % 1013) / 506 - 1;
  return tensor;
}

Tensor labels(int64_t count, int64_t classes, int seed = 0) {
  Tensor tensor(DType::I64, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.data<int64_t>()[i] = (i + seed) * 31 % classes;
  return tensor;
}

std::vector<float> valuesOf(const trace::Parameter &parameter) {
  trace::Array array = parameter.value();
  return {array.as<float>(), array.as<float>() + array.size()};
}

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(6, 8)), out = add("out", Linear(8, 3));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
};
const std::vector<trace::Spec> batch = {{"x", {4, 6}}, {"t", {4}, DType::I64}};

Step adamStep(const Mlp &mlp, const StepOptions &options = {}) {
  return train(mlp, loss::cross_entropy, optim::adam({.lr = 0.01}), batch, options, quick);
}

TEST(Train, SoftmaxRegressionByHand) {
  nn::Linear linear(5, 3);
  std::vector<float> w = valuesOf(linear.weight), b = valuesOf(linear.bias);
  Step step = train(linear, loss::cross_entropy, optim::sgd({.lr = 0.5}),
                    {{"x", {4, 5}}, {"t", {4}, DType::I64}}, {}, quick);
  for (int k = 0; k < 5; ++k) {
    Tensor x = numbers({4, 5}, k), t = labels(4, 3, k);
    std::vector<float> dw(15), db(3);
    float wanted = 0;
    for (int n = 0; n < 4; ++n) {
      float y[3], sum = 0;
      for (int c = 0; c < 3; ++c) {
        y[c] = b[size_t(c)];
        for (int i = 0; i < 5; ++i)
          y[c] += w[size_t(5 * c + i)] * x.data<float>()[5 * n + i];
        sum += std::exp(y[c]);
      }
      wanted -= std::log(std::exp(y[t.data<int64_t>()[n]]) / sum) / 4;
      for (int c = 0; c < 3; ++c) {
        float d = (std::exp(y[c]) / sum - float(c == t.data<int64_t>()[n])) / 4;
        db[size_t(c)] += d;
        for (int i = 0; i < 5; ++i)
          dw[size_t(5 * c + i)] += d * x.data<float>()[5 * n + i];
      }
    }
    for (size_t i = 0; i < 15; ++i)
      w[i] -= 0.5f * dw[i];
    for (size_t i = 0; i < 3; ++i)
      b[i] -= 0.5f * db[i];
    EXPECT_NEAR(step(x, t), wanted, 1e-5);
    // The step updates the module's own parameters.
    std::vector<float> found = valuesOf(linear.weight), bias = valuesOf(linear.bias);
    for (size_t i = 0; i < 15; ++i)
      ASSERT_NEAR(found[i], w[i], 1e-5) << k << " " << i;
    for (size_t i = 0; i < 3; ++i)
      ASSERT_NEAR(bias[i], b[i], 1e-5) << k << " " << i;
  }
  EXPECT_EQ(step.steps(), 5);
}

TEST(Train, LearnsAndPredicts) {
  Mlp mlp;
  Step step = adamStep(mlp, {.metrics = {{"accuracy", metric::accuracy}}});
  Tensor x = numbers({4, 6}), t = labels(4, 3);
  float first = step(x, t), last = first;
  for (int i = 0; i < 1000; ++i)
    last = step(x, t);
  EXPECT_LT(last, first / 10);
  EXPECT_EQ(step.metrics().at("accuracy"), 1.f);
  Model predictor = step.predictor();
  Tensor y = predictor.run({{"x", x}})["y"];
  for (int n = 0; n < 4; ++n) {
    const float *row = y.data<float>() + 3 * n;
    EXPECT_EQ(std::max_element(row, row + 3) - row, t.data<int64_t>()[n]);
  }
  // The predictor uses the step's current parameters, with any batch size.
  Model one = step.predictor({{"x", {1, 6}}});
  std::vector<float> before(y.data<float>(), y.data<float>() + 3);
  step(numbers({4, 6}, 3), t);
  y = one.run({{"x", numbers({1, 6})}})["y"];
  EXPECT_NE(before, std::vector<float>(y.data<float>(), y.data<float>() + 3));
  Tensor all = predictor.run({{"x", x}})["y"];
  for (int c = 0; c < 3; ++c)
    EXPECT_NEAR(y.data<float>()[c], all.data<float>()[c], 1e-5);
}

TEST(Train, WrongLabelsChangeNothing) {
  Mlp mlp;
  Step step = adamStep(mlp);
  Tensor x = numbers({4, 6}), t = labels(4, 3);
  step(x, t);
  std::vector<float> before = valuesOf(mlp.hidden.weight);
  t.data<int64_t>()[2] = 3;
  std::string text = errorOf([&] { step(x, t); });
  EXPECT_CONTAINS(text, "input 't', element 2");
  EXPECT_CONTAINS(text, "0 to 2");
  EXPECT_CONTAINS(text, "found: 3");
  EXPECT_EQ(valuesOf(mlp.hidden.weight), before);
  EXPECT_EQ(step.steps(), 1);
}

TEST(Train, NotANumberIsNamed) {
  Mlp mlp;
  Step step = adamStep(mlp);
  Tensor x = numbers({4, 6});
  x.data<float>()[7] = NAN;
  std::string text = errorOf([&] { step(x, labels(4, 3)); });
  EXPECT_CONTAINS(text, "'x' has nan at element 7");
  EXPECT_CONTAINS(errorOf([&] { step(x); }), "required: 2 tensors");
}

// With `log`, losses are checked several steps later, when the batch no longer exists.
TEST(Train, NotANumberIsNamedInALogToo) {
  Mlp mlp;
  Step step = adamStep(mlp, {.log = 4});
  for (int i = 0; i < 7; ++i) {
    Tensor x = numbers({4, 6}, i);
    if (i == 5)
      x.data<float>()[9] = INFINITY;
    step(x, labels(4, 3));
  }
  std::string text = errorOf([&] { step(numbers({4, 6}), labels(4, 3)); });
  EXPECT_CONTAINS(text, "step 5: input 'x' has inf at element 9");
  EXPECT_EQ(step.log().size(), 8u);
}

TEST(Train, CheckpointsOfOtherModels) {
  std::string path =
      (std::filesystem::temp_directory_path() / "dlc-other-test.safetensors").string();
  nn::Linear narrow(6, 3), wide(6, 4);
  auto make = [](const nn::Linear &linear) {
    return train(linear, loss::cross_entropy, optim::sgd(), batch, {}, quick);
  };
  Step one = make(narrow), two = make(wide);
  one.save(path);
  std::vector<float> before = valuesOf(wide.weight);
  std::string text = errorOf([&] { two.load(path); });
  EXPECT_CONTAINS(text, path);
  EXPECT_CONTAINS(text, "'weight' must be f32 [4, 6]");
  EXPECT_CONTAINS(text, "found: f32 [3, 6]");
  EXPECT_EQ(valuesOf(wide.weight), before);
  std::filesystem::remove(path);
}

std::string here(int line) { return "TrainTest.cpp:" + std::to_string(line) + ":"; }

TEST(Train, LossesThatDependOnNoParameter) {
  Mlp mlp;
  int line = __LINE__ + 2;
  auto message = [&](const TensorFunction &loss) {
    return errorOf([&] { train(mlp, loss, optim::sgd(), batch, {}, quick).prepare(); });
  };
  auto ofTarget = [](trace::Tensor, trace::Tensor t) { return mean(cast(t, DType::F32)); };
  std::string text = message(ofTarget);
  EXPECT_CONTAINS(text, "the loss does not depend on a parameter");
  EXPECT_CONTAINS(text, here(line));
  // The loss does depend on the parameters, but piecewise constantly, so the gradient is zero.
  auto rounded = [](trace::Tensor y, trace::Tensor) { return mean(round(y)); };
  text = message(rounded);
  EXPECT_CONTAINS(text, "the loss does not depend on 'hidden.weight'");
  EXPECT_CONTAINS(text, here(line));
}

// The trip count, and so the number of values to save, depends on the data.
TEST(Train, OperationsWithoutAGradient) {
  nn::Linear linear(6, 6);
  int line = 0;
  auto network = [&](trace::Tensor x) {
    trace::Tensor trips = cast(sum(x), DType::I64);
    line = __LINE__ + 1;
    return repeat(trips, {x}, [&](trace::Tensor, std::vector<trace::Tensor> carried) {
      return std::vector<trace::Tensor>{linear(carried[0])};
    })[0];
  };
  auto loss = [](trace::Tensor y, trace::Tensor t) { return loss::mse_loss(y, t); };
  std::string text = errorOf([&] {
    train(network, loss, optim::sgd(), {{"x", {4, 6}}, {"t", {4, 6}}}, {}, quick).prepare();
  });
  EXPECT_CONTAINS(text, here(line));
  EXPECT_CONTAINS(text, "has no gradient");
  EXPECT_CONTAINS(text, "make the trip count a constant");
}

TEST(Train, FollowsASchedule) {
  trace::Parameter w("w", {1}, trace::Init::constant(0));
  auto network = [&](trace::Tensor x) { return x * w; };
  auto loss = [](trace::Tensor y) { return sum(y); };
  Step step = train(network, loss, optim::sgd({.lr = optim::stepDecay(1, 2, 0.5)}), {{"x", {1}}},
                    {}, quick);
  float wanted = 0, rates[] = {1, 1, 0.5, 0.5, 0.25};
  for (float rate : rates) {
    step(Tensor::of({1}, std::vector<float>{3.f}));
    wanted -= rate * 3;
    EXPECT_EQ(valuesOf(w), std::vector<float>{wanted});
  }
}

TEST(Train, MicroBatchesAreTheWholeBatch) {
  Mlp whole, parts;
  Step one = adamStep(whole), two = adamStep(parts, {.microBatches = 2});
  for (int i = 0; i < 3; ++i) {
    Tensor x = numbers({4, 6}, i), t = labels(4, 3, i);
    EXPECT_NEAR(one(x, t), two(x, t), 1e-6);
  }
  std::vector<float> a = valuesOf(whole.hidden.weight), b = valuesOf(parts.hidden.weight);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-4);
}

TEST(Train, ClipsGradients) {
  trace::Parameter w("w", {2}, trace::Init::constant(0));
  auto network = [&](trace::Tensor x) { return x * w; };
  auto loss = [](trace::Tensor y) { return sum(y); };
  Step step = train(network, loss, optim::sgd({.lr = 1}), {{"x", {2}}}, {.clipNorm = 1}, quick);
  step(Tensor::of({2}, std::vector<float>{3.f, 4.f}));
  EXPECT_NEAR(valuesOf(w)[0], -0.6, 1e-5);
  EXPECT_NEAR(valuesOf(w)[1], -0.8, 1e-5);
}

TEST(Train, KeepsALog) {
  Mlp plain, logged;
  Step one = adamStep(plain),
       two = adamStep(logged, {.metrics = {{"accuracy", metric::accuracy}}, .log = 3});
  std::vector<float> losses;
  for (int i = 0; i < 7; ++i) {
    Tensor x = numbers({4, 6}, i), t = labels(4, 3, i);
    losses.push_back(one(x, t));
    float known = two(x, t);
    if (i < 2)
      EXPECT_TRUE(std::isnan(known));
    else
      EXPECT_NEAR(known, losses[size_t(i < 5 ? 2 : 5)], 1e-6);
  }
  ASSERT_EQ(two.log().size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_NEAR(two.log()[i][0], losses[i], 1e-6);
    EXPECT_EQ(two.log()[i].size(), 2u);
  }
  EXPECT_CONTAINS(errorOf([&] { one.log(); }), "records no losses");
}

struct Normed : nn::Module {
  Linear in = add("in", Linear(6, 8)), out = add("out", Linear(8, 3));
  BatchNorm1d norm = add("norm", BatchNorm1d(8));
  Dropout drop = add("drop", Dropout(0.5));
  Tensor forward(Tensor x) override { return out(drop(relu(norm(in(x))))); }
};

Step normedStep(const Normed &net) {
  return train(net, loss::cross_entropy, optim::adam({.lr = optim::cosine(0.01, 20)}), batch, {},
               quick);
}

TEST(Train, ContinuesFromACheckpointBitForBit) {
  std::string path =
      (std::filesystem::temp_directory_path() / "dlc-train-test.safetensors").string();
  auto make = [](Step &step, int from, int to) {
    std::vector<float> losses;
    for (int i = from; i < to; ++i)
      losses.push_back(step(numbers({4, 6}, i), labels(4, 3, i)));
    return losses;
  };
  Normed first, second;
  Step one = normedStep(first);
  make(one, 0, 5);
  one.save(path);
  std::vector<float> wanted = make(one, 5, 10);
  Step two = normedStep(second);
  make(two, 20, 22);
  two.load(path);
  EXPECT_EQ(two.steps(), 5);
  EXPECT_EQ(make(two, 5, 10), wanted);
  EXPECT_EQ(valuesOf(first.in.weight), valuesOf(second.in.weight));
  EXPECT_EQ(valuesOf(first.norm.runningVar), valuesOf(second.norm.runningVar));
  EXPECT_EQ(second.norm.batches.value().at(0), 10);
  Mlp mlp;
  Step other = adamStep(mlp);
  EXPECT_CONTAINS(errorOf([&] { other.load(path); }), "hidden");
  std::filesystem::remove(path);
}

TEST(Train, PredictsAsInInference) {
  Normed net;
  Step step = normedStep(net);
  for (int i = 0; i < 5; ++i)
    step(numbers({4, 6}, i), labels(4, 3));
  std::vector<float> running = valuesOf(net.norm.runningMean);
  EXPECT_NE(running, std::vector<float>(8, 0.f));
  Tensor x = numbers({1, 6}, 9);
  Model predictor = step.predictor({{"x", {1, 6}}});
  Tensor y = predictor.run({{"x", x}})["y"];
  EXPECT_EQ(valuesOf(net.norm.runningMean), running);
  // Compares with a program whose parameters are constants.
  Tensor wanted = compile(trace::trace(net, {{"x", {1, 6}}}), quick).run({{"x", x}})["y"];
  for (int c = 0; c < 3; ++c)
    EXPECT_NEAR(y.data<float>()[c], wanted.data<float>()[c], 1e-5);
}

TEST(Train, TakesParametersGivenMeanwhile) {
  Mlp mlp;
  Step step = adamStep(mlp);
  step(numbers({4, 6}), labels(4, 3));
  mlp.out.bias.set(trace::Array::of({3}, {1.f, 2.f, 3.f}));
  Model predictor = step.predictor();
  auto first = [&] { return predictor.run({{"x", numbers({4, 6})}})["y"].data<float>()[2]; };
  float before = first();
  step.takeParameters();
  EXPECT_GT(first(), before + 2);
}

TEST(Train, WritesAProgram) {
  std::string path = (std::filesystem::temp_directory_path() / "dlc-train-test.dlcx").string();
  Mlp mlp;
  Step step = adamStep(mlp);
  Tensor x = numbers({4, 6}), t = labels(4, 3);
  step(x, t);
  step.saveProgram(path);
  Session session = Session::load(path);
  // A loaded session starts with these parameters and with the initial state of the optimizer.
  Tensor weight = session.state("hidden.weight");
  std::vector<float> known = valuesOf(mlp.hidden.weight);
  EXPECT_EQ(std::vector<float>(weight.data<float>(), weight.data<float>() + weight.elements()),
            known);
  EXPECT_NEAR(*session.run({{"x", x}, {"t", t}})["loss"].data<float>(), step(x, t), 1e-6);
  std::filesystem::remove(path);
}

} // namespace
