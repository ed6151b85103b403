//===- StreamNumbers.h - numbers that DLPack uses for a device kind's streams -----------------===//
#ifndef DLC_RUNTIME_KIND_STREAMNUMBERS_H
#define DLC_RUNTIME_KIND_STREAMNUMBERS_H

#include "dlc/Export.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace dlc::runtime {

/// Value of the argument `stream` of `__dlpack__` for which the producer does not synchronize.
constexpr int64_t kUnsynchronizedStream = -1;

/// Numbers that DLPack defines for the streams of a device kind. Any other valid number is a stream
/// handle of the kind's device table.
struct StreamNumbers {
  /// Number of the default stream, which `stream=None` of `__dlpack__` denotes.
  int64_t byDefault = 0;
  /// Numbers that DLPack forbids for the kind, because they are ambiguous.
  std::span<const int64_t> forbidden;
};

/// Returns the stream numbers of a device kind; null if DLPack defines none for the kind. Programs
/// on such devices run in the session's own streams, and each call waits for its results.
DLC_EXPORT const StreamNumbers *streamNumbers(std::string_view kind);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_STREAMNUMBERS_H
