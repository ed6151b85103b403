// log.cpp - many small matmuls whose norms are logged one by one, or on the device until the end.
//   log [products 1000] [device try_gpu()]
#include <dlc/compiler.hpp>
#include <dlc/eager.hpp>
#include <dlc/trace.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

static double secondsOf(auto &&body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char **argv) try {
  int64_t count = argc > 1 ? std::atoll(argv[1]) : 1000;
  dlc::Device device = argc > 2 ? dlc::Device(argv[2]) : dlc::try_gpu();
  dlc::Tensor x = dlc::Tensor::random({100, 100}, dlc::DType::F32, device);
  dlc::Tensor w = dlc::Tensor::random({100, 100}, dlc::DType::F32, device, 1) / 50;

  // One by one: the norm of each product is copied to the host before the next product starts.
  std::vector<double> log;
  auto oneByOne = [&] {
    log.clear();
    dlc::Tensor y = x;
    for (int64_t i = 0; i < count; ++i) {
      y = dlc::tanh(dlc::matmul(y, w));
      log.push_back(dlc::sqrt(dlc::sum(y * y)).item());
    }
  };
  oneByOne(); // the first run compiles
  double slow = secondsOf(oneByOne);

  // All in one program: the log is on the device and is copied to the host once.
  using dlc::trace::Tensor;
  auto all = [&](Tensor x, Tensor w) {
    Tensor norms = dlc::trace::zeros({count});
    Tensor places = dlc::trace::arange(count);
    return dlc::trace::repeat(count, {x, norms}, [&](Tensor i, std::vector<Tensor> c) {
      Tensor y = tanh(matmul(c[0], w));
      return std::vector<Tensor>{y, where(places == i, sqrt(sum(y * y)), c[1])};
    })[1];
  };
  dlc::Model program = dlc::compile(dlc::trace::trace(all, {{"x", {100, 100}}, {"w", {100, 100}}}),
                                    {.device = device.name()});
  dlc::Tensor kept;
  auto together = [&] { kept = program.run({{"x", x}, {"w", w}})["y"].to("cpu"); };
  together(); // the first run compiles
  double fast = secondsOf(together);

  std::printf("%lld products on %s: logged one by one %.1f ms, kept there %.1f ms, %.1f times as "
              "fast\n",
              (long long)count, device.name().c_str(), slow * 1e3, fast * 1e3, slow / fast);
  for (int64_t i = 0; i < count; ++i)
    if (std::abs(kept.data<float>()[i] - log[size_t(i)]) > 1e-3 * (1 + log[size_t(i)])) {
      std::printf("product %lld: %f and %f\n", (long long)i, log[size_t(i)],
                  double(kept.data<float>()[i]));
      return 1;
    }
  std::printf("both logs say the same\n");
} catch (const dlc::Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
