//===- ProductsSample.h - products and convolutions called on numbers ---------------===//
#ifndef DLC_TEST_RUNTIME_PRODUCTSSAMPLE_H
#define DLC_TEST_RUNTIME_PRODUCTSSAMPLE_H

#include "Sample.h"

#include "runtime/library/Library.h"

#include <cstring>
#include <random>

namespace dlc::test {

inline std::vector<float> random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(generator);
  return values;
}

struct Aligned {
  explicit Aligned(uint64_t bytes)
      : data(std::aligned_alloc(64, (bytes + 127) / 64 * 64), std::free) {
    std::memset(data.get(), 0xff, bytes); // NaN, where something is left out
  }
  std::unique_ptr<void, void (*)(void *)> data;
};

inline void run(const json &desc, std::vector<std::vector<float> *> buffers, size_t dst,
                int threads, void *packed = nullptr, uint64_t packedBytes = 0) {
  std::vector<runtime::BufferInfo> infos;
  std::vector<void *> addresses;
  for (size_t i = 0; i < buffers.size(); ++i) {
    bool isPacked = i == 1 && packed;
    infos.push_back({isPacked ? packedBytes : buffers[i]->size() * sizeof(float), i >= dst});
    addresses.push_back(isPacked ? packed : buffers[i]->data());
  }
  auto make = desc.contains("lanes") ? runtime::makeVectorsCall : runtime::makeTilesCall;
  auto call = make(desc, infos, threads);
  Aligned scratch(call->scratchBytes());
  call->execute(addresses.data(), {scratch.data.get(), threads});
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_PRODUCTSSAMPLE_H
