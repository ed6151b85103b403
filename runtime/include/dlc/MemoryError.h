//===- MemoryError.h - there is not so much memory ----------------------------===//
#ifndef DLC_MEMORY_ERROR_H
#define DLC_MEMORY_ERROR_H

#include "dlc/Error.h"

namespace dlc {

/// A device, or the host, lacks the memory that something needs; apart from other errors for who
/// can do with less, or has an exception of that kind.
class DLC_EXPORT MemoryError : public Error {
public:
  using Error::Error;
};

} // namespace dlc

#endif // DLC_MEMORY_ERROR_H
