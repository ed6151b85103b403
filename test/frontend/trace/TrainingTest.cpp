//===- TrainingTest.cpp - compares losses, optimizers and steps with PyTorch ===//
//
// Inputs/make_training.py generated the expected values.
//
//===----------------------------------------------------------------------===//
#include "dlc/step.hpp"
#include "frontend/trace/Safetensors.h"
#include "test/frontend/trace/Support.h"

#include <cstring>
#include <functional>

using namespace dlc;
using namespace dlc::test;
using trace::Array;
using trace::Tensor;

namespace {

const safetensors::Tensors &numbers() {
  static const safetensors::Tensors tensors =
      safetensors::read(DLC_TEST_INPUTS "/training.safetensors").tensors;
  return tensors;
}
const Array &number(const std::string &name) { return numbers().at(name); }

using Loss = std::function<Tensor(Tensor, Tensor, Tensor)>;

/// Checks a loss of up to three tensors, and its compiled gradient with respect to the first one.
void checkLoss(const std::string &name, const Loss &loss) {
  SCOPED_TRACE(name);
  std::vector<Array> inputs;
  for (int i = 0; numbers().count(name + "/x" + std::to_string(i)); ++i)
    inputs.push_back(number(name + "/x" + std::to_string(i)));
  ASSERT_FALSE(inputs.empty());
  auto value = [&](std::vector<Tensor> xs) {
    xs.resize(3);
    return loss(xs[0], xs[1], xs[2]);
  };
  trace::Graph graph = trace::traceFunction(
      [&](const std::vector<Tensor> &xs) { return std::vector{value(xs)}; }, specsOf(inputs));
  expectNear(evaluate(std::move(graph), inputs)[0], number(name + "/y"));
#ifdef DLC_HAVE_COMPILER
  SCOPED_TRACE("compiled, with its gradient");
  graph = trace::traceFunction(
      [&](const std::vector<Tensor> &xs) {
        Tensor y = value(xs);
        return std::vector{y, grad(sum(y), {xs[0]})[0]};
      },
      specsOf(inputs));
  std::vector<Array> results = execute(std::move(graph), inputs);
  expectNear(results[0], number(name + "/y"));
  expectNear(results[1], number(name + "/dx"));
#endif
}

template <typename F> void checkBinary(const std::string &name, F function) {
  checkLoss(name, [=](Tensor x, Tensor t, Tensor) { return function(x, t); });
}
template <typename F> void checkWeighted(const std::string &name, F function) {
  checkLoss(name, function);
}

const std::pair<const char *, loss::Reduction> reductions[] = {{"mean", loss::Reduction::Mean},
                                                               {"sum", loss::Reduction::Sum},
                                                               {"none", loss::Reduction::None}};

TEST(Losses, CrossEntropy) {
  auto plain = [](Tensor x, Tensor t) { return loss::cross_entropy(x, t); };
  for (auto [name, reduction] : reductions) {
    checkBinary(std::string("cross_entropy_") + name, [r = reduction](Tensor x, Tensor t) {
      return loss::cross_entropy(x, t, {.reduction = r});
    });
    checkWeighted(
        std::string("cross_entropy_all_") + name, [r = reduction](Tensor x, Tensor t, Tensor w) {
          return loss::cross_entropy(
              x, t, {.reduction = r, .ignoreIndex = 1, .weight = w, .labelSmoothing = 0.2});
        });
  }
  checkBinary("cross_entropy_vector", plain);
  checkBinary("cross_entropy_large", plain);
  checkBinary("cross_entropy_spatial",
              [](Tensor x, Tensor t) { return loss::cross_entropy(x, t, {.ignoreIndex = 2}); });
  checkBinary("cross_entropy_smooth", [](Tensor x, Tensor t) {
    return loss::cross_entropy(x, t, {.labelSmoothing = 0.1});
  });
  checkWeighted("cross_entropy_weight", [](Tensor x, Tensor t, Tensor w) {
    return loss::cross_entropy(x, t, {.weight = w});
  });
  checkWeighted("cross_entropy_soft", [](Tensor x, Tensor t, Tensor w) {
    return loss::cross_entropy(x, t, {.weight = w, .labelSmoothing = 0.1});
  });
}

#ifdef DLC_HAVE_COMPILER
// The loss of an ignored target is 0 even if it would be infinite or NaN.
TEST(Losses, OfIgnoredInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const loss::ClassOptions options{.reduction = loss::Reduction::Sum, .ignoreIndex = 0};
  loss::CrossEntropyOptions smooth;
  smooth.reduction = loss::Reduction::Sum, smooth.ignoreIndex = 0, smooth.labelSmoothing = 0.1;
  auto target = [](Tensor x) { return cast(narrow(x, 1, 2, 1), DType::I64); };
  auto scores = [](Tensor x) { return narrow(x, 1, 0, 2); };
  auto lossesOf = [&](Tensor x) {
    Tensor t = reshape(target(x), {2});
    return std::vector<Tensor>{loss::nll_loss(scores(x), t, options),
                               loss::cross_entropy(scores(x), t, smooth)};
  };
  // Rows of two scores and the target. The first row is ignored.
  auto results = [&](float ignored) {
    std::vector<Array> inputs = {Array::of({2, 3}, {ignored, 2, 0, 1, 2, 1})};
    trace::Graph graph = trace::traceFunction(
        [&](const std::vector<Tensor> &xs) { return lossesOf(xs[0]); }, specsOf(inputs));
    return execute(std::move(graph), inputs);
  };
  auto finite = results(1), infinite = results(-kInfinity);
  for (size_t i = 0; i < finite.size(); ++i)
    expectNear(infinite[i], finite[i]);
}
#endif

TEST(Losses, OfLogarithms) {
  checkBinary("nll_loss", [](Tensor x, Tensor t) { return loss::nll_loss(x, t); });
  checkWeighted("nll_loss_weight", [](Tensor x, Tensor t, Tensor w) {
    return loss::nll_loss(x, t, {.ignoreIndex = 3, .weight = w});
  });
  checkBinary("kl_div", [](Tensor x, Tensor t) { return loss::kl_div(x, t); });
}

TEST(Losses, OfElements) {
  for (auto [name, reduction] : reductions) {
    checkBinary(std::string("mse_loss_") + name,
                [r = reduction](Tensor x, Tensor t) { return loss::mse_loss(x, t, r); });
    checkBinary(std::string("l1_loss_") + name,
                [r = reduction](Tensor x, Tensor t) { return loss::l1_loss(x, t, r); });
  }
  checkBinary("bce_with_logits", [](Tensor x, Tensor t) { return loss::bce_with_logits(x, t); });
  checkWeighted("bce_with_logits_weight", [](Tensor x, Tensor t, Tensor w) {
    return loss::bce_with_logits(x, t, loss::Reduction::Mean, w);
  });
  checkLoss("softplus", [](Tensor x, Tensor, Tensor) { return softplus(x); });
}

TEST(Losses, SayWhatClassesInputsName) {
  std::string text =
      trace::trace(
          [](Tensor x, Tensor t) {
            return loss::cross_entropy(x, reshape(narrow(t, 0, 0, 2), {4}), {.ignoreIndex = -1});
          },
          {{"x", {4, 7}}, {"t", {3, 2}, DType::I64}})
          .text();
  EXPECT_CONTAINS(text, "dlc.classes = 7 : i64, dlc.ignored = -1 : i64, dlc.name = \"t\"");
  // The loss is a single pass over the rows without a gather, and the gradient is not propagated
  // through the rows' maximum.
  EXPECT_CONTAINS(text, "dlc.no_gradient");
  EXPECT_EQ(text.find("gather"), std::string::npos);
}

TEST(Losses, Mistakes) {
  auto message = [](std::vector<trace::Spec> inputs) {
    return errorOf([&] {
      trace::trace([](Tensor x, Tensor t) { return loss::cross_entropy(x, t); }, inputs);
    });
  };
  EXPECT_CONTAINS(message({{"x", {4, 7}}, {"t", {7}, DType::I64}}), "of the shape [4]");
  EXPECT_CONTAINS(message({{"x", {4, 7}}, {"t", {4}}}), "i32 or i64");
  EXPECT_CONTAINS(errorOf([] {
                    trace::trace([](Tensor x, Tensor t) { return loss::mse_loss(x, t); },
                                 {{"x", {4, 1}}, {"t", {4}}});
                  }),
                  "same shape");
}

TEST(Metrics, Accuracy) {
  auto found =
      run([](Tensor x, Tensor t) { return metric::accuracy(x, t); },
          {Array::of({3, 2}, {1.f, 2.f, 3.f, 2.f, 0.f, 1.f}), Array::ints({3}, {1, 1, 1})});
  EXPECT_NEAR(found[0].at(0), 2 / 3.0, 1e-6);
}

/// Runs a program with state several times. Arguments are found by name, and new values of state
/// are passed to the next run.
class Runner {
public:
  using Program = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;
  Runner(Program program, std::vector<trace::Spec> inputs)
      : program(std::move(program)), inputs(std::move(inputs)) {}

