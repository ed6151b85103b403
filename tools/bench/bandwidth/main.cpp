//===- main.cpp - memory bandwidth of generated kernels beside plain loops -------------===//
//
// dlc-bandwidth [--mib N] [--rounds N] [--threads 1,2] [--json]
//
// Kernels whose operands lie past the last-level cache, interleaved in one process with the loops
// of STREAM (copy, triad). Bytes are counted once per element read and once per element written,
// for the loops as for the kernels.
//
//===-----------------------------------------------------------------------------------===//
#include "dlc/Error.h"
#include "tools/bench/bandwidth/Loops.h"
#include "tools/compiler/Programs.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace {

struct Kernel {
  std::string name;
  /// Rows of 1024 elements; RR stands for their number in the text of the function.
  std::string text;
};

const Kernel kernels[] = {
    {"elementwise, one operand",
     R"(func.func @main(%x: tensor<RRx1024xf32> {dlc.name = "x"}) -> (tensor<RRx1024xf32> {dlc.name = "y"}) {
  %c = dlc.constant dense<0.5> : tensor<f32>
  %a = dlc.mul %x, %c : (tensor<RRx1024xf32>, tensor<f32>) -> tensor<RRx1024xf32>
  %b = dlc.add %a, %c : (tensor<RRx1024xf32>, tensor<f32>) -> tensor<RRx1024xf32>
  %y = dlc.relu %b : (tensor<RRx1024xf32>) -> tensor<RRx1024xf32>
  return %y : tensor<RRx1024xf32>
})"},
    {"elementwise, two operands",
     R"(func.func @main(%x: tensor<RRx1024xf32> {dlc.name = "x"}, %z: tensor<RRx1024xf32> {dlc.name = "z"}) -> (tensor<RRx1024xf32> {dlc.name = "y"}) {
  %c = dlc.constant dense<0.5> : tensor<f32>
  %a = dlc.mul %x, %c : (tensor<RRx1024xf32>, tensor<f32>) -> tensor<RRx1024xf32>
  %b = dlc.add %a, %z : (tensor<RRx1024xf32>, tensor<RRx1024xf32>) -> tensor<RRx1024xf32>
  %y = dlc.relu %b : (tensor<RRx1024xf32>) -> tensor<RRx1024xf32>
  return %y : tensor<RRx1024xf32>
})"},
    {"gelu",
     R"(func.func @main(%x: tensor<RRx1024xf32> {dlc.name = "x"}) -> (tensor<RRx1024xf32> {dlc.name = "y"}) {
  %y = dlc.gelu %x : (tensor<RRx1024xf32>) -> tensor<RRx1024xf32>
  return %y : tensor<RRx1024xf32>
})"},
    {"softmax",
     R"(func.func @main(%x: tensor<RRx1024xf32> {dlc.name = "x"}) -> (tensor<RRx1024xf32> {dlc.name = "y"}) {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<RRx1024xf32>) -> tensor<RRx1024xf32>
  return %y : tensor<RRx1024xf32>
})"},
    {"layer norm",
     R"(func.func @main(%x: tensor<RRx1024xf32> {dlc.name = "x"}, %s: tensor<1024xf32> {dlc.name = "s"}, %b: tensor<1024xf32> {dlc.name = "b"}) -> (tensor<RRx1024xf32> {dlc.name = "y"}) {
  %y = dlc.layer_norm %x scale %s bias %b {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<RRx1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<RRx1024xf32>
  return %y : tensor<RRx1024xf32>
})"},
};

struct Contender {
  std::string name;
  double bytes;
  std::function<void()> run;
  double seconds = 1e9;
};

std::shared_ptr<dlc::runtime::Session> sessionOf(const Kernel &kernel, int64_t rows, int threads,
                                                 const std::string &folder) {
  std::string text = kernel.text;
  for (size_t at; (at = text.find("RR")) != std::string::npos;)
    text.replace(at, 2, std::to_string(rows));
  std::string path = folder + "/kernel.mlir";
  std::ofstream(path) << text;
  dlc::Source source(path);
  dlc::CompileOptions options;
  options.threads = threads;
  std::set<std::string> bound;
  return std::make_shared<dlc::runtime::Session>(
      dlc::compileSource(source, source.complete({}), {}, options, bound),
      dlc::runtime::SessionOptions{threads});
}

void measure(size_t mib, int rounds, int threads, bool json, const std::string &folder) {
  size_t elements = (mib << 20) / sizeof(float) / 1024 * 1024;
  int64_t rows = int64_t(elements / 1024);
  bandwidth::Arrays arrays(elements, threads);
  std::vector<Contender> contenders = {
      {"triad", 3.0 * double(elements) * sizeof(float), [&] { arrays.triad(); }},
      {"copy", 2.0 * double(elements) * sizeof(float), [&] { arrays.copy(); }},
  };
  for (const Kernel &kernel : kernels) {
    auto session = sessionOf(kernel, rows, threads, folder);
    std::vector<const void *> inputs;
    double bytes = 0;
    for (const dlc::runtime::TensorInfo &info : session->plan().inputs) {
      inputs.push_back(inputs.empty() ? arrays.b() : arrays.c());
      bytes += double(info.bytes);
    }
    bytes += double(session->plan().outputs[0].bytes);
    contenders.push_back({kernel.name, bytes, [&arrays, session, inputs] {
                            void *outputs[] = {arrays.a()};
                            session->run(inputs, outputs);
                          }});
  }
  for (int round = 0; round <= rounds; ++round) {
    for (Contender &c : contenders) {
      auto start = std::chrono::steady_clock::now();
      c.run();
      double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (round > 0) // the first warms up
        c.seconds = std::min(c.seconds, seconds);
    }
  }
  double triad = contenders[0].bytes / contenders[0].seconds,
         copy = contenders[1].bytes / contenders[1].seconds;
  for (const Contender &c : contenders) {
    double rate = c.bytes / c.seconds;
    if (json)
      std::printf("%s\n", nlohmann::ordered_json{{"threads", threads},
                                                 {"name", c.name},
                                                 {"gb_per_s", rate * 1e-9},
                                                 {"of_triad", rate / triad},
                                                 {"of_copy", rate / copy}}
                              .dump()
                              .c_str());
    else
      std::printf("%7d  %-28s %7.2f GB/s  %5.2f of triad  %5.2f of copy\n", threads, c.name.c_str(),
                  rate * 1e-9, rate / triad, rate / copy);
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("memory bandwidth of generated kernels beside plain loops", "dlc-bandwidth");
  size_t mib = 256;
  int rounds = 10;
  std::vector<int> threads = {1, 2};
  bool json = false;
  app.add_option("--mib", mib, "of each operand: past the last-level cache")->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str();
  app.add_option("--threads", threads)->delimiter(',')->capture_default_str();
  app.add_flag("--json", json);
  CLI11_PARSE(app, argc, argv);
  std::string folder =
      std::filesystem::temp_directory_path() / ("dlc-bandwidth-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  int status = 0;
  try {
    for (int t : threads)
      measure(mib, rounds, t, json, folder);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-bandwidth: error: %s\n", error.what());
    status = 1;
  }
  std::filesystem::remove_all(folder);
  return status;
}
