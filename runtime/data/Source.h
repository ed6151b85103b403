//===- Source.h - interface of dataset implementations -----------------------===//
#ifndef DLC_RUNTIME_DATA_SOURCE_H
#define DLC_RUNTIME_DATA_SOURCE_H

#include "dlc/data.hpp"

namespace dlc::data {

struct Dataset::Source {
  std::vector<TensorSpec> fields;
  std::vector<std::string> classes;
  int64_t size = 0;

  virtual ~Source() = default;
  /// Writes the fields of a sample to the given addresses. May be called by several threads
  /// concurrently.
  virtual void read(int64_t index, void *const *to) const = 0;
  /// Starts an epoch and returns its generator. Only for sources of size -1 (generators).
  virtual Generator start(uint64_t) const { return nullptr; }
};

/// Throws dlc::Error unless the sample's tensors have the types and shapes of the fields.
void checkSample(const std::vector<TensorSpec> &fields, const Sample &sample);

/// Formats a tensor type as "f32[3, 224, 224]".
std::string formatSpec(DType dtype, const std::vector<int64_t> &shape);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_SOURCE_H
