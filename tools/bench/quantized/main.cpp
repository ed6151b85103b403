//===- main.cpp - benchmark of matmuls with weights in block formats ---------------------===//
//
// dlc-quantized [threads] [rounds] [MiB]
//
// Compares matmuls with the limits of the machine, for the layers of three language models in each
// block format whose block size divides the length of the rows:
//   - one column: packed bytes per second, compared with a read-only loop over the same bytes.
//     Layers are repeated up to the given size, so that weights are not in a private cache.
//   - 512 columns: operations per second, compared with a loop of VPDPBUSD on registers.
// Each round measures the kernel and then the loop. A line shows the best rate of the kernel, its
// ratio to the best rate of the loop, the median of the rounds' ratios, and the best rate of the
// loop. With one thread, rates are per second of CPU time, which other processes affect less.
//
//===---------------------------------------------------------------------------------------===//
#include "runtime/library/quantized/Product.h"
#include "tools/bench/quantized/Limits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <vector>

using namespace dlc::quantized;
using dlc::runtime::BlockFormat;

namespace {

/// Number of columns of a prompt.
constexpr int64_t kPrompt = 512;

struct Matrix {
  int64_t rows, depth;
};
struct Model {
  const char *name;
  std::vector<Matrix> layer;
};

/// Matrices of one layer: queries with keys and values, output, gate with up, and down.
const Model kModels[] = {
    {"SmolLM2-135M", {{960, 576}, {576, 576}, {3072, 576}, {576, 1536}}},
    {"Qwen2.5-0.5B", {{1152, 896}, {896, 896}, {9728, 896}, {896, 4864}}},
    {"Gemma-3-270M", {{1536, 640}, {640, 1024}, {4096, 640}, {640, 2048}}},
};

struct Free {
  void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<uint8_t, Free>;
Memory allocate(int64_t bytes) {
  void *memory = std::aligned_alloc(4096, size_t(bytes + 8191) / 4096 * 4096);
  if (!memory) {
    std::fprintf(stderr, "dlc-quantized: cannot allocate %lld bytes; specify fewer MiB\n",
                 static_cast<long long>(bytes));
    std::exit(1);
  }
  return Memory(static_cast<uint8_t *>(memory));
}

double getSeconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Returns the time of a call: CPU time with one thread, otherwise elapsed time.
double timeSeconds(int threads, const std::function<void()> &run) {
  const clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const double start = getSeconds(clock);
  run();
  return getSeconds(clock) - start;
}

/// Rates of a kernel and of a limit, measured alternately.
struct Pair {
  double kernel = 0, limit = 0; ///< best rates
  std::vector<double> ratios;

  void add(double kernelRate, double limitRate) {
    kernel = std::max(kernel, kernelRate);
    limit = std::max(limit, limitRate);
    ratios.push_back(kernelRate / limitRate);
  }
  double median() {
    std::sort(ratios.begin(), ratios.end());
    return ratios[ratios.size() / 2];
  }
};

struct Packed {
  Weights weights;
  int64_t offset;
};

/// Random packed weights of repeated layers in one allocation.
struct Layers {
  std::vector<Packed> matrices;
  Memory memory;
  int64_t bytes = 0, scratchBytes = 0, maxRows = 0, maxDepth = 0;
  double operations = 0; ///< for one column

  Layers(const Model &model, BlockFormat format, int64_t minBytes) {
    const int64_t block = dlc::runtime::blockFormatInfo(format).elements;
    do {
      for (const Matrix &matrix : model.layer) {
        if (matrix.depth % block)
          continue;
        const Weights weights = {format, matrix.rows, matrix.depth, getKernelLanes()};
        matrices.push_back({weights, bytes});
        bytes += (getPackedBytes(weights) + 255) / 256 * 256;
        operations += 2.0 * double(matrix.rows * matrix.depth);
        scratchBytes = std::max(scratchBytes, getScratchBytes(weights, kPrompt, Activations::Int8));
        maxRows = std::max(maxRows, matrix.rows);
        maxDepth = std::max(maxDepth, matrix.depth);
      }
    } while (bytes < minBytes && bytes);
    memory = allocate(bytes);
    std::mt19937 random(1);
    // With these bytes, factors in f16 and in E8M0 are normal numbers.
    for (int64_t i = 0; i < bytes; ++i)
      memory.get()[i] = uint8_t(0x20 | (random() & 0x1f));
  }

  void multiply(int64_t columns, const std::vector<float> &x, std::vector<float> &y, void *scratch,
                int threads) const {
    for (const Packed &each : matrices)
      dlc::quantized::multiply(each.weights, memory.get() + each.offset,
                               {x.data(), columns, each.weights.depth}, y.data(), each.weights.rows,
                               Activations::Int8, scratch, threads);
  }
};

void measure(const Model &model, BlockFormat format, int threads, int rounds, int64_t minBytes) {
  const Layers decode(model, format, minBytes), prefill(model, format, 1);
  if (!decode.bytes)
    return;
  std::vector<float> x(size_t(kPrompt * decode.maxDepth)), y(size_t(kPrompt * decode.maxRows));
  std::mt19937 random(2);
  for (float &each : x)
    each = std::normal_distribution<float>()(random);
  const Memory scratch = allocate(decode.scratchBytes);
  Pair one, many;
  for (int round = -1; round < rounds; ++round) {
    const double seconds =
        timeSeconds(threads, [&] { decode.multiply(1, x, y, scratch.get(), threads); });
    const double reading =
        timeSeconds(threads, [&] { limits::readAll(decode.memory.get(), decode.bytes, threads); });
    const double multiplying =
        timeSeconds(threads, [&] { prefill.multiply(kPrompt, x, y, scratch.get(), threads); });
    double operations = 0;
    const double peak = timeSeconds(threads, [&] { operations = limits::multiplyBytes(threads); });
    if (round < 0) // The first round touches all memory.
      continue;
    one.add(double(decode.bytes) / seconds, double(decode.bytes) / reading);
    many.add(prefill.operations * double(kPrompt) / multiplying, operations / peak);
  }
  std::printf("%-13s %-7s %7.1f GB/s %5.2f (median %5.2f) of %6.1f", model.name,
              dlc::runtime::blockFormatInfo(format).name, one.kernel * 1e-9, one.kernel / one.limit,
              one.median(), one.limit * 1e-9);
  if (limits::hasByteProducts())
    std::printf(" | %6.0f Gop/s %5.2f (median %5.2f) of %6.0f", many.kernel * 1e-9,
                many.kernel / many.limit, many.median(), many.limit * 1e-9);
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const int64_t megabytes = argc > 3 ? std::atoi(argv[3]) : 96;
  if (threads < 1 || rounds < 1 || megabytes < 1) {
    std::fprintf(stderr, "usage: dlc-quantized [threads] [rounds] [MiB], each at least 1\n");
    return 1;
  }
  std::printf("one column: packed bytes/s, share of a read-only loop | %d columns: share of "
              "VPDPBUSD on registers; %d threads\n",
              int(kPrompt), threads);
  for (const Model &model : kModels)
    for (const auto &info : dlc::runtime::blockFormats())
      if (isSupported(info.format))
        measure(model, info.format, threads, rounds, megabytes << 20);
}
