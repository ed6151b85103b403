//===- LayersTest.cpp - compares layers and functions with PyTorch's results ===//
//
// Inputs/make_layers.py generated the expected values. If the compiler is built, its code is
// compared with them, too.
//
//===----------------------------------------------------------------------===//
#include "frontend/trace/Safetensors.h"
#include "test/frontend/trace/Support.h"

using namespace dlc;
using namespace dlc::test;
using trace::Array;
using trace::Tensor;

namespace {

const safetensors::Tensors &numbers() {
  static const safetensors::Tensors tensors =
      safetensors::read(DLC_TEST_INPUTS "/layers.safetensors").tensors;
  return tensors;
}

std::vector<Array> inputsOf(const std::string &name) {
  std::vector<Array> inputs;
  for (int i = 0;; ++i) {
    auto at = numbers().find(name + "/x" + std::to_string(i));
    if (at == numbers().end())
      return inputs;
    inputs.push_back(at->second);
  }
}

template <typename F> void checkFunction(const std::string &name, F &&function) {
  SCOPED_TRACE(name);
  std::vector<Array> results = run(function, inputsOf(name));
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], numbers().at(name + "/y"));
#ifdef DLC_HAVE_COMPILER
  SCOPED_TRACE("compiled");
  std::vector<Array> inputs = inputsOf(name);
  results = execute(trace::trace(function, specsOf(inputs)), inputs);
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], numbers().at(name + "/y"));
#endif
}

/// Sets the module's parameters to PyTorch's, and checks that both have the same parameters.
void fill(const std::string &name, nn::Module &module) {
  size_t count = 0;
  for (nn::Parameter &parameter : module.parameters()) {
    parameter.set(numbers().at(name + "/m." + parameter.name()));
    ++count;
  }
  for (const auto &[key, array] : numbers())
    count -= key.starts_with(name + "/m.");
  EXPECT_EQ(count, 0u);
}

template <typename M> void checkLayer(const std::string &name, M module) {
  fill(name, module);
  checkFunction(name, [&](Tensor x) { return module(x); });
}

TEST(Layers, Linear) {
  checkLayer("linear", nn::Linear(5, 3));
  checkLayer("linear_vector", nn::Linear(5, 3, false));
}

TEST(Layers, Convolution) {
  checkLayer("conv1d", nn::Conv1d(4, 6, 3, {.stride = 2, .padding = 1}));
  checkLayer("conv2d",
             nn::Conv2d(4, 6, {3, 2},
                        {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2}));
  checkLayer("conv3d", nn::Conv3d(2, 3, 2, {}, false));
  checkLayer("conv_transpose2d", nn::ConvTranspose2d(3, 4, 3, {.stride = 2, .padding = 1}, 1));
}

TEST(Layers, Normalisation) {
  checkLayer("batch_norm2d", nn::BatchNorm2d(3));
  checkLayer("layer_norm", nn::LayerNorm({3, 4}, 1e-4));
  checkLayer("group_norm", nn::GroupNorm(2, 4));
}

TEST(Layers, Embedding) { checkLayer("embedding", nn::Embedding(7, 4)); }

TEST(Layers, Lstm) { checkLayer("lstm", nn::LSTM(3, 4, {.layers = 2, .batchFirst = true})); }

TEST(Layers, LstmInBothDirectionsWithLastStates) {
  nn::LSTM lstm(3, 4, {.layers = 2, .bidirectional = true});
  fill("lstm_both", lstm);
  checkFunction("lstm_both", [&](Tensor x) {
    trace::RecurrentResult result = lstm.run(x);
    return trace::cat({flatten(result.y), flatten(result.h), flatten(result.c)});
  });
}

TEST(Layers, LstmWithStatesGiven) {
  nn::LSTM lstm(3, 4, {.bias = false});
  fill("lstm_states", lstm);
  checkFunction("lstm_states", [&](Tensor x, Tensor h, Tensor c) { return lstm.run(x, h, c).c; });
}

TEST(Layers, Gru) { checkLayer("gru", nn::GRU(3, 4, {.bidirectional = true})); }

TEST(Layers, MultiheadAttention) {
  checkLayer("attention_self", nn::MultiheadAttention(8, 2));
  nn::MultiheadAttention attention(8, 4);
  fill("attention_cross", attention);
  checkFunction("attention_cross", [&](Tensor x, Tensor k) { return attention.attend(x, k, k); });
}

TEST(Functions, Pooling) {
  checkFunction("max_pool2d", [](Tensor x) {
    return max_pool2d(x, 3, {.stride = 2, .padding = 1, .ceilMode = true});
  });
  checkFunction("max_pool2d_dilated",
                [](Tensor x) { return max_pool2d(x, 2, {.stride = 1, .dilation = 2}); });
  checkFunction("avg_pool2d_up",
                [](Tensor x) { return avg_pool2d(x, 3, {.stride = 2, .ceilMode = true}); });
  checkFunction("avg_pool2d_padded", [](Tensor x) {
    return avg_pool2d(x, 3, {.stride = 2, .padding = 1, .ceilMode = true});
  });
  checkFunction("avg_pool2d_uncounted", [](Tensor x) {
    return avg_pool2d(x, 3, {.stride = 2, .padding = 1, .countPadding = false});
  });
  checkFunction("adaptive_avg_pool2d", [](Tensor x) { return adaptive_avg_pool2d(x, {2, 3}); });
  checkFunction("adaptive_avg_pool2d_1", [](Tensor x) { return adaptive_avg_pool2d(x, 1); });
}

TEST(Functions, Activations) {
  checkFunction("relu", [](Tensor x) { return relu(x); });
  checkFunction("relu6", [](Tensor x) { return relu6(x); });
  checkFunction("sigmoid", [](Tensor x) { return sigmoid(x); });
  checkFunction("silu", [](Tensor x) { return silu(x); });
  checkFunction("hardswish", [](Tensor x) { return hardswish(x); });
  checkFunction("hardsigmoid", [](Tensor x) { return hardsigmoid(x); });
  checkFunction("softplus", [](Tensor x) { return softplus(x); });
  checkFunction("gelu", [](Tensor x) { return gelu(x); });
  checkFunction("gelu_tanh", [](Tensor x) { return gelu(x, true); });
  checkFunction("elu", [](Tensor x) { return elu(x); });
  checkFunction("leaky_relu", [](Tensor x) { return leaky_relu(x); });
  checkFunction("tanh", [](Tensor x) { return tanh(x); });
}

TEST(Functions, Others) {
  checkFunction("softmax", [](Tensor x) { return softmax(x, 1); });
  checkFunction("log_softmax", [](Tensor x) { return log_softmax(x); });
  checkFunction("variance", [](Tensor x) { return variance(x, {0, 2}, true); });
  checkFunction("causal",
                [](Tensor q, Tensor k, Tensor v) { return attention(q, k, v, Tensor(), true); });
  checkFunction("where", [](Tensor a, Tensor b) { return where(a > b, a * 2, 1.5); });
  checkFunction("lrn", [](Tensor x) { return local_response_norm(x, 3); });
}

} // namespace
