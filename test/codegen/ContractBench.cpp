//===- ContractBench.cpp - interleaved benchmark of generated matmuls and oneDNN ----===//
//
//   contract-bench [seconds per shape]
//
// Both use packed weights. Prints the minimum and median in milliseconds, GFLOP/s, and the ratio of
// the medians, which is above 1 if the generated code is faster.
//===----------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "test/codegen/ContractKernel.h"

#include "dnnl.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

using namespace dlc;

namespace {

struct Case {
  int64_t batch, m, n, k;
  bool packed;
};

const Case cases[] = {
    {1, 1024, 1024, 1024, true},  {1, 128, 768, 768, true},  {1, 128, 3072, 768, true},
    {1, 128, 768, 3072, true},    {1, 128, 2304, 768, true}, {1, 1, 4096, 9216, true},
    {1, 1, 1000, 2048, true},     {1, 4, 4096, 9216, true},  {1, 64, 2048, 26752, true},
    {1, 197, 768, 768, true},     {1, 33, 17, 65, true},     {1, 512, 512, 512, true},
    {1, 1024, 1024, 1024, false}, {12, 128, 128, 64, false}, {12, 128, 64, 128, false},
    {1, 33, 17, 65, false},       {1, 1, 4096, 1024, false},
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul matmul;
  dnnl::memory a, b, c;

  OneDnn(const Case &x, float *ap, float *bp, float *cp) {
    using md = dnnl::memory::desc;
    auto f32 = dnnl::memory::data_type::f32;
    auto abc = dnnl::memory::format_tag::abc;
    md da({x.batch, x.m, x.k}, f32, abc), plain({x.batch, x.k, x.n}, f32, abc),
        dc({x.batch, x.m, x.n}, f32, abc);
    md db = x.packed ? md({x.batch, x.k, x.n}, f32, dnnl::memory::format_tag::any) : plain;
    dnnl::matmul::primitive_desc pd(engine, da, db, dc);
    matmul = dnnl::matmul(pd);
    a = dnnl::memory(da, engine, ap);
    c = dnnl::memory(dc, engine, cp);
    dnnl::memory source(plain, engine, bp);
    b = source;
    if (pd.weights_desc() != plain) {
      b = dnnl::memory(pd.weights_desc(), engine);
      dnnl::reorder(source, b).execute(stream, source, b);
      stream.wait();
    }
  }
  void run() {
    matmul.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  }
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

void measure(const Case &x, int threads, double seconds) {
  std::vector<float> a(x.batch * x.m * x.k), b(x.batch * x.k * x.n), c(x.batch * x.m * x.n),
      d(c.size());
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float &v : a)
    v = uniform(random);
  for (float &v : b)
    v = uniform(random);
  runtime::ThreadScope scope(threads);
  test::Product product{.m = x.m, .n = x.n, .k = x.k};
  if (x.batch > 1)
    product.batch = {{x.batch, x.m * x.k, x.k * x.n, x.m * x.n}};
  product.packedB = x.packed;
  double t = now();
  test::ContractKernel kernel(product);
  double compile = now() - t;
  auto packed = kernel.pack(nullptr, b.data());
  const void *right = x.packed ? packed.get() : static_cast<void *>(b.data());
  OneDnn library(x, a.data(), b.data(), c.data());
  auto ours = [&] { kernel(a.data(), right, d.data(), nullptr, threads); };
  ours();
  library.run();
  double worst = 0;
  for (size_t i = 0; i < c.size(); ++i)
    worst = std::max(worst, std::fabs(double(c[i]) - d[i]));

  double flops = 2.0 * x.batch * x.m * x.n * x.k;
  int repeat = std::max(1, static_cast<int>(20e-6 / (flops / 50e9)));
  std::vector<double> mine, theirs;
  for (double start = now(); now() - start < seconds || mine.size() < 5;) {
    for (bool own : {true, false}) {
      t = now();
      for (int i = 0; i < repeat; ++i)
        own ? ours() : library.run();
      (own ? mine : theirs).push_back((now() - t) / repeat);
    }
  }
  double m = median(mine), l = median(theirs);
  double fastest = *std::min_element(mine.begin(), mine.end());
  double fastestOther = *std::min_element(theirs.begin(), theirs.end());
  std::printf("%2dx%4ldx%5ldx%5ld %s %d | %8.4f %8.4f %6.1f | %8.4f %8.4f %6.1f | %5.2f %5.2f | "
              "%.1e, compiled in %.0f ms to %zu bytes\n",
              static_cast<int>(x.batch), x.m, x.n, x.k, x.packed ? "packed" : "plain ", threads,
              fastest * 1e3, m * 1e3, flops / fastest / 1e9, fastestOther * 1e3, l * 1e3,
              flops / fastestOther / 1e9, fastestOther / fastest, l / m, worst, compile * 1e3,
              kernel.codeBytes());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  std::printf("batch x M x N x K, threads | generated: min ms, median ms, GFLOP/s | oneDNN: the "
              "same | ratio\n");
  for (int threads : {1, 2})
    for (const Case &x : cases)
      measure(x, threads, seconds);
}
