//===- main.cpp - memory bandwidth of generated kernels compared with plain loops -------------===//
//
// dlc-bandwidth [--mib N] [--rounds N] [--threads 1,2] [--json]
//
// Runs kernels whose operands exceed the last-level cache, interleaved in one process with the
// STREAM loops (copy, triad). Bytes are counted once for each element read and once for each
// element written, for loops and kernels alike. The reference triad is the faster of two variants,
// one of which uses non-temporal stores.
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
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace {

struct KernelSource {
  std::string name;
  /// MLIR text of a function on N * 1024 elements. It contains `@` for N and `{k}` for k * N; both
  /// are replaced by numbers before the text is parsed.
  std::string text;
};

std::string function(const std::string &arguments, const std::string &results,
                     const std::string &body) {
  return "func.func @main(" + arguments + ") -> (" + results + ") {\n" + body + "}\n";
}
std::string tensorTypeText(const std::string &shape) {
  return "tensor<" + shape + (shape.empty() ? "f32>" : "xf32>");
}
std::string argumentText(const std::string &name, const std::string &shape) {
  return "%" + name + ": " + tensorTypeText(shape) + " {dlc.name = \"" + name + "\"}";
}
std::string resultText(const std::string &name, const std::string &shape) {
  return tensorTypeText(shape) + " {dlc.name = \"" + name + "\"}";
}

/// Returns an elementwise kernel y = body(x, z) on rows of 1024 elements.
KernelSource elementwiseKernel(const std::string &name, bool two, const std::string &body) {
  std::string t = "tensor<{1}x1024xf32>";
  std::string text = body;
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, t);
  return {name, function(argumentText("x", "{1}x1024") +
                             (two ? ", " + argumentText("z", "{1}x1024") : ""),
                         resultText("y", "{1}x1024"), text + "return %y : " + t + "\n")};
}

/// Returns a kernel that computes sum(x) and sum(x * z) over some dimensions, as in the gradients
/// of batch norm, or only sum(x), as in a bias gradient.
KernelSource sums(const std::string &name, const std::string &shape, const std::string &axes,
                  const std::string &reduced, bool two) {
  std::string t = tensorTypeText(shape), r = tensorTypeText(reduced);
  std::string body = "  %a = dlc.reduce sum %x axes [" + axes + "] : (" + t + ") -> " + r + "\n";
  if (two)
    body += "  %m = dlc.mul %x, %z : (" + t + ", " + t + ") -> " + t +
            "\n  %b = dlc.reduce sum %m axes [" + axes + "] : (" + t + ") -> " + r + "\n";
  body += "  return %a" + std::string(two ? ", %b : " + r + ", " + r : " : " + r) + "\n";
  return {name,
          function(argumentText("x", shape) + (two ? ", " + argumentText("z", shape) : ""),
                   resultText("a", reduced) + (two ? ", " + resultText("b", reduced) : ""), body)};
}

/// Returns the text of a kernel that computes -log(softmax(x)[target]) with one-hot targets, and
/// its gradient.
std::string crossEntropyKernelText() {
  std::string t = "tensor<{1}x1024xf32>", r = "tensor<{1}x1xf32>";
  auto binary = [](const std::string &to, const std::string &op, const std::string &a,
                   const std::string &b, const std::string &ta, const std::string &tb) {
    return "  %" + to + " = dlc." + op + " %" + a + ", %" + b + " : (" + ta + ", " + tb + ") -> " +
           ta + "\n";
  };
  auto reduce = [&](const std::string &to, const std::string &kind, const std::string &x) {
    return "  %" + to + " = dlc.reduce " + kind + " %" + x + " axes [1] keepdims : (" + t +
           ") -> " + r + "\n";
  };
  std::string body =
      reduce("m", "max", "x") + binary("d", "sub", "x", "m", t, r) + "  %e = dlc.exp %d : (" + t +
      ") -> " + t + "\n" + reduce("s", "sum", "e") + binary("o", "mul", "d", "z", t, t) +
      reduce("p", "sum", "o") + "  %l = dlc.log %s : (" + r + ") -> " + r + "\n" +
      binary("loss", "sub", "l", "p", r, r) + binary("q", "div", "e", "s", t, r) +
      binary("g", "sub", "q", "z", t, t) + "  return %loss, %g : " + r + ", " + t + "\n";
  return function(argumentText("x", "{1}x1024") + ", " + argumentText("z", "{1}x1024"),
                  resultText("loss", "{1}x1") + ", " + resultText("g", "{1}x1024"), body);
}

