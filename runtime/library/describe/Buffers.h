//===- Buffers.h - a convolution's buffers, checked one after the other -------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H

#include "runtime/library/Library.h"
#include "runtime/library/simd/Step.h"

#include <span>
#include <vector>

namespace dlc::describe {

/// What is not as it must be throws dlc::Error, with the library's name before it.
class Buffers {
public:
  Buffers(std::span<const runtime::BufferInfo> given, const char *library)
      : given(given), library(library) {}

  /// The next one holds so many numbers of f32.
  void need(const char *name, int64_t elements, bool written = false);
  /// A bias of `results` channels where there is one, and the steps' operands.
  void needEpilogue(bool hasBias, const std::vector<simd::Step> &steps, int64_t results,
                    int64_t resultElements);
  /// There are no more.
  void end() const;

private:
  std::span<const runtime::BufferInfo> given;
  const char *library;
  size_t next = 0;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
