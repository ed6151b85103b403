// main.cpp - defines a network as a function, compiles it and runs it in this process.
#include <dlc/compiler.hpp>
#include <dlc/nn_layers.hpp>

#include <cstdio>

struct Mlp : dlc::nn::Module {
  Linear hidden = add("hidden", Linear(784, 256)), out = add("out", Linear(256, 10));
  Tensor forward(Tensor x) override { return softmax(out(relu(hidden(x)))); }
};

int main() {
  Mlp mlp;
  auto graph = dlc::trace::trace([&](dlc::trace::Tensor x) { return mlp(x); }, {{"x", {1, 784}}});
  auto net = dlc::compile(std::move(graph), {.device = "cpu"});
  auto x = dlc::Tensor::of({1, 784}, std::vector<float>(784, 0.5f));
  auto y = net.run({{"x", x}})["y"];
  float sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += y.data<float>()[i];
  std::printf("10 probabilities, sum %.4f\n", sum);
}
