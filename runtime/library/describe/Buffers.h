//===- Buffers.h - checks of a call's buffers -----------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H

#include "runtime/library/Library.h"

#include <span>

namespace dlc::describe {

/// Checks a call's buffers in order. A failed check throws dlc::Error with the library's name as
/// the message's prefix.
class DLC_EXPORT BufferChecker {
public:
  BufferChecker(std::span<const runtime::BufferInfo> given, std::string library)
      : given(given), library(std::move(library)) {}

  /// Checks that the next buffer exists and holds at least `elements` elements of `each` bytes. If
  /// `written` is set, the buffer must be writable.
  void need(const char *name, int64_t elements, uint64_t each, bool written = false);
  /// Checks that no buffers remain.
  void end() const;

private:
  std::span<const runtime::BufferInfo> given;
  std::string library;
  size_t next = 0;
};

/// Returns the extent of a strided tensor in elements, from the first to the last addressed
/// element, inclusive. Throws dlc::Error if the last offset is 2^60 or more.
DLC_EXPORT int64_t computeExtent(std::span<const int64_t> dims, std::span<const int64_t> strides);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
