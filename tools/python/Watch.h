//===- Watch.h - whether tensors still hold what they held ----------------------===//
#ifndef DLC_TOOLS_PYTHON_WATCH_H
#define DLC_TOOLS_PYTHON_WATCH_H

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <vector>

namespace dlc::python {

/// PyTorch's tensors that a program holds as constants. A change is told by the address, by the
/// version that PyTorch counts, and, since changes through `.data` are not counted, by a sample of
/// the elements. What writes a few elements through `.data` alone stays unseen.
class Watch {
public:
  /// `bytes`: of each.
  Watch(nanobind::list tensors, std::vector<size_t> bytes);
  /// Whether these, of the same sizes and in the same order, are those and as they were.
  bool isUnchanged(nanobind::list tensors) const;

private:
  static constexpr int kSamples = 4;
  struct Seen {
    Seen(nanobind::handle tensor, size_t bytes);
    bool operator==(const Seen &) const = default;

    const char *data;
    int64_t version; ///< -1 where PyTorch counts none
    std::array<uint64_t, kSamples> sample{};
  };
  std::vector<size_t> bytes;
  std::vector<Seen> seen;
};

void bindWatch(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WATCH_H
