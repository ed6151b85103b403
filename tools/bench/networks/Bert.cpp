//===- Bert.cpp - an encoder with the shape of BERT-base ------------------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
/// Encoder with the shape of BERT-base: 12 layers, width 768, 12 heads, GELU, layer norm after each
/// residual sum (post-norm).
struct Bert : Module {
  static constexpr int64_t layers = 12, width = 768, heads = 12, vocabulary = 30522, length = 512;
  struct Layer {
    Linear q, o;
    LayerNorm a;
    Linear u, v;
    LayerNorm b;
  };
  Embedding e = add("e", Embedding(vocabulary, width)), p = add("p", Embedding(length, width));
  LayerNorm n = add("n", LayerNorm(width));
  std::vector<Layer> stack;
  Linear f = add("f", Linear(width, 2));

  Bert() {
    for (int64_t i = 0; i < layers; ++i) {
      std::string number = "." + std::to_string(i);
      stack.push_back(
          {add("q" + number, Linear(width, 3 * width)), add("o" + number, Linear(width, width)),
           add("a" + number, LayerNorm(width)), add("u" + number, Linear(width, 4 * width)),
           add("v" + number, Linear(4 * width, width)), add("b" + number, LayerNorm(width))});
    }
  }

  Tensor forward(Tensor ids) override {
    int64_t count = ids.dim(0), steps = ids.dim(1);
    Tensor x = n(e(ids) + narrow(p.weight, 0, 0, steps));
    for (Layer &layer : stack) {
      Tensor h = reshape(layer.q(x), {count, steps, 3, heads, width / heads});
      h = permute(h, {2, 0, 3, 1, 4});
      h = attention(select(h, 0, 0), select(h, 0, 1), select(h, 0, 2));
      h = reshape(transpose(h, 1, 2), {count, steps, width});
      x = layer.a(x + layer.o(h));
      x = layer.b(x + layer.v(gelu(layer.u(x))));
    }
    return f(select(x, 1, 0));
  }
};
} // namespace

std::shared_ptr<Module> makeBert() { return std::make_shared<Bert>(); }

} // namespace dlc::bench
