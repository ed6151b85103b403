//===- StreamNumbers.h - numbers that DLPack uses for a device kind's streams -----------------===//
#ifndef DLC_RUNTIME_KIND_STREAMNUMBERS_H
#define DLC_RUNTIME_KIND_STREAMNUMBERS_H

#include "dlc/Export.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace dlc::runtime {

/// Stream number -1 in the argument `stream` of `__dlpack__`: the producer does not synchronize.
constexpr int64_t kUnsynchronizedStream = -1;

/// Streams of a device kind as DLPack numbers them. A valid number is a stream handle of the kind's
/// device table.
struct StreamNumbers {
  /// Number of the default stream, which `stream=None` of `__dlpack__` denotes.
  int64_t byDefault = 0;
  /// Numbers that DLPack forbids for the kind, because they are ambiguous.
  std::span<const int64_t> forbidden;
};

/// Returns the stream numbers of a device kind; null if DLPack defines none for the kind. Programs
/// then run on streams of their own, and a call waits for them.
DLC_EXPORT const StreamNumbers *streamNumbers(std::string_view kind);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_STREAMNUMBERS_H
