//===- train.cpp - dlc-train-network: runs and times a benchmark network's training step ------===//
//
// Batches and parameters are read from .safetensors files, so that other frameworks can run the
// same steps.
//
//===----------------------------------------------------------------------------------------===//
#include "dlc/train.hpp"
#include "dlc/parallel.hpp"
#include "frontend/trace/Safetensors.h"
#include "runtime/collective/World.h"
#include "tools/Flags.h"
#include "tools/ProcessMemory.h"
#include "tools/bench/networks/Training.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

using namespace dlc;
using Json = nlohmann::json;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Reads batch i from a file with the tensors x0, t0, x1, t1, ...; each rank takes its shard of the
/// batch. Without a file, generates deterministic numbers.
class BatchReader {
public:
  BatchReader(const bench::TrainingSetup &training, const std::string &path, int64_t rank,
              int64_t ranks)
      : training(training), rank(rank), ranks(ranks) {
    if (!path.empty())
      tensors = safetensors::read(path).tensors;
  }
  std::vector<Tensor> operator()(int64_t index) const {
    std::vector<Tensor> batch;
    for (size_t i = 0; i < training.inputs.size(); ++i) {
      const trace::Spec &spec = training.inputs[i];
      batch.push_back(tensors.empty() ? made(spec, i + 1 == training.inputs.size())
                                      : read((i ? "t" : "x") + std::to_string(index), spec));
    }
    return batch;
  }

private:
  Tensor made(const trace::Spec &spec, bool target) const {
    Tensor tensor(spec.dtype, spec.shape);
    int64_t limit = target ? training.classes : 1000;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      if (spec.dtype == DType::I64)
        tensor.data<int64_t>()[i] = i * 7919 % limit;
      else
        tensor.data<float>()[i] = float(i * 7919 % 1000) / 500 - 1;
    }
    return tensor;
  }
  Tensor read(const std::string &name, const trace::Spec &spec) const {
    auto found = tensors.find(name);
    if (found == tensors.end())
      throw Error("the file of batches must contain a tensor '" + name + "'; found " +
                  std::to_string(tensors.size()) + " others");
    const trace::Array &array = found->second;
    trace::Shape whole = spec.shape;
    whole[0] *= ranks;
    if (array.dtype != spec.dtype || array.shape != whole)
      throw Error("batch '" + name + "' must be " + std::string(dtypeName(spec.dtype)) +
                  " of the shape that --batch gives");
    Tensor tensor(spec.dtype, spec.shape);
    std::copy_n(array.as<char>() + rank * int64_t(tensor.bytes()), tensor.bytes(),
                static_cast<char *>(tensor.raw()));
    return tensor;
  }

  const bench::TrainingSetup &training;
  const int64_t rank, ranks;
  safetensors::Tensors tensors;
};

/// Serves timing requests: for each line of stdin, such as {"seconds": 0.5}, runs training steps
/// for this duration. Replies with {"times": [..], "peak_mib": ..}.
void serveTimingRequests(Step &step, const std::vector<Tensor> &batch) {
  for (std::string line; std::getline(std::cin, line);) {
    double seconds = Json::parse(line).at("seconds"), sum = 0;
    std::vector<double> times;
    step.run(batch); // warm-up: the peers have evicted this process's data from the caches
    while (sum < seconds || times.size() < 2) {
      double start = now();
      step.run(batch);
      times.push_back(now() - start);
      sum += times.back();
    }
    std::cout << Json{{"times", times}, {"peak_mib", readProcessMemoryMib("VmHWM")}} << "\n"
              << std::flush;
  }
}

/// Wraps a network of any type in a Module of one static type, as data_parallel() requires.
struct WrappedModule : nn::Module {
  explicit WrappedModule(std::shared_ptr<nn::Module> network)
      : Module(*network), network(network) {}
  trace::Tensor forward(trace::Tensor x) override { return network->forward(x); }
  std::shared_ptr<nn::Module> network;
};

