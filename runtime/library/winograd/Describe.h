//===- Describe.h - Winograd convolutions seen from the compiler --------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace dlc::winograd {

/// Whether this machine has the instructions for blocks of 16 or 8 channels.
DLC_EXPORT bool isSupported(int block);

struct Packed {
  std::shared_ptr<void> data; // aligned to 64; null on failure
  uint64_t bytes = 0;
  std::string error;
};

/// Bytes of the transformed weights of a description with "packed".
DLC_EXPORT uint64_t packedBytes(const nlohmann::json &desc);
/// Transforms them: `plain` is [O, C, R, R], or [C, O, R, R] where the description says "turned".
DLC_EXPORT Packed packWeights(const nlohmann::json &desc, const float *plain, int threads);

/// A description made runnable, for measuring. Buffers come in the order of Desc.md.
class DLC_EXPORT Executable {
public:
  /// Null and a message in `error` on failure.
  static std::unique_ptr<Executable> create(const nlohmann::json &desc, int threads,
                                            std::string &error);
  ~Executable();
  void run(void *const *buffers);

private:
  Executable();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H
