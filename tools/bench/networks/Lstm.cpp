//===- Lstm.cpp - a language model of two LSTM layers ---------------------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

namespace {
struct Lstm : Module {
  Embedding e = add("e", Embedding(10000, 256));
  LSTM r = add("r", LSTM(256, 256, {.layers = 2, .batchFirst = true}));
  Linear f = add("f", Linear(256, 10000));

  Tensor forward(Tensor ids) override { return f(r(e(ids))); }
};
} // namespace

std::shared_ptr<Module> makeLstm() { return std::make_shared<Lstm>(); }

} // namespace dlc::bench
