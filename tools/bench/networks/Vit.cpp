//===- Vit.cpp - the vision transformer ViT-B/16 --------------------------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
constexpr int64_t width = 768, heads = 12, patch = 16, tokens = 14 * 14 + 1;

struct EncoderBlock : Module {
  LayerNorm ln1 = add("ln_1", LayerNorm(width, 1e-6));
  MultiheadAttention attention = add("self_attention", MultiheadAttention(width, heads));
  LayerNorm ln2 = add("ln_2", LayerNorm(width, 1e-6));
  Sequential mlp = add("mlp", Sequential(Linear(width, 4 * width), GELU(), Dropout(0),
                                         Linear(4 * width, width), Dropout(0)));

  Tensor forward(Tensor x) override {
    x = x + attention(ln1(x));
    return x + mlp(ln2(x));
  }
};

struct Encoder : Module {
  Parameter position = parameter("pos_embedding", {1, tokens, width}, Init::normal(0.02));
  std::vector<EncoderBlock> layers;
  LayerNorm ln = add("ln", LayerNorm(width, 1e-6));

  Encoder() {
    for (int64_t i = 0; i < 12; ++i)
      layers.push_back(add("layers.encoder_layer_" + std::to_string(i), EncoderBlock()));
  }
  Tensor forward(Tensor x) override {
    x = x + position;
    for (EncoderBlock &layer : layers)
      x = layer(x);
    return ln(x);
  }
};

struct Vit : Module {
  Parameter classToken = parameter("class_token", {1, 1, width}, Init::constant(0));
  Conv2d proj = add("conv_proj", Conv2d(3, width, patch, {.stride = patch}));
  Encoder encoder = add("encoder", Encoder());
  Linear head = add("heads.head", Linear(width, 1000));

  Tensor forward(Tensor x) override {
    int64_t count = x.dim(0);
    x = permute(flatten(proj(x), 2), {0, 2, 1});
    x = encoder(trace::cat({broadcast_to(classToken, {count, 1, width}), x}, 1));
    return head(select(x, 1, 0));
  }
};
} // namespace

std::shared_ptr<Module> makeVit() { return std::make_shared<Vit>(); }

} // namespace dlc::bench
