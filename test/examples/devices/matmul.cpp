// matmul.cpp - one large matmul on the CPU and on a GPU, and the speedup.
//   matmul [size 10000] [device try_gpu()]
#include <dlc/eager.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

/// Returns the seconds of the fastest of three matmuls. A run before them compiles.
static double measure(const dlc::Tensor &x, dlc::Tensor &y) {
  double best = INFINITY;
  for (int i = 0; i < 4; ++i) {
    auto start = std::chrono::steady_clock::now();
    y = dlc::matmul(x, x);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = i ? std::min(best, time.count()) : best;
  }
  return best;
}

int main(int argc, char **argv) try {
  int64_t size = argc > 1 ? std::atoll(argv[1]) : 10000;
  dlc::Device gpu = argc > 2 ? dlc::Device(argv[2]) : dlc::try_gpu();
  dlc::Tensor x = dlc::Tensor::random({size, size}), y, z;
  double work = 2e-9 * double(size) * double(size) * double(size);
  double here = measure(x, y), there = measure(x.to(gpu), z);
  std::printf("%lld x %lld on cpu: %.4f s, %.1f GFLOP/s\n", (long long)size, (long long)size, here,
              work / here);
  std::printf("%lld x %lld on %s: %.4f s, %.1f GFLOP/s, %.2f times as fast\n", (long long)size,
              (long long)size, gpu.name().c_str(), there, work / there, here / there);
  double wrong = dlc::max(dlc::abs(z.to("cpu") / y - 1)).item();
  std::printf("they differ by %.1e at most\n", wrong);
  return wrong < 1e-3 ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
