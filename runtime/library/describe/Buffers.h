//===- Buffers.h - a call's buffers, checked one after the other --------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H

#include "runtime/library/Library.h"

#include <span>

namespace dlc::describe {

/// What is not as it must be throws dlc::Error, with the library's name before it.
class DLC_EXPORT Buffers {
public:
  Buffers(std::span<const runtime::BufferInfo> given, std::string library)
      : given(given), library(std::move(library)) {}

  /// The next one holds so many elements, of so many bytes each.
  void need(const char *name, int64_t elements, uint64_t each, bool written = false);
  /// There are no more.
  void end() const;

private:
  std::span<const runtime::BufferInfo> given;
  std::string library;
  size_t next = 0;
};

/// Elements that strides reach over `dims`, from the first one on; throws dlc::Error where that is
/// more than anybody has.
DLC_EXPORT int64_t reach(std::span<const int64_t> dims, std::span<const int64_t> strides);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_BUFFERS_H
