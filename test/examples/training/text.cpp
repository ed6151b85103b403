// text.cpp - trains an LSTM on the characters of a text and generates new text.
#include <dlc/train.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

constexpr int64_t width = 128, steps = 64, batch = 16;

struct Text : dlc::nn::Module {
  explicit Text(int64_t letters)
      : table(add("table", Embedding(letters, 32))),
        lstm(add("lstm", LSTM(32, width, {.batchFirst = true}))),
        out(add("out", Linear(width, letters))) {}
  Tensor forward(Tensor ids) override { return out(lstm(table(ids))); }
  Embedding table;
  LSTM lstm;
  Linear out;
};

int main(int argc, char **argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3");
  std::string text(std::istreambuf_iterator<char>(file), {}), letters = text;
  if (text.size() < 10000)
    throw dlc::Error("required: a text of 10000 characters or more; found " +
                     std::to_string(text.size()));
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  auto numberOf = [&](char c) { return int64_t(letters.find(c)); };

  Text network(int64_t(letters.size()));
  auto loss = [](dlc::trace::Tensor y, dlc::trace::Tensor t) {
    return dlc::loss::cross_entropy(flatten(y, 0, 1), flatten(t));
  };
  auto step =
      dlc::train(network, loss, dlc::optim::adam({.lr = 5e-3}),
                 {{"x", {batch, steps}, dlc::DType::I64}, {"t", {batch, steps}, dlc::DType::I64}},
                 {.clipNorm = 1});
  dlc::Tensor x(dlc::DType::I64, {batch, steps}), t(dlc::DType::I64, {batch, steps});
  float first = 0, mean = 0;
  uint64_t random = 1;
  for (int i = 0; i < 400; ++i) {
    for (int64_t b = 0; b < batch; ++b) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      size_t at = (random >> 33) % (text.size() - steps - 1);
      for (int64_t s = 0; s < steps; ++s) {
        x.data<int64_t>()[b * steps + s] = numberOf(text[at + size_t(s)]);
        t.data<int64_t>()[b * steps + s] = numberOf(text[at + size_t(s) + 1]);
      }
    }
    float now = step(x, t);
    first = i == 0 ? now : first;
    mean = i == 0 ? now : 0.98f * mean + 0.02f * now;
    if (i % 100 == 99)
      std::printf("step %d: %.3f nats per character\n", i + 1, mean);
  }

  // Repeatedly appends the most probable character after the last ones.
  dlc::Model predict = step.predictor({{"x", {1, steps}, dlc::DType::I64}});
  std::string written = text.substr(1000, steps);
  for (int i = 0; i < 80; ++i) {
    dlc::Tensor ids(dlc::DType::I64, {1, steps});
    for (int64_t s = 0; s < steps; ++s)
      ids.data<int64_t>()[s] = numberOf(written[written.size() - steps + size_t(s)]);
    const dlc::Tensor y = predict.run({{"x", ids}})["y"];
    const float *last = y.data<float>() + (steps - 1) * int64_t(letters.size());
    written += letters[size_t(std::max_element(last, last + letters.size()) - last)];
  }
  std::printf("%s\nfrom %.3f to %.3f nats per character\n", written.c_str(), first, mean);
  return mean < 1.8f ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
