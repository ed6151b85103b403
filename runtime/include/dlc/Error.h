//===- Error.h - the exception type of the runtime ---------------------------===//
#ifndef DLC_ERROR_H
#define DLC_ERROR_H

#include "dlc/Export.h"

#include <stdexcept>
#include <string>

namespace dlc {

/// Exception whose message says what was required, what was found and where. The C interface
/// converts it into a dlc_error.
class DLC_EXPORT Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace dlc

#endif // DLC_ERROR_H
