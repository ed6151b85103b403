//===- main.cpp - dlc-network: compiles and runs a benchmark network ------===//
#include "dlc/compiler.hpp"
#include "runtime/program/arrays/Npy.h"
#include "tools/Flags.h"
#include "tools/bench/networks/Networks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace dlc;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Reads an input of the network from a file, or fills it with deterministic numbers if no file is
/// given.
Tensor makeInput(const trace::Spec &spec, const std::string &path) {
  Tensor x(spec.dtype, spec.shape);
  if (!path.empty()) {
    runtime::NpyArray array = runtime::readNpy(path);
    if (array.dtype != spec.dtype || array.shape != spec.shape)
      throw Error(path + ": required: the network's input with the batch size of --batch, as " +
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
  std::string name, init, saved, input, output;
  ModelOptions options;
  int64_t batch = 1;
  int repeat = 5;
  bool text = false;
  app.add_option("network", name, "Name of the network, such as resnet-50")->required();
  app.add_option("--batch", batch, "Batch size");
  app.add_option("--init", init, "Parameters (.safetensors); random when not given");
  app.add_option("--save", saved,
                 "File to which the parameters are written (.safetensors), without a run");
  app.add_option("--input", input, "File with the input (.npy)");
  app.add_option("--output", output, "File to which the result is written (.npy)");
  app.add_option("--repeat", repeat, "Number of timed runs");
  app.add_flag("--text", text, "Print the traced program and stop");
  addSettingFlags(app, getModelSettings(options));
  CLI11_PARSE(app, argc, argv);
  try {
    bench::Network network = bench::makeNetwork(name, batch);
    if (!init.empty())
      network.module->load(init);
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
    Model model = compile(std::move(graph), options);
    std::map<std::string, Tensor> inputs = {
        {network.inputs[0].name, makeInput(network.inputs[0], input).to(options.device)}};
    std::printf("compiled in %.3f s\n", model.prepare());
    Tensor y = model.run(inputs)["y"];
    std::vector<double> seconds;
    for (int i = 0; i < repeat; ++i) {
      start = now();
      y = model.run(inputs)["y"];
      seconds.push_back(now() - start);
    }
    if (!seconds.empty())
      std::printf("ran in %.3f ms (minimum of %d)\n",
                  *std::min_element(seconds.begin(), seconds.end()) * 1e3, repeat);
    if (!output.empty())
      runtime::writeNpy(output, y.dtype(), y.shape(), y.to("cpu").raw());
  } catch (const Error &error) {
    std::fprintf(stderr, "dlc-network: %s\n", error.what());
    return 1;
  }
}
