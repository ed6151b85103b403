//===- Watch.h - detects changes of tensors that a program holds as constants -----------------===//
#ifndef DLC_TOOLS_PYTHON_WATCH_H
#define DLC_TOOLS_PYTHON_WATCH_H

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <vector>

namespace dlc::python {

/// Detects changes of PyTorch tensors that a program holds as constants: by the address, by
/// PyTorch's version counter, and by a sample of the elements, because changes through `.data` do
/// not increment the counter. A write of a few elements through `.data` alone is not detected.
class TensorChangeDetector {
public:
  /// Records the current state of the tensors. `bytes` is the size of each tensor.
  TensorChangeDetector(nanobind::list tensors, std::vector<size_t> bytes);
  /// Returns true if the given tensors are the recorded ones, in the same order and of the same
  /// sizes, and are unchanged.
  bool isUnchanged(nanobind::list tensors) const;

private:
  static constexpr int kSamples = 4;
  struct Seen {
    Seen(nanobind::handle tensor, size_t bytes);
    bool operator==(const Seen &) const = default;

    const char *data;
    int64_t version; ///< PyTorch's version counter, or -1 if the tensor has none
    std::array<uint64_t, kSamples> sample{};
  };
  std::vector<size_t> bytes;
  std::vector<Seen> seen;
};

void bindWatch(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WATCH_H