const KernelSource kernels[] = {
    elementwiseKernel("elementwise, one operand", false, R"(
  %c = dlc.constant dense<0.5> : tensorTypeText<f32>
  %a = dlc.mul %x, %c : (T, tensorTypeText<f32>) -> T
  %b = dlc.add %a, %c : (T, tensorTypeText<f32>) -> T
  %y = dlc.relu %b : (T) -> T
  )"),
    elementwiseKernel("elementwise, two operands", true, R"(
  %c = dlc.constant dense<0.5> : tensorTypeText<f32>
  %a = dlc.mul %x, %c : (T, tensorTypeText<f32>) -> T
  %b = dlc.add %a, %z : (T, T) -> T
  %y = dlc.relu %b : (T) -> T
  )"),
    elementwiseKernel("gelu", false, "  %y = dlc.gelu %x : (T) -> T\n  "),
    elementwiseKernel("sigmoid", false, "  %y = dlc.sigmoid %x : (T) -> T\n  "),
    elementwiseKernel("softmax", false, "  %y = dlc.softmax %x {axis = 1 : i64} : (T) -> T\n  "),
    {"layer norm", function(argumentText("x", "{1}x1024") + ", " + argumentText("s", "1024") +
                                ", " + argumentText("b", "1024"),
                            resultText("y", "{1}x1024"), R"(
  %y = dlc.layer_norm %x scale %s bias %b {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<{1}x1024xf32>, tensorTypeText<1024xf32>, tensorTypeText<1024xf32>) -> tensor<{1}x1024xf32>
  return %y : tensor<{1}x1024xf32>
)")},
    {"cross-entropy and gradient", crossEntropyKernelText()},
    sums("sum of all", "{1}x1024", "0, 1", "", false),
    sums("sum over rows, 16 columns", "{64}x16", "0", "16", false),
    sums("sum over rows, 1024 columns", "{1}x1024", "0", "1024", false),
    sums("two sums, channels last", "{16}x64", "0", "64", true),
    sums("two sums, wide rows", "64x{16}", "0", "{16}", true),
    sums("two sums, NCHW", "16x64x{1}", "0, 2", "64", true),
    sums("two sums, nChw16c", "16x4x{1}x16", "0, 2", "4x16", true),
};

struct BandwidthBenchmark {
  std::string name;
  double bytes;
  std::function<void()> run;
  double seconds = 1e9;
};

std::shared_ptr<dlc::runtime::Session> sessionOf(const KernelSource &kernel, int64_t rows,
                                                 int threads, const std::string &folder) {
  std::string text = kernel.text;
  for (size_t from; (from = text.find('{')) != std::string::npos;) {
    size_t to = text.find('}', from);
    std::string factor = text.substr(from + 1, to - from - 1);
    if (factor.empty() || factor.find_first_not_of("0123456789") != std::string::npos) {
      text[from] = '\x01'; // placeholder of a literal brace in the function text
      continue;
    }
    text.replace(from, to - from + 1, std::to_string(std::stoll(factor) * rows));
  }
  std::replace(text.begin(), text.end(), '\x01', '{');
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

void measureBandwidth(size_t mib, int rounds, int threads, bool json, const std::string &folder) {
  size_t elements = (mib << 20) / sizeof(float) / 1024 * 1024;
  int64_t rows = int64_t(elements / 1024);
  bandwidth::StreamArrays arrays(elements, threads);
  std::deque<std::vector<char>> small;
  std::vector<BandwidthBenchmark> contenders = {
      {"triad", 3.0 * double(elements) * sizeof(float), [&] { arrays.triad(); }},
      {"triad, non-temporal stores", 3.0 * double(elements) * sizeof(float),
       [&] { arrays.triadPast(); }},
      {"copy", 2.0 * double(elements) * sizeof(float), [&] { arrays.copy(); }},
  };
  for (const KernelSource &kernel : kernels) {
    auto session = sessionOf(kernel, rows, threads, folder);
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    double bytes = 0;
    for (const dlc::runtime::TensorInfo &info : session->plan().inputs) {
      inputs.push_back(inputs.empty() ? arrays.b() : arrays.c());
      bytes += double(info.bytes);
    }
    // The kernel's large output, at most one, is array a. Small outputs have their own buffers.
    for (const dlc::runtime::TensorInfo &info : session->plan().outputs) {
      bool large = info.bytes == elements * sizeof(float);
      if (!large)
        small.emplace_back(info.bytes);
      outputs.push_back(large ? static_cast<void *>(arrays.a()) : small.back().data());
      bytes += double(info.bytes);
    }
    contenders.push_back(
        {kernel.name, bytes, [session, inputs, outputs] { session->run(inputs, outputs); }});
  }
  for (int round = 0; round <= rounds; ++round) {
    for (BandwidthBenchmark &c : contenders) {
      auto start = std::chrono::steady_clock::now();
      c.run();
      double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (round > 0) // round 0 is a warm-up
        c.seconds = std::min(c.seconds, seconds);
    }
  }
  // The reference is the faster variant of the triad, because kernels may also use ordinary or
  // non-temporal stores.
  double triad = std::max(contenders[0].bytes / contenders[0].seconds,
                          contenders[1].bytes / contenders[1].seconds),
         copy = contenders[2].bytes / contenders[2].seconds;
  for (const BandwidthBenchmark &c : contenders) {
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
      std::printf("%7d  %-30s %7.2f GB/s  %5.2f of triad  %5.2f of copy\n", threads, c.name.c_str(),
                  rate * 1e-9, rate / triad, rate / copy);
  }
}

/// Prints the current limits of this machine (STREAM triad bandwidth and FMA rate) as one line of
/// JSON.
void printMachineLimits(size_t mib, int rounds, int threads) {
  size_t elements = (mib << 20) / sizeof(float) / 1024 * 1024;
  bandwidth::StreamArrays arrays(elements, threads);
  double triad = 0, fma = 0;
  for (int round = 0; round < rounds; ++round)
    for (bool past : {false, true}) {
      auto start = std::chrono::steady_clock::now();
      past ? arrays.triadPast() : arrays.triad();
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      triad = std::max(triad, 3.0 * double(elements) * sizeof(float) / seconds.count());
      fma = std::max(fma, bandwidth::measureFmaGflops(threads));
    }
  std::printf("%s\n", nlohmann::ordered_json{{"threads", threads},
                                             {"triad_gb_per_s", triad * 1e-9},
                                             {"fma_gflops", fma}}
                          .dump()
                          .c_str());
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("memory bandwidth of generated kernels, compared with plain loops", "dlc-bandwidth");
  size_t mib = 256;
  int rounds = 10;
  std::vector<int> threads = {1, 2};
  bool json = false, limits = false;
  app.add_option("--mib", mib, "size of each operand in MiB; larger than the last-level cache")
      ->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str();
  app.add_option("--threads", threads)->delimiter(',')->capture_default_str();
  app.add_flag("--json", json);
  app.add_flag("--limits", limits,
               "only measure the machine's limits: triad bandwidth and fused multiply-add rate");
  CLI11_PARSE(app, argc, argv);
  std::string folder =
      std::filesystem::temp_directory_path() / ("dlc-bandwidth-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  int status = 0;
  try {
    for (int t : threads)
      if (limits)
        printMachineLimits(mib, rounds, t);
      else
        measureBandwidth(mib, rounds, t, json, folder);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-bandwidth: error: %s\n", error.what());
    status = 1;
  }
  std::filesystem::remove_all(folder);
  return status;
}
