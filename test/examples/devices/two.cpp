// two.cpp - two independent matmuls, first one after the other on one device, then at the same time
// on two devices.
//   two [size 1024] [device] [device]
#include <dlc/compiler.hpp>
#include <dlc/eager.hpp>
#include <dlc/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using dlc::trace::Tensor;

int main(int argc, char **argv) try {
  int64_t size = argc > 1 ? std::atoll(argv[1]) : 1024;
  auto gpus = dlc::try_all_gpus();
  bool enough = gpus.size() >= 2;
  dlc::Device first = argc > 2 ? dlc::Device(argv[2]) : enough ? gpus[0] : "cpu:1";
  dlc::Device second = argc > 3 ? dlc::Device(argv[3]) : enough ? gpus[1] : "cpu:2";

  auto products = [&](dlc::Device a, dlc::Device b) {
    return dlc::trace::trace(
        [](Tensor x, Tensor y) {
          return std::pair{sum(matmul(matmul(x, x), x)), sum(matmul(matmul(y, y), y))};
        },
        {{"x", {size, size}, dlc::DType::F32, a}, {"y", {size, size}, dlc::DType::F32, b}});
  };
  dlc::Tensor x = dlc::Tensor::random({size, size}), y = dlc::Tensor::random({size, size}) / 2;
  auto milliseconds = [&](const dlc::Model &model, const dlc::Tensor &x, const dlc::Tensor &y,
                          double &result) {
    double best = INFINITY;
    for (int i = 0; i < 4; ++i) {
      auto start = std::chrono::steady_clock::now();
      auto results = model.run({{"x", x}, {"y", y}});
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      best = i ? std::min(best, time.count()) : best;
      result = results["y0"].item() / results["y1"].item();
    }
    return best;
  };
  // One core for each device: the first program uses one core, the second two.
  double ratio = 0, other = 0;
  dlc::Model one = dlc::compile(products(first, first), {.threads = 1});
  dlc::Model two = dlc::compile(products(first, second), {.threads = 2});
  double sequence = milliseconds(one, x.to(first), y.to(first), ratio);
  double together = milliseconds(two, x.to(first), y.to(second), other);
  std::printf("on %s: %.2f ms; on %s and %s: %.2f ms, %.2f of it\n", first.name().c_str(), sequence,
              first.name().c_str(), second.name().c_str(), together, together / sequence);
  std::printf("the sums are as 1 to %.3f\n", 1 / other);
  return std::abs(ratio / other - 1) < 1e-3 ? 0 : 1;
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