/// Distributes the network over `count` virtual devices. Each device computes a shard of the batch.
std::shared_ptr<nn::Module> distributeOverDevices(std::shared_ptr<nn::Module> network,
                                                  int64_t count) {
  std::vector<Device> devices = {"cpu"};
  for (int64_t i = 1; i < count; ++i)
    devices.emplace_back("cpu:" + std::to_string(i));
  return std::make_shared<Parts>(
      data_parallel(WrappedModule(std::move(network)), std::move(devices)));
}

struct SmallNetwork : nn::Module {
  Conv2d conv = add("conv", Conv2d(3, 16, 3, {.padding = 1}));
  BatchNorm2d norm = add("norm", BatchNorm2d(16));
  Conv2d wide = add("wide", Conv2d(16, 16, 5, {.padding = 2}));
  Linear out = add("out", Linear(16, 4));
  trace::Tensor forward(trace::Tensor x) override {
    trace::PoolOptions half{.stride = 2, .ceilMode = true};
    x = max_pool2d(relu(norm(conv(x))), 3, half);
    return out(mean(avg_pool2d(relu(wide(x)), 3, half), {2, 3}));
  }
};

/// Trains a small network, so that the code of the compiler and its libraries is loaded before
/// memory is measured, as other frameworks load theirs at import. The cache must not contain the
/// network, because then the code generators would not be loaded.
void preloadCompiler(const std::string &device, const std::string &cache) {
  auto small = std::make_shared<SmallNetwork>();
  Step step = train(small, loss::cross_entropy, optim::sgd({.lr = 0.01}),
                    {{"x", {2, 3, 16, 16}}, {"t", {2}, DType::I64}}, {},
                    {.device = device, .cacheDir = cache});
  Tensor x(DType::F32, {2, 3, 16, 16}), t(DType::I64, {2});
  std::fill_n(x.data<float>(), x.elements(), 0.5f);
  std::fill_n(t.data<int64_t>(), t.elements(), 1);
  step.run({x.to(device), t.to(device)});
}
/// Arguments of the command line.
struct TrainArguments {
  std::string name, init, data, save;
  // The compilation cache is disabled unless a folder is specified.
  ModelOptions options{.cacheDir = ""};
  int64_t batch = 0, steps = 20, microBatches = 1, devices = 1;
  double rate = -1;
  bool text = false, serving = false, dataParallel = false, syncBatchNorm = false;
};

void addArguments(CLI::App &app, TrainArguments &a) {
  app.add_option("network", a.name, "Name of the network, such as resnet-50")->required();
  app.add_option("--batch", a.batch, "Batch size; 0: the network's own");
  app.add_option("--init", a.init,
                 "Parameters to start from (.safetensors); random when not given");
  app.add_option("--data", a.data, "Batches x0, t0, x1, t1, … (.safetensors); random if not given");
  app.add_option("--steps", a.steps, "Number of steps, each of which prints a line of JSON");
  app.add_option("--save", a.save, "File to which the final parameters are written (.safetensors)");
  app.add_option("--lr", a.rate, "Learning rate; default: the network's own");
  app.add_option("--micro-batches", a.microBatches,
                 "Number of micro-batches into which each batch is split");
  app.add_option(
      "--devices", a.devices,
      "Number of virtual devices (cpu, cpu:1, ..) of one process over which each batch is split");
  app.add_flag("--data-parallel", a.dataParallel,
               "Split each batch over the ranks that mpirun has started");
  app.add_flag("--sync-batch-norm", a.syncBatchNorm,
               "Compute batch norm over the whole batch if the batch is split");
  app.add_flag("--text", a.text, "Print the traced step and stop");
  app.add_flag("--serve", a.serving,
               "Run one step, then time further steps on request by lines of stdin");
}

