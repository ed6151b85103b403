//===- main.cpp - dlc-network: a benchmark network of the tracer, compiled and run ---===//
#include "dlc/compiler.hpp"
#include "runtime/program/Npy.h"
#include "tools/bench/networks/Networks.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace dlc;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The file's array, or numbers that depend on nothing.
Tensor inputOf(const trace::Spec &spec, const std::string &path) {
  Tensor x(spec.dtype, spec.shape);
  if (!path.empty()) {
    runtime::NpyArray array = runtime::readNpy(path);
    if (array.dtype != spec.dtype || array.shape != spec.shape)
      throw Error(path + ": must hold the network's input, of the shape that --batch gives, as " +
                  std::string(dtypeName(spec.dtype)));
    std::memcpy(x.raw(), array.data.data, x.bytes());
    return x;
  }
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (spec.dtype == DType::I64)
      x.data<int64_t>()[i] = i * 7919 % 1000;
    else
      x.data<float>()[i] = float(i * 7919 % 1000) / 500 - 1;
  }
  return x;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Traces, compiles and runs a benchmark network");
  std::string name, weights, saved, input, output, device = "cpu", cache;
  std::string matmulPrecision = "highest", accuracy = "default";
  int64_t batch = 1;
  int threads = 0, repeat = 5;
  bool text = false;
  app.add_option("network", name, "One of them, such as resnet-50")->required();
  app.add_option("--batch", batch, "Examples at once");
  app.add_option("--weights", weights, "Parameters (.safetensors); random when not given");
  app.add_option("--save", saved, "Where to write its parameters (.safetensors), and stop");
  app.add_option("--input", input, "The input (.npy)");
  app.add_option("--output", output, "Where to write the result (.npy)");
  app.add_option("--threads", threads, "0: as many as there are");
  app.add_option("--device", device, "Where it runs: cpu, cuda:0");
  app.add_option("--matmul-precision", matmulPrecision, "highest, high or medium");
  app.add_option("--accuracy", accuracy, "strict, default or fast");
  app.add_option("--cache", cache, "A folder for object code; the user's when not given");
  app.add_option("--repeat", repeat, "Timed runs");
  app.add_flag("--text", text, "Print the traced program and stop");
  CLI11_PARSE(app, argc, argv);
  try {
    bench::Network network = bench::makeNetwork(name, batch);
    if (!weights.empty())
      network.module->load(weights);
    if (!saved.empty()) {
      network.module->save(saved);
      return 0;
    }
    double start = now();
    trace::Graph graph = trace::trace(*network.module, network.inputs);
    std::printf("traced in %.3f s\n", now() - start);
    if (text) {
      std::fputs(graph.text().c_str(), stdout);
      return 0;
    }
    ModelOptions options{.device = device, .threads = threads};
    options.matmulPrecision = matmulPrecision;
    options.accuracy = accuracy;
    if (!cache.empty())
      options.cacheDir = cache;
    Model model = compile(std::move(graph), options);
    std::map<std::string, Tensor> inputs = {
        {network.inputs[0].name, inputOf(network.inputs[0], input).to(device)}};
    std::printf("compiled in %.3f s\n", model.prepare());
    Tensor y = model.run(inputs)["y"];
    std::vector<double> seconds;
    for (int i = 0; i < repeat; ++i) {
      start = now();
      y = model.run(inputs)["y"];
      seconds.push_back(now() - start);
    }
    if (!seconds.empty())
      std::printf("ran in %.3f ms (the least of %d)\n",
                  *std::min_element(seconds.begin(), seconds.end()) * 1e3, repeat);
    if (!output.empty())
      runtime::writeNpy(output, y.dtype(), y.shape(), y.to("cpu").raw());
  } catch (const Error &error) {
    std::fprintf(stderr, "dlc-network: %s\n", error.what());
    return 1;
  }
}
