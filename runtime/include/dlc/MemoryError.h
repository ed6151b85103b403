//===- MemoryError.h - exception for failed memory allocations ---------------===//
#ifndef DLC_MEMORY_ERROR_H
#define DLC_MEMORY_ERROR_H

#include "dlc/Error.h"

namespace dlc {

/// Thrown if a device or the host cannot allocate memory. It is a separate type so that callers can
/// retry with less memory, or convert it into their own out-of-memory exception.
class DLC_EXPORT MemoryError : public Error {
public:
  using Error::Error;
};

} // namespace dlc

#endif // DLC_MEMORY_ERROR_H
