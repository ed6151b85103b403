//===- PrecisionTest.cpp - compares 16-bit training and bounded memory with plain f32 ===//
#include "dlc/train.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace dlc;

namespace {

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

Tensor numbers(std::vector<int64_t> shape, int seed = 0) {
  Tensor tensor(DType::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.data<float>()[i] = float((i + 17 * seed) * 7919 % 1013) / 506 - 1;
  return tensor;
}

Tensor labels(int64_t count, int64_t classes, int seed = 0) {
  Tensor tensor(DType::I64, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.data<int64_t>()[i] = (i * 31 + seed) % classes;
  return tensor;
}

ModelOptions with(const std::string &precision) {
  return {.threads = 2, .precision = precision, .cacheDir = ""};
}

/// Returns a network with the same parameters for each call. Scales of batch norm remain 1.
template <typename M> M fresh() {
  M network;
  int seed = 1;
  for (trace::Parameter &parameter : network.parameters()) {
    trace::Array old = parameter.value();
    bool bias = parameter.name().ends_with("bias");
    if (old.dtype != DType::F32 || parameter.isBuffer() || (old.shape.size() < 2 && !bias))
      continue;
    void *memory;
    trace::Array array = trace::Array::zeros(DType::F32, old.shape, &memory);
    double scale = bias ? 0.1 : std::sqrt(double(old.shape[0]) / double(old.size()));
    for (int64_t i = 0; i < old.size(); ++i)
      static_cast<float *>(memory)[i] =
          float((double((i + 13 * seed) * 7919 % 1013) / 506 - 1) * scale);
    parameter.set(array);
    ++seed;
  }
  return network;
}

struct Mlp : nn::Module {
  Linear a = add("a", Linear(64, 128)), b = add("b", Linear(128, 128)),
         c = add("c", Linear(128, 8));
  Tensor forward(Tensor x) override { return c(gelu(b(relu(a(x))))); }
};

/// Two convolutions with batch norm and a residual connection, followed by a classifier.
struct Block : nn::Module {
  Conv2d first = add("first", Conv2d(3, 16, {3, 3}, {.padding = 1}, false));
  BatchNorm2d norm0 = add("norm0", BatchNorm2d(16));
  Conv2d one = add("one", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  BatchNorm2d norm1 = add("norm1", BatchNorm2d(16));
  Conv2d two = add("two", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  BatchNorm2d norm2 = add("norm2", BatchNorm2d(16));
  Linear out = add("out", Linear(16, 8));
  Tensor forward(Tensor x) override {
    Tensor shortcut = relu(norm0(first(x)));
    Tensor y = relu(norm1(one(shortcut)));
    y = relu(norm2(two(y)) + shortcut);
    return out(mean(y, {2, 3}));
  }
};

struct Transformer : nn::Module {
  Linear q = add("q", Linear(32, 32)), k = add("k", Linear(32, 32)), v = add("v", Linear(32, 32));
  LayerNorm norm = add("norm", LayerNorm(32));
  Linear out = add("out", Linear(32, 8));
  Tensor forward(Tensor x) override {
    Tensor y = norm(x);
    auto heads = [](Tensor t) { return permute(reshape(t, {4, 16, 2, 16}), {0, 2, 1, 3}); };
    Tensor a = attention(heads(q(y)), heads(k(y)), heads(v(y)));
    x = x + reshape(permute(a, {0, 2, 1, 3}), {4, 16, 32});
    return out(mean(norm(x), 1));
  }
};

/// A chain of convolutions with batch norm.
struct Deep : nn::Module {
  Conv2d c0 = add("c0", Conv2d(3, 16, {3, 3}, {.padding = 1}, false));
  Conv2d c1 = add("c1", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  Conv2d c2 = add("c2", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  Conv2d c3 = add("c3", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  Conv2d c4 = add("c4", Conv2d(16, 16, {3, 3}, {.padding = 1}, false));
  BatchNorm2d n0 = add("n0", BatchNorm2d(16)), n1 = add("n1", BatchNorm2d(16)),
              n2 = add("n2", BatchNorm2d(16)), n3 = add("n3", BatchNorm2d(16)),
              n4 = add("n4", BatchNorm2d(16));
  Linear out = add("out", Linear(16, 8));
  Tensor forward(Tensor x) override {
    x = relu(n1(c1(relu(n0(c0(x))))));
    x = relu(n4(c4(relu(n3(c3(relu(n2(c2(x)))))))));
    return out(mean(x, {2, 3}));
  }
};

/// A bottleneck block of ResNet-50: narrow convolutions in the middle, a wide one before the
/// residual addition.
struct Bottleneck : nn::Module {
  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : c1(add("c1", Conv2d(in, width, 1, {}, false))),
        c2(add("c2", Conv2d(width, width, 3, {.stride = stride, .padding = 1}, false))),
        c3(add("c3", Conv2d(width, 4 * width, 1, {}, false))), n1(add("n1", BatchNorm2d(width))),
        n2(add("n2", BatchNorm2d(width))), n3(add("n3", BatchNorm2d(4 * width))),
        projects(in != 4 * width) {
    if (projects)
      shortcut = add("shortcut", Sequential(Conv2d(in, 4 * width, 1, {.stride = stride}, false),
                                            BatchNorm2d(4 * width)));
  }
  Tensor forward(Tensor x) override {
    Tensor y = n3(c3(relu(n2(c2(relu(n1(c1(x))))))));
    return relu(y + (projects ? shortcut(x) : x));
  }
  Conv2d c1, c2, c3;
  BatchNorm2d n1, n2, n3;
  bool projects;
  Sequential shortcut;
};

struct Bottlenecks : nn::Module {
  Conv2d stem = add("stem", Conv2d(3, 16, 7, {.stride = 2, .padding = 3}, false));
  BatchNorm2d norm = add("norm", BatchNorm2d(16));
  Sequential blocks;
  Linear out = add("out", Linear(128, 8));
  Bottlenecks() {
    for (auto [in, width, stride] : {std::array<int64_t, 3>{16, 16, 1},
                                     {64, 16, 1},
                                     {64, 16, 1},
                                     {64, 32, 2},
                                     {128, 32, 1},
                                     {128, 32, 1},
                                     {128, 32, 1}})
      blocks.append(Bottleneck(in, width, stride));
    blocks = add("blocks", blocks);
  }
  Tensor forward(Tensor x) override {
    x = max_pool2d(relu(norm(stem(x))), 3, {.stride = 2, .padding = 1});
    return out(mean(blocks(x), {2, 3}));
  }
};

/// Returns the largest difference relative to the largest value.
double errorOf(const Tensor &found, const Tensor &wanted) {
  double difference = 0, largest = 0;
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    double a = found.data<float>()[i], b = wanted.data<float>()[i];
    difference = std::isfinite(a) ? std::max(difference, std::abs(a - b))
                                  : std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(b));
  }
  return difference / largest;
}

template <typename M> void checkInference(std::vector<int64_t> shape) {
  M network = fresh<M>();
  network.eval();
  auto forward = [&](const ModelOptions &options) {
    auto graph = trace::trace([&](trace::Tensor x) { return network(x); }, {{"x", shape}});
    return compile(std::move(graph), options).run({{"x", numbers(shape)}}).at("y");
  };
  Tensor wanted = forward(with("none"));
  double error = errorOf(forward(with("bf16")), wanted);
  EXPECT_LT(error, 0.03);
  EXPECT_GT(error, 1e-5) << "nothing was rounded";
  EXPECT_LT(errorOf(forward(with("f16")), wanted), 0.004);
  ModelOptions medium = with("none");
  medium.matmulPrecision = "medium";
  EXPECT_LT(errorOf(forward(medium), wanted), 0.03);
  ModelOptions high = with("none");
  high.matmulPrecision = "high";
  EXPECT_LT(errorOf(forward(high), wanted), 5e-5);
  ModelOptions all = with("bf16");
  all.precisionOf = {"*=f32"};
  EXPECT_LT(errorOf(forward(all), wanted), 1e-5);
}

TEST(Precision, InferenceOfAnMlp) { checkInference<Mlp>({16, 64}); }
TEST(Precision, InferenceOfAResidualBlock) { checkInference<Block>({2, 3, 16, 16}); }
TEST(Precision, InferenceOfAttention) { checkInference<Transformer>({4, 16, 32}); }

template <typename M>
std::vector<float> losses(std::vector<int64_t> shape, const ModelOptions &options,
                          dlc_memory_figures *memory = nullptr) {
  M network = fresh<M>();
  Step step = train(network, loss::cross_entropy, optim::sgd({.lr = 0.1, .momentum = 0.9}),
                    {{"x", shape}, {"t", {shape[0]}, DType::I64}}, {}, options);
  std::vector<float> found;
  for (int i = 0; i < 12; ++i)
    found.push_back(step(numbers(shape, i % 3), labels(shape[0], 8, i % 3)));
  if (memory)
    *memory = step.model().memory();
  return found;
}

template <typename M> void checkTraining(std::vector<int64_t> shape) {
  std::vector<float> wanted = losses<M>(shape, with("none")),
                     found = losses<M>(shape, with("bf16"));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 0.02 + 0.03 * wanted[i]) << "step " << i;
  EXPECT_NE(found, wanted);
  EXPECT_LT(found.back(), found.front());
}

TEST(Precision, TrainingOfAnMlp) { checkTraining<Mlp>({16, 64}); }
TEST(Precision, TrainingOfAResidualBlock) { checkTraining<Block>({4, 3, 16, 16}); }
TEST(Precision, TrainingOfAttention) { checkTraining<Transformer>({4, 16, 32}); }

TEST(Precision, HalvesActivations) {
  if (!__builtin_cpu_supports("avx512f"))
    GTEST_SKIP() << "convolutions of bf16 are computed in f32, without AVX-512";
  std::vector<int64_t> shape = {16, 3, 64, 64};
  dlc_memory_figures wide, narrow;
  losses<Block>(shape, with("none"), &wide);
  losses<Block>(shape, with("bf16"), &narrow);
  EXPECT_LT(double(narrow.arena_bytes), 0.7 * double(wide.arena_bytes));
  EXPECT_EQ(narrow.state_bytes, wide.state_bytes);
}

TEST(Precision, OfSingleOperations) {
  Mlp mlp = fresh<Mlp>();
  auto forward = [&](bool inside) {
    auto graph = trace::trace(
        [&](trace::Tensor x) {
          std::optional<trace::Precision> precision;
          if (inside)
            precision.emplace(DType::F32);
          return mlp(x);
        },
        {{"x", {16, 64}}});
    return compile(std::move(graph), with("bf16")).run({{"x", numbers({16, 64})}}).at("y");
  };
  EXPECT_GT(errorOf(forward(false), forward(true)), 1e-4);
}

TEST(Precision, Mistakes) {
  auto message = [](ModelOptions options) -> std::string {
    try {
      auto graph = trace::trace([](trace::Tensor x) { return x * 2; }, {{"x", {2}}});
      compile(std::move(graph), options).prepare();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_CONTAINS(message(with("bf8")), "precision 'bf8'");
  ModelOptions options = with("none");
  options.matmulPrecision = "low";
  EXPECT_CONTAINS(message(options), "highest, high or medium");
  options = with("none");
  options.precisionOf = {"conv1"};
  EXPECT_CONTAINS(message(options), "PATTERN=f32");
}

TEST(MaxMemory, SameLossesInLess) {
  std::vector<int64_t> shape = {8, 3, 48, 48};
  dlc_memory_figures free, bounded;
  std::vector<float> wanted = losses<Deep>(shape, with("none"), &free);
  ModelOptions options = with("none");
  int64_t total = int64_t(free.arena_bytes + free.state_bytes + free.constant_bytes);
  options.maxMemory = total * 3 / 4;
  std::vector<float> found = losses<Deep>(shape, options, &bounded);
  EXPECT_LE(int64_t(bounded.arena_bytes + bounded.state_bytes + bounded.constant_bytes),
            options.maxMemory);
  EXPECT_LT(bounded.arena_bytes, free.arena_bytes);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 1e-4 + 1e-3 * wanted[i]) << "step " << i;
  options.maxMemory = 20000;
  try {
    losses<Deep>(shape, options);
    ADD_FAILURE() << "a step in 20000 bytes";
  } catch (const Error &error) {
    EXPECT_CONTAINS(std::string(error.what()), "found: at least");
  }
}

TEST(MaxMemory, RecomputesConvolutionsToo) {
  std::vector<int64_t> shape = {8, 3, 128, 128};
  dlc_memory_figures free, bounded;
  std::vector<float> wanted = losses<Bottlenecks>(shape, with("none"), &free);
  auto sum = [](const dlc_memory_figures &figures) {
    return int64_t(figures.arena_bytes + figures.state_bytes + figures.constant_bytes);
  };
  ModelOptions options = with("none");
  options.maxMemory = sum(free) * 2 / 3;
  std::vector<float> found = losses<Bottlenecks>(shape, options, &bounded);
  EXPECT_LE(sum(bounded), options.maxMemory);
  // After several steps batch norm amplifies rounding differences between kernels.
  EXPECT_NE(wanted[2], wanted[0]);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found[i], wanted[i], 1e-4 + 1e-3 * wanted[i]) << "step " << i;
}

// A step that overflows changes only the loss scale.
TEST(LossScale, SkipsWhatIsNotFinite) {
  Mlp mlp = fresh<Mlp>();
  Step step = train(mlp, loss::cross_entropy, optim::adam({.lr = 0.01}),
                    {{"x", {16, 64}}, {"t", {16}, DType::I64}},
                    {.lossScale = LossScale{.start = 1024, .interval = 3}}, with("f16"));
  Tensor x = numbers({16, 64}), t = labels(16, 8);
  float first = step(x, t);
  EXPECT_EQ(step.metrics().at("scale"), 1024.f);
  EXPECT_EQ(step.metrics().at("skipped"), 0.f);
  auto values = [&](const char *name) {
    Tensor state = step.model().state(name);
    return std::vector<float>(state.data<float>(), state.data<float>() + state.elements());
  };
  const char *names[] = {"a.weight", "c.bias", "optimizer.adam.m.a.weight",
                         "optimizer.adam.v.b.bias"};
  std::vector<std::vector<float>> before;
  for (const char *name : names)
    before.push_back(values(name));
  // The values are finite, but their products with the weights overflow in f16.
  Tensor huge = numbers({16, 64});
  for (int64_t i = 0; i < huge.elements(); ++i)
    huge.data<float>()[i] *= 1e6f;
  step(huge, t);
  EXPECT_EQ(step.metrics().at("skipped"), 1.f);
  for (size_t i = 0; i < std::size(names); ++i)
    EXPECT_EQ(values(names[i]), before[i]) << names[i];
  EXPECT_EQ(values("loss_scale"), std::vector<float>{512});
  EXPECT_EQ(*step.model().state("optimizer.updates").data<int64_t>(), 1);
  EXPECT_EQ(*step.model().state("step").data<int64_t>(), 2);
  float last = first;
  for (int i = 0; i < 3; ++i)
    last = step(x, t);
  EXPECT_EQ(step.metrics().at("scale"), 512.f);
  EXPECT_EQ(values("loss_scale"), std::vector<float>{1024});
  EXPECT_LT(last, first);
}

TEST(LossScale, ChangesNothingElse) {
  auto run = [](std::optional<LossScale> scale) {
    Mlp mlp = fresh<Mlp>();
    Step step = train(mlp, loss::cross_entropy, optim::adam({.lr = 0.01}),
                      {{"x", {16, 64}}, {"t", {16}, DType::I64}},
                      {.clipNorm = 0.5, .lossScale = scale}, with("none"));
    float last = 0;
    for (int i = 0; i < 10; ++i)
      last = step(numbers({16, 64}, i), labels(16, 8, i));
    return last;
  };
  EXPECT_NEAR(run(std::nullopt), run(LossScale{}), 1e-4);
}

} // namespace
