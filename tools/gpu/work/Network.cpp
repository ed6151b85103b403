//===- Network.cpp - networks with parameters and inputs generated from seeds -----------------===//
#include "tools/gpu/work/Network.h"

#include "runtime/device/Device.h"
#include "runtime/program/Reader.h"
#include "runtime/session/Binder.h"
#include "runtime/session/state/State.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace dlc::gpu {
namespace {

uint64_t hashBits(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Returns a random number in [0, 1) that depends only on the seed and the index.
double uniformRandom(uint64_t seed, int64_t index) {
  return double(hashBits(seed * 0xd1342543de82ef95u + uint64_t(index)) >> 40) * 0x1p-24;
}

/// Returns an approximately normal random number with variance 1: a scaled sum of four uniform
/// numbers.
double normalRandom(uint64_t seed, int64_t index) {
  uint64_t bits = hashBits(seed * 0xd1342543de82ef95u + uint64_t(index));
  double sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += double(bits >> (16 * i) & 0xffff) / 65536 - 0.5;
  return sum * std::sqrt(3.0);
}

bool endsWith(const std::string &text, const char *end) {
  std::string wanted = end;
  return text.size() >= wanted.size() &&
         text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
}

void initializeLively(nn::Module &module) {
  uint64_t seed = 0;
  for (trace::Parameter parameter : module.parameters()) {
    ++seed;
    if (parameter.dtype() != DType::F32)
      continue;
    const trace::Shape &shape = parameter.shape();
    void *elements = nullptr;
    trace::Array array = trace::Array::zeros(DType::F32, shape, &elements);
    auto *to = static_cast<float *>(elements);
    bool small = endsWith(parameter.name(), "bias") || endsWith(parameter.name(), "mean");
    double scale = 1;
    if (shape.size() > 1) {
      double inner = 1;
      for (size_t i = 1; i < shape.size(); ++i)
        inner *= double(shape[i]);
      scale = std::sqrt(2 / inner);
    }
    for (int64_t i = 0, count = array.size(); i < count; ++i) {
      double noise = normalRandom(seed, i);
      to[i] = float(shape.size() > 1 ? noise * scale
                    : small          ? noise / 10
                                     : 1 + std::abs(noise) / 10);
    }
    parameter.set(std::move(array));
  }
}

/// Returns the initial scale and mean bias of a normalization layer by the end of its name. Norms
/// that end a residual branch have small scales. The values are those of tools/bench/networks.py.
std::pair<double, double> initialNormParameters(const std::string &norm) {
  const std::pair<const char *, std::pair<double, double>> ends[] = {{".b2", {0.25, 0}},
                                                                     {".bn3", {0.05, 0}},
                                                                     {"downsample.1", {0.2, 0.4}},
                                                                     {"bn1", {1, 2}},
                                                                     {".bn2", {1, 2}}};
  for (const auto &[end, sizes] : ends)
    if (endsWith(norm, end))
      return sizes;
  return {1, 0};
}

void initializeSettled(nn::Module &module) {
  uint64_t seed = 0;
  for (trace::Parameter parameter : module.parameters()) {
    ++seed;
    const std::string &name = parameter.name();
    size_t dot = name.rfind('.');
    if (parameter.isBuffer() || parameter.dtype() != DType::F32 || dot == std::string::npos)
      continue;
    trace::Array now = parameter.value();
    std::string part = name.substr(0, dot);
    trace::Parameter weight = module.find(part + ".weight");
    // Layers with a one-dimensional weight are normalization layers.
    bool norm = weight && weight.shape().size() == 1;
    bool zero = true;
    for (int64_t i = 0; i < now.size() && zero; ++i)
      zero = std::abs(now.as<float>()[i]) < 1e-4;
    if (!norm && !zero)
      continue;
    auto [scale, bias] = initialNormParameters(part);
    void *elements = nullptr;
    trace::Array array = trace::Array::zeros(DType::F32, parameter.shape(), &elements);
    for (int64_t i = 0; i < array.size(); ++i)
      static_cast<float *>(elements)[i] =
          float(!norm                     ? 0.02 * normalRandom(seed, i)
                : endsWith(name, ".bias") ? bias + 0.1 * scale * normalRandom(seed, i)
                                          : scale * (0.8 + 0.4 * uniformRandom(seed, i)));
    parameter.set(std::move(array));
  }
}

std::string temporaryFile(const std::string &folder) {
  return folder + "/program-" + std::to_string(getpid()) + ".dlcx";
}

std::shared_ptr<runtime::Program> saveAndReload(const Model &model, const std::string &folder) {
  std::string path = temporaryFile(folder);
  model.save(path);
  auto program = std::make_shared<runtime::Program>(runtime::readProgram(path));
  // The mapped program file remains accessible after unlink.
  unlink(path.c_str());
  return program;
}

} // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ModelOptions makeModelOptions(const MeasurementTask &task) {
  ModelOptions options{.device = task.device};
  options.precision = task.precision == "bf16" ? "bf16" : "none";
  options.matmulPrecision = task.precision == "tf32" ? "high" : "highest";
  // Strict accuracy, because otherwise the comparison would depend on summation orders rather than
  // on devices.
  options.accuracy = "strict";
  options.tune = task.tune;
  return options;
}

Tensor randomTensor(const trace::Spec &spec, int64_t limit, uint64_t seed) {
  Tensor tensor(spec.dtype, spec.shape);
  for (int64_t i = 0, count = tensor.elements(); i < count; ++i) {
    if (spec.dtype == DType::I64)
      tensor.data<int64_t>()[i] = int64_t(uniformRandom(seed, i) * double(limit));
    else
      tensor.data<float>()[i] = float(uniformRandom(seed, i) * 2 - 1);
  }
  return tensor;
}

