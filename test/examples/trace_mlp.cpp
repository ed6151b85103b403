// trace_mlp.cpp - defines a network in C++, loads its parameters from a .safetensors file, compiles
// it and runs it in this process.
#include <dlc/compiler.hpp>
#include <dlc/nn.hpp>

#include <algorithm>
#include <cstdio>

struct Mlp : dlc::nn::Module {
  Linear hidden = add("hidden", Linear(784, 256)), out = add("out", Linear(256, 10));
  Tensor forward(Tensor x) override { return softmax(out(relu(hidden(x)))); }
};

int main(int argc, char **argv) try {
  Mlp mlp;
  if (argc > 1)
    mlp.load(argv[1]); // hidden.weight, hidden.bias, out.weight, out.bias; random without a file
  auto net = dlc::compile(dlc::trace::trace(mlp, {{"x", {1, 784}}}), {.device = "cpu"});
  auto x = dlc::Tensor::of({1, 784}, std::vector<float>(784, 0.5f));
  dlc::Tensor y = net.run({{"x", x}})["y"];
  const float *p = y.data<float>();
  std::printf("class %d of 10, probability %.4f\n", int(std::max_element(p, p + 10) - p),
              *std::max_element(p, p + 10));
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
