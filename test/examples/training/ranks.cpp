// ranks.cpp - trains a perceptron on handwritten digits in several processes, each with its part of
// every batch: mpirun -n 2 ranks FOLDER. A single process computes the same. With bf16 as the
// second argument, gradients are exchanged in bf16.
#include <dlc/data.hpp>
#include <dlc/train.hpp>

#include <cstdio>
#include <string>

struct Mlp : dlc::nn::Module {
  Linear hidden = add("hidden", Linear(64, 256)), out = add("out", Linear(256, 10));
  Tensor forward(Tensor x) override { return out(relu(hidden(flatten(x, 1)))); }
};

int main(int argc, char **argv) try {
  std::string folder = argc > 1 ? argv[1] : ".", travel = argc > 2 ? argv[2] : "f32";
  dlc::WorldPlace here = dlc::world();
  const int64_t batch = 64 / here.size;
  auto step = dlc::train(
      dlc::data_parallel(Mlp()), dlc::loss::cross_entropy, dlc::optim::adam({.lr = 2e-3}),
      {{"x", {batch, 1, 8, 8}}, {"t", {batch}, dlc::DType::I64}},
      {.metrics = {{"accuracy", dlc::metric::accuracy}}, .gradients = *dlc::parseDType(travel)});
  auto digits = dlc::data::npz(folder + "/digits.npz", {"x", "target"});
  auto batches = dlc::data::loader(
      digits,
      {.batch = batch, .shuffle = true, .dropLast = true, .rank = here.rank, .world = here.size});
  for (int epoch = 0; epoch < 10; ++epoch) {
    float loss = 0;
    for (auto [x, t] : batches)
      loss = step(x, t);
    if (here.rank == 0)
      std::printf("epoch %d: loss %.6f\n", epoch, loss);
  }
  step.save(folder + "/ranks.safetensors"); // only rank 0 writes the file
  if (here.rank == 0)
    std::printf("%d processes: accuracy %.4f\n", here.size, step.metrics().at("accuracy"));
  return 0;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