  std::vector<Array> step(std::vector<Array> given) {
    // The program is traced for each step because the evaluator consumes the graph.
    trace::Graph graph = trace::traceFunction(program, inputs, {.state = true, .training = true});
    std::vector<trace::Parameter> parameters = graph.parameters();
    for (const trace::Parameter &parameter : parameters) {
      if (!state.count(parameter.name()))
        state[parameter.name()] = parameter.value();
      given.push_back(state.at(parameter.name()));
    }
    std::string text = graph.text();
    std::vector<Array> results = evaluate(std::move(graph), given);
    // New values of state: the text lists the names of the results in their order.
    size_t at = text.find("->");
    std::vector<Array> plain;
    for (const Array &result : results) {
      at = text.find("dlc.name = \"", at) + std::strlen("dlc.name = \"");
      size_t end = text.find('"', at);
      if (text.compare(end, 12, "\", dlc.state") == 0)
        state[text.substr(at, end - at)] = result;
      else
        plain.push_back(result);
    }
    return plain;
  }

  std::map<std::string, Array> state;

private:
  Program program;
  std::vector<trace::Spec> inputs;
};

void checkOptimizer(const std::string &name, const optim::Optimizer &optimizer, int steps = 4) {
  SCOPED_TRACE(name);
  trace::Parameter p("p", {2, 3}, trace::Init::constant(0));
  p.set(number(name + "/p"));
  auto schedules = optimizer.schedules();
  Runner runner(
      [&](const std::vector<Tensor> &xs) {
        optimizer.apply({{p}, {xs[0]}});
        return std::vector<Tensor>();
      },
      {{"g", {2, 3}}});
  for (int i = 0; i < steps; ++i) {
    std::vector<Array> inputs = {number(name + "/g" + std::to_string(i))};
    if (!schedules.empty())
      inputs.push_back(Array::of({}, {float(schedules.at("lr")(i))}));
    runner.step(inputs);
    expectNear(runner.state.at("p"), number(name + "/p" + std::to_string(i)), 2e-6);
  }
}

TEST(Optimizers, AgreeWithPyTorch) {
  checkOptimizer("sgd", optim::sgd({.lr = 0.1}));
  checkOptimizer("sgd_momentum", optim::sgd({.lr = 0.1, .momentum = 0.9, .weightDecay = 0.01}));
  checkOptimizer("sgd_dampening", optim::sgd({.lr = 0.1, .momentum = 0.9, .dampening = 0.5}));
  checkOptimizer("sgd_nesterov", optim::sgd({.lr = 0.1, .momentum = 0.9, .nesterov = true}));
  checkOptimizer("adam", optim::adam({.lr = 0.01}));
  checkOptimizer(
      "adam_all",
      optim::adam({.lr = 0.01, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-3, .weightDecay = 0.1}));
  checkOptimizer("adamw", optim::adamw({.lr = 0.01, .weightDecay = 0.1}));
  checkOptimizer("rmsprop", optim::rmsprop({.lr = 0.01}));
  checkOptimizer(
      "rmsprop_all",
      optim::rmsprop(
          {.lr = 0.01, .alpha = 0.9, .weightDecay = 0.1, .momentum = 0.9, .centered = true}));
}

TEST(Optimizers, FollowSchedules) {
  checkOptimizer("sgd_steps", optim::sgd({.lr = optim::stepDecay(0.1, 2, 0.5)}), 5);
  checkOptimizer("sgd_cosine", optim::sgd({.lr = optim::cosine(0.1, 4, 0.01)}), 5);
  optim::Schedule warm = optim::warmUp(4, optim::stepDecay(1, 2, 0.5));
  std::vector<double> rates;
  for (int64_t step = 0; step < 8; ++step)
    rates.push_back(warm(step));
  EXPECT_EQ(rates, (std::vector<double>{0.25, 0.5, 0.75, 1, 1, 1, 0.5, 0.5}));
}

TEST(Optimizers, PlainSgdIsOneProductAndOneDifference) {
  trace::Parameter p("p", {2, 3}, trace::Init::constant(1));
  std::string text = trace::trace(
                         [&](Tensor g) {
                           optim::sgd({.lr = 0.5}).apply({{p}, {g}});
                           return std::vector<Tensor>();
                         },
                         {{"g", {2, 3}}}, {.state = true})
                         .text();
  EXPECT_EQ(text.find("step"), std::string::npos) << text;
  EXPECT_EQ(text.find("optimizer"), std::string::npos) << text;
  size_t mul = text.find("dlc.mul %arg0"), sub = text.find("dlc.sub %arg1");
  EXPECT_NE(mul, std::string::npos) << text;
  EXPECT_LT(mul, sub) << text;
}

TEST(Optimizers, Groups) {
  trace::Parameter weight("body.weight", {2}, trace::Init::constant(1)),
      bias("body.bias", {2}, trace::Init::constant(1)),
      head("head.weight", {2}, trace::Init::constant(1));
  optim::Optimizer optimizer = optim::sgd({.lr = 1});
  optimizer.group("*.bias", optim::sgd({.lr = optim::cosine(0.5, 2)}));
  optimizer.group("head.*", optim::frozen());
  EXPECT_EQ(optimizer.schedules().size(), 1u);
  EXPECT_EQ(optimizer.schedules().count("lr.1"), 1u);
  trace::Graph graph = trace::traceFunction(
      [&](const std::vector<Tensor> &xs) {
        optimizer.apply({{weight, bias, head}, {xs[0], xs[0], xs[0]}});
        return std::vector<Tensor>();
      },
      {{"g", {2}}}, {.state = true});
  std::string text = graph.text();
  EXPECT_CONTAINS(text, "dlc.name = \"lr.1\"");
  EXPECT_CONTAINS(text, "-> (tensor<2xf32> {dlc.name = \"body.weight\", dlc.state}, ");
  EXPECT_EQ(text.find("head"), std::string::npos) << text;
  EXPECT_CONTAINS(errorOf([&] { optim::sgd().group("*", optimizer); }), "outermost");
}

TEST(Optimizers, StayWhereNotFinite) {
  trace::Parameter p("p", {2}, trace::Init::constant(1));
  Runner runner(
      [&](const std::vector<Tensor> &xs) {
        optim::sgd({.lr = 1, .momentum = 0.5}).apply({{p}, {xs[0]}}, sum(xs[0]) < 10);
        return std::vector<Tensor>();
      },
      {{"g", {2}}});
  runner.step({Array::of({2}, {1.f, 2.f})});
  runner.step({Array::of({2}, {100.f, 2.f})});
  EXPECT_EQ(valuesOf(runner.state.at("p")), (std::vector<double>{0, -1}));
  EXPECT_EQ(valuesOf(runner.state.at("optimizer.sgd.momentum.p")), (std::vector<double>{1, 2}));
}

TEST(Optimizers, AUsersOwn) {
  trace::Parameter p("p", {2}, trace::Init::constant(1));
  optim::Optimizer lion("lion", 0.5, [](optim::Update &u) {
    Tensor m = u.get("m");
    u.set("m", 0.99 * m + 0.01 * u.gradient);
    return u.value - u.rate * sign(0.9 * m + 0.1 * u.gradient);
  });
  Runner runner(
      [&](const std::vector<Tensor> &xs) {
        lion.apply({{p}, {xs[0]}});
        return std::vector<Tensor>();
      },
      {{"g", {2}}});
  runner.step({Array::of({2}, {1.f, -2.f})});
  EXPECT_EQ(valuesOf(runner.state.at("p")), (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(runner.state.count("optimizer.lion.m.p"), 1u);
}

TEST(Gradients, AreClipped) {
  trace::Parameter a("a", {2, 3}, {}), b("b", {4}, {});
  auto results = run(
      [&](Tensor x, Tensor y) {
        optim::Gradients gradients{{a, b}, {x, y}};
        optim::Gradients clipped = optim::clipByNorm(gradients, 0.5);
        return std::vector<Tensor>{clipped.values[0], clipped.values[1],
                                   optim::globalNorm(gradients),
                                   optim::clipByValue(gradients, 0.5).values[1]};
      },
      {number("clip/g0"), number("clip/g1")});
  expectNear(results[0], number("clip/c0"));
  expectNear(results[1], number("clip/c1"));
  expectNear(results[2], number("clip/norm"));
  for (double value : valuesOf(results[3]))
    EXPECT_LE(std::abs(value), 0.5);
}

TEST(BatchNorm, InTrainingAgreesWithPyTorch) {
  nn::BatchNorm2d norm(3);
  for (nn::Parameter &parameter : norm.parameters())
    parameter.set(number("batch_norm/before." + parameter.name()));
  Runner runner([&](const std::vector<Tensor> &xs) { return std::vector<Tensor>{norm(xs[0])}; },
                {{"x", {2, 3, 4, 2}}});
  expectNear(runner.step({number("batch_norm/x0")})[0], number("batch_norm/y"));
  for (nn::Parameter &parameter : norm.parameters()) {
    SCOPED_TRACE(parameter.name());
    expectNear(runner.state.at(parameter.name()), number("batch_norm/after." + parameter.name()));
  }
}

struct Mlp : nn::Module {
  Linear hidden = add("hidden", Linear(8, 4)), out = add("out", Linear(4, 3));
  Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
};

const std::vector<trace::Spec> batch = {{"x", {6, 8}}, {"t", {6}, DType::I64}};

TEST(Steps, AreOneFunction) {
  Mlp mlp;
  std::string text = traceStep(mlp, loss::cross_entropy, optim::adam(), batch,
                               {.clipNorm = 1, .metrics = {{"accuracy", metric::accuracy}}})
                         .text();
  EXPECT_CONTAINS(text, "-> (tensor<f32> {dlc.name = \"loss\"}, tensor<f32> {dlc.name = "
                        "\"accuracy\"}, tensor<4x8xf32> {dlc.name = \"");
  EXPECT_CONTAINS(text, "dlc.gradient(");
  for (const char *name : {"hidden.weight", "optimizer.adam.m.out.bias", "step"})
    EXPECT_CONTAINS(text.substr(text.find("->")),
                    std::string("{dlc.name = \"") + name + "\", dlc.state}");
}

TEST(Steps, TakeFunctionsOfSeveralInputs) {
  Mlp mlp;
  auto network = [&](Tensor x, Tensor scale) { return mlp(x) * scale; };
  auto loss = [](Tensor y, Tensor t, Tensor weight) {
    return mean(weight * loss::cross_entropy(y, t, {.reduction = loss::Reduction::None}));
  };
  std::vector<trace::Spec> inputs = {
      {"x", {6, 8}}, {"scale", {3}}, {"t", {6}, DType::I64}, {"weight", {6}}};
  std::string text = traceStep(network, loss, optim::sgd(), inputs).text();
  EXPECT_CONTAINS(text, "dlc.name = \"scale\"");
  EXPECT_CONTAINS(errorOf([&] { traceStep(network, loss, optim::sgd(), batch); }),
                  "the loss takes 3");
  EXPECT_CONTAINS(errorOf([&] { traceStep(mlp, loss, optim::sgd(), batch); }), "the loss takes 3");
  EXPECT_CONTAINS(errorOf([&] {
                    traceStep([](Tensor x) { return x; }, loss::mse_loss, optim::sgd(),
                              {{"x", {2}}, {"t", {2}}});
                  }),
                  "does not depend on a parameter");
}

#ifdef DLC_HAVE_COMPILER
// Gradients at kinks, ties and bounds equal those of PyTorch's functions of the same names.
TEST(Gradients, AtCorners) {
  struct Corner {
    const char *name;
    std::function<Tensor(Tensor)> function;
    std::vector<float> x, dx;
  };
  const Corner corners[] = {
      {"relu", [](Tensor x) { return relu(x); }, {0, 1, -1}, {0, 1, 0}},
      {"relu6", [](Tensor x) { return relu6(x); }, {0, 6, 3}, {0, 0, 1}},
      {"clamp", [](Tensor x) { return clamp(x, -1, 2); }, {-1, 2, 0}, {0, 0, 1}},
      {"maximum", [](Tensor x) { return maximum(x, 1); }, {1, 2, 0}, {0.5, 1, 0}},
      {"minimum", [](Tensor x) { return minimum(x, 0); }, {0, 2, -1}, {0.5, 0, 1}},
      {"abs", [](Tensor x) { return abs(x); }, {0, 1, -1}, {0, 1, -1}},
      {"leaky_relu", [](Tensor x) { return leaky_relu(x, 0.25); }, {0, 1, -1}, {0.25, 1, 0.25}},
      {"elu", [](Tensor x) { return elu(x, 2); }, {0, 1, 200}, {2, 1, 1}},
      {"hardsigmoid", [](Tensor x) { return 6 * hardsigmoid(x); }, {-3, 3, 0}, {0, 0, 1}},
      {"hardswish", [](Tensor x) { return hardswish(x); }, {-3, 3, 0}, {0, 1, 0.5}},
      {"softplus", [](Tensor x) { return softplus(x); }, {0, 50, -50}, {0.5, 1, 0}},
      {"max", [](Tensor x) { return max(x, 0); }, {2, 2, 1}, {0.5, 0.5, 0}},
      {"cumprod", [](Tensor x) { return cumprod(x, 0); }, {0, 2, 0}, {3, 0, 0}},
      {"nll_loss of ignored targets",
       [](Tensor x) {
         Tensor ignored = cast(x < 100, DType::I64) * 0;
         return loss::nll_loss(trace::stack({x, x}, 1), ignored, {.ignoreIndex = 0});
       },
       {1, 2, 3},
       {0, 0, 0}},
  };
  for (const Corner &c : corners) {
    SCOPED_TRACE(c.name);
    std::vector<Array> inputs = {Array::of({3}, c.x)};
    trace::Graph graph = trace::traceFunction(
        [&](const std::vector<Tensor> &xs) { return grad(sum(c.function(xs[0])), {xs[0]}); },
        specsOf(inputs));
    expectNear(execute(std::move(graph), inputs)[0], Array::of({3}, c.dx));
  }
}
#endif

TEST(Steps, InMicroBatches) {
  Mlp mlp;
  std::string text =
      traceStep(mlp, loss::cross_entropy, optim::sgd(), batch, {.microBatches = 3}).text();
  size_t count = 0;
  for (size_t at = text.find("dlc.gradient("); at != std::string::npos;
       at = text.find("dlc.gradient(", at + 1))
    ++count;
  EXPECT_EQ(count, 3u);
  EXPECT_CONTAINS(text, "tensor<2x8xf32>");
  EXPECT_CONTAINS(errorOf([&] {
                    traceStep(mlp, loss::cross_entropy, optim::sgd(), batch, {.microBatches = 4});
                  }),
                  "'x' must be divisible into 4");
}

TEST(Steps, KeepALog) {
  Mlp mlp;
  std::string text = traceStep(mlp, loss::cross_entropy, optim::sgd(), batch,
                               {.metrics = {{"accuracy", metric::accuracy}}, .log = 10})
                         .text();
  EXPECT_CONTAINS(text, "tensor<10x2xf32> {dlc.name = \"log\", dlc.state}");
  EXPECT_EQ(text.find("dlc.name = \"loss\""), std::string::npos) << text;
  EXPECT_EQ(text.find("dlc.name = \"accuracy\""), std::string::npos) << text;
}

} // namespace