PreparedNetwork prepareNetwork(const MeasurementTask &task, Initialization start) {
  PreparedNetwork prepared;
  int64_t vocabulary = 10000, classes = vocabulary;
  if (task.trains()) {
    bench::TrainingSetup training = bench::makeTraining(task.network, task.batch);
    prepared.module = training.module;
    prepared.inputs = training.inputs;
    classes = training.classes;
  } else {
    bench::Network network = bench::makeNetwork(task.network, task.batch);
    prepared.module = network.module;
    prepared.inputs = network.inputs;
  }
  for (size_t i = 0; i < prepared.inputs.size(); ++i)
    prepared.batch.push_back(
        randomTensor(prepared.inputs[i], i ? classes : vocabulary, 1000 + uint64_t(i)));
  if (start == Initialization::Lively)
    initializeLively(*prepared.module);
  if (start == Initialization::Settled)
    initializeSettled(*prepared.module);
  return prepared;
}

Model compileInferenceModel(const MeasurementTask &task, const PreparedNetwork &prepared) {
  return compile(trace::trace(*prepared.module, prepared.inputs), makeModelOptions(task));
}

Step compileTrainingStep(const MeasurementTask &task, const PreparedNetwork &prepared) {
  bench::TrainingSetup training = bench::makeTraining(task.network, task.batch);
  return train(prepared.module, training.loss, optim::sgd({.lr = training.rate}), prepared.inputs,
               {.clipNorm = training.clipNorm}, makeModelOptions(task));
}

struct ProgramBench::Arrays {
  runtime::Device *device;
  std::vector<runtime::DeviceMemory> memory;
  std::vector<runtime::BoundArray> inputs, outputs;
  std::vector<uint64_t> bytes;
};

ProgramBench::ProgramBench(std::shared_ptr<runtime::Program> program,
                           const std::vector<trace::Spec> &inputs, const std::vector<Tensor> &batch,
                           const std::string &device)
    : made(std::make_unique<runtime::Session>(std::move(program))),
      arrays(std::make_unique<Arrays>()) {
  arrays->device = &runtime::openDevice(*runtime::parseDeviceName(device));
  runtime::Device &host = runtime::hostDevice();
  auto place = [&](uint64_t bytes) {
    arrays->memory.emplace_back(*arrays->device, std::max<uint64_t>(bytes, 1), "an array");
    return runtime::BoundArray{arrays->memory.back().data(), arrays->device};
  };
  for (const runtime::TensorInfo &info : made->plan().inputs) {
    auto found = std::find_if(inputs.begin(), inputs.end(),
                              [&](const trace::Spec &spec) { return spec.name == info.name; });
    if (found == inputs.end())
      throw Error("the program has an unexpected input '" + info.name + "'");
    const Tensor &tensor = batch[size_t(found - inputs.begin())];
    arrays->inputs.push_back(place(info.bytes));
    runtime::copyBytes(arrays->inputs.back().data, *arrays->device, tensor.raw(), host, info.bytes);
  }
  for (const runtime::TensorInfo &info : made->plan().outputs) {
    arrays->outputs.push_back(place(info.bytes));
    arrays->bytes.push_back(info.bytes);
  }
}

ProgramBench::~ProgramBench() = default;

void ProgramBench::run() { made->runOn(arrays->inputs, arrays->outputs); }

std::vector<std::vector<char>> ProgramBench::runSpoiled() {
  runtime::Device &host = runtime::hostDevice();
  std::vector<std::vector<char>> results;
  for (size_t i = 0; i < arrays->outputs.size(); ++i) {
    results.emplace_back(arrays->bytes[i], char(0x5b));
    runtime::copyBytes(arrays->outputs[i].data, *arrays->device, results[i].data(), host,
                       arrays->bytes[i]);
  }
  run();
  for (size_t i = 0; i < arrays->outputs.size(); ++i)
    runtime::copyBytes(results[i].data(), host, arrays->outputs[i].data, *arrays->device,
                       arrays->bytes[i]);
  return results;
}

std::unique_ptr<ProgramBench> benchOf(const Model &model, const PreparedNetwork &prepared,
                                      const MeasurementTask &task, const std::string &folder) {
  return std::make_unique<ProgramBench>(saveAndReload(model, folder), prepared.inputs,
                                        prepared.batch, task.device);
}

std::unique_ptr<ProgramBench> benchOf(Step &step, const PreparedNetwork &prepared,
                                      const MeasurementTask &task, const std::string &folder) {
  step.prepare();
  auto bench = std::make_unique<ProgramBench>(saveAndReload(step.model(), folder), prepared.inputs,
                                              prepared.batch, task.device);
  runtime::StateSet &states = bench->session().states();
  for (const ModelState &state : step.model().states())
    states.set(states.indexOf(state.name), step.model().state(state.name).raw());
  return bench;
}

ArrayDifference computeDifference(const float *got, const float *want, size_t count) {
  ArrayDifference difference;
  double apart = 0, whole = 0, most = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(want[i])) {
      ++difference.bad;
      continue;
    }
    double d = double(got[i]) - want[i];
    apart += d * d;
    whole += double(want[i]) * want[i];
    most = std::max(most, std::abs(d));
    largest = std::max(largest, std::abs(double(want[i])));
  }
  difference.norm = whole > 0 ? std::sqrt(apart / whole) : apart > 0 ? 1 : 0;
  difference.largest = largest > 0 ? most / largest : most > 0 ? 1 : 0;
  return difference;
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

} // namespace dlc::gpu