/// Joins the ranks that mpirun has started. Returns this process's rank and the number of ranks.
/// Only rank 0 prints.
std::pair<int64_t, int64_t> joinWorld() {
  const runtime::World &world = runtime::World::ofProcess();
  if (world.rank() > 0)
    std::cout.setstate(std::ios::failbit);
  return {world.rank(), world.size()};
}

/// Reduces the batch size of the inputs to the share of one rank.
void splitBatches(bench::TrainingSetup &training, int64_t ranks) {
  for (trace::Spec &input : training.inputs) {
    if (input.shape[0] % ranks != 0)
      throw Error("a batch of " + std::to_string(input.shape[0]) + " cannot be split evenly over " +
                  std::to_string(ranks) + " ranks");
    input.shape[0] /= ranks;
  }
}

/// Prints the loss, times and memory of the first step. `before` is the process's memory before the
/// compilation, `ready` the time from its beginning to the end of the step.
void printFirstStep(Step &step, float loss, double compiled, double ready, double before) {
  std::cout << Json{{"step", 0},
                    {"loss", loss},
                    {"compile_s", compiled},
                    {"ready_s", ready},
                    {"before_mib", before},
                    {"peak_mib", readProcessMemoryMib("VmHWM")},
                    {"state_mib", double(step.model().memory().state_bytes) / (1 << 20)},
                    {"constants_mib", double(step.model().memory().constant_bytes) / (1 << 20)},
                    {"arena_mib", double(step.model().memory().arena_bytes) / (1 << 20)}}
            << "\n"
            << std::flush;
}

void trainNetwork(const TrainArguments &a) {
  bench::TrainingSetup training = bench::makeTraining(a.name, a.batch);
  if (!a.init.empty())
    training.module->load(a.init);
  if (a.devices > 1)
    training.module = distributeOverDevices(training.module, a.devices);
  auto [rank, ranks] = a.dataParallel ? joinWorld() : std::pair<int64_t, int64_t>(0, 1);
  splitBatches(training, ranks);
  BatchReader here(training, a.data, rank, ranks);
  auto batches = [&](int64_t index) {
    std::vector<Tensor> batch = here(index);
    for (Tensor &tensor : batch)
      tensor = tensor.to(a.options.device);
    return batch;
  };
  optim::Optimizer sgd = optim::sgd({.lr = a.rate >= 0 ? a.rate : training.rate});
  StepOptions traced{.clipNorm = training.clipNorm,
                     .microBatches = a.microBatches,
                     .dataParallel = a.dataParallel,
                     .syncBatchNorm = a.syncBatchNorm};
  if (a.text) {
    traced.starts = false;
    std::cout << traceStep(training.module, training.loss, sgd, training.inputs, traced).text();
    return;
  }
  std::vector<Tensor> first = batches(0);
  for (const nn::Parameter &parameter : training.module->parameters())
    parameter.value();
  if (a.serving)
    preloadCompiler(a.options.device, *a.options.cacheDir);
  double before = readProcessMemoryMib("VmRSS"), start = now();
  Step step = train(training.module, training.loss, sgd, training.inputs, traced, a.options);
  double compiled = step.prepare();
  float loss = step.run(first);
  printFirstStep(step, loss, compiled, now() - start, before);
  if (a.serving) {
    serveTimingRequests(step, first);
    return;
  }
  for (int64_t i = 1; i < a.steps; ++i) {
    std::vector<Tensor> next = batches(i);
    start = now();
    loss = step.run(next);
    std::cout << Json{{"step", i}, {"loss", loss}, {"ms", (now() - start) * 1e3}} << "\n"
              << std::flush;
  }
  if (!a.save.empty())
    training.module->save(a.save);
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Traces, compiles and runs a benchmark network's training step (plain SGD)");
  TrainArguments arguments;
  addArguments(app, arguments);
  addSettingFlags(app, getModelSettings(arguments.options));
  CLI11_PARSE(app, argc, argv);
  try {
    trainNetwork(arguments);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-train-network: %s\n", error.what());
    return 1;
  }
}
