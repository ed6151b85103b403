//===- ProductsSample.h - runs matmuls and convolutions of the runtime on arrays ----===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_PRODUCTSSAMPLE_H
#define DLC_TEST_RUNTIME_LIBRARY_PRODUCTSSAMPLE_H

#include "Calls.h"
#include "test/runtime/Sample.h"

namespace dlc::test {

inline std::vector<float> random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(generator);
  return values;
}

inline void run(const json &desc, std::vector<std::vector<float> *> buffers, size_t dst,
                int threads, void *packed = nullptr, uint64_t packedBytes = 0) {
  std::vector<runtime::BufferInfo> infos;
  std::vector<void *> addresses;
  for (size_t i = 0; i < buffers.size(); ++i) {
    bool isPacked = i == 1 && packed;
    infos.push_back({isPacked ? packedBytes : buffers[i]->size() * sizeof(float), i >= dst});
    addresses.push_back(isPacked ? packed : buffers[i]->data());
  }
  const char *library = desc.contains("block")   ? "blocks"
                        : desc.contains("lanes") ? "vectors"
                                                 : "tiles";
  Runnable(library, desc, infos, threads).run(addresses.data());
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_PRODUCTSSAMPLE_H
