//===- Source.h - what a dataset must be able to do ---------------------------===//
#ifndef DLC_RUNTIME_DATA_SOURCE_H
#define DLC_RUNTIME_DATA_SOURCE_H

#include "dlc/data.hpp"

namespace dlc::data {

struct Dataset::Source {
  std::vector<TensorSpec> fields;
  std::vector<std::string> classes;
  int64_t size = 0;

  virtual ~Source() = default;
  /// Writes each field of a sample to its place; several threads may do so at once.
  virtual void read(int64_t index, void *const *to) const = 0;
  /// Of a source whose size is -1 only.
  virtual Generator start(uint64_t) const { return nullptr; }
};

/// Throws unless the tensors are as the fields say.
void checkSample(const std::vector<TensorSpec> &fields, const Sample &sample);

/// "f32[3, 224, 224]".
std::string specText(DType dtype, const std::vector<int64_t> &shape);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_SOURCE_H
