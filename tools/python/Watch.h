//===- Watch.h - detects changes of tensors that a program holds as constants -----------------===//
#ifndef DLC_TOOLS_PYTHON_WATCH_H
#define DLC_TOOLS_PYTHON_WATCH_H

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <vector>

namespace dlc::python {

/// PyTorch tensors that a program holds as constants. A change is detected by the address, by
/// PyTorch's version counter, and by a sample of the elements, because changes through `.data` do
/// not increment the counter. Writing a few elements through `.data` alone is not detected.
class Watch {
public:
  /// `bytes` is the size of each tensor.
  Watch(nanobind::list tensors, std::vector<size_t> bytes);
  /// Returns true if these tensors, in the same order and of the same sizes, are the recorded ones
  /// and are unchanged.
  bool isUnchanged(nanobind::list tensors) const;

private:
  static constexpr int kSamples = 4;
  struct Seen {
    Seen(nanobind::handle tensor, size_t bytes);
    bool operator==(const Seen &) const = default;

    const char *data;
    int64_t version; ///< -1 if the tensor has no version counter
    std::array<uint64_t, kSamples> sample{};
  };
  std::vector<size_t> bytes;
  std::vector<Seen> seen;
};

void bindWatch(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WATCH_H
