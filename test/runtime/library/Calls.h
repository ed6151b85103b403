//===- Calls.h - calls of the runtime's libraries on arrays -------------------------===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_CALLS_H
#define DLC_TEST_RUNTIME_LIBRARY_CALLS_H

#include "dlc/Error.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace dlc::test {

using nlohmann::json;

/// Aligned memory, filled with NaN so that elements that are not written are detected, and followed
/// by a guard that detects writes past the end.
struct Aligned {
  explicit Aligned(uint64_t size)
      : bytes(size), data(std::aligned_alloc(64, (size + kGuard + 63) / 64 * 64), std::free) {
    std::memset(data.get(), 0xff, bytes);
    std::memset(behind(), kMark, kGuard);
  }
  bool isOverrun() const {
    return std::any_of(behind(), behind() + kGuard, [](unsigned char c) { return c != kMark; });
  }

  static constexpr uint64_t kGuard = 256;
  static constexpr unsigned char kMark = 0x5b;
  uint64_t bytes;
  std::unique_ptr<void, void (*)(void *)> data;

private:
  unsigned char *behind() const { return static_cast<unsigned char *>(data.get()) + bytes; }
};

/// A library call with its own scratch memory.
class Runnable {
public:
  Runnable(std::string_view library, const json &desc,
           const std::vector<runtime::BufferInfo> &buffers, int threads)
      : threads(threads), call(runtime::createCall(library, desc, buffers, threads)),
        scratch(call->scratchBytes()) {}
  /// Creates a call. Returns nothing and the reason in `error` if the library rejects the
  /// description.
  static std::optional<Runnable> create(std::string_view library, const json &desc,
                                        const std::vector<runtime::BufferInfo> &buffers,
                                        int threads, std::string &error) {
    try {
      return Runnable(library, desc, buffers, threads);
    } catch (const Error &refusal) {
      error = refusal.what();
      return std::nullopt;
    }
  }
  void run(void *const *buffers) {
    runtime::ThreadScope scope(threads);
    call->execute(buffers, {scratch.data.get(), threads});
    EXPECT_FALSE(scratch.isOverrun()) << "it writes beyond its scratch memory";
  }

private:
  int threads;
  std::unique_ptr<runtime::LibraryCall> call;
  Aligned scratch;
};

using Numbers = std::vector<float>;

inline Numbers randomNumbers(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Numbers numbers(count);
  for (float &x : numbers)
    x = uniform(engine);
  return numbers;
}

/// Returns the index of an element in an image with blocked channels. A block of 0 means channels
/// last.
inline size_t at(int64_t block, int64_t channels, int64_t height, int64_t width, int64_t n,
                 int64_t c, int64_t y, int64_t x) {
  if (block == 0)
    return size_t(((n * height + y) * width + x) * channels + c);
  return size_t((((n * (channels / block) + c / block) * height + y) * width + x) * block +
                c % block);
}

inline double errorOf(const Numbers &got, const std::vector<double> &want) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double difference = std::abs(double(got[i]) - want[i]);
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    scale = std::max(scale, std::abs(want[i]));
  }
  return most / scale;
}

inline std::vector<int> blocks() {
  std::vector<int> list;
  for (int block : {8, 16})
    if (runtime::hostLanes() >= block)
      list.push_back(block);
  return list;
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_CALLS_H
