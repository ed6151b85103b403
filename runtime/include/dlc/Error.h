//===- Error.h - the one exception of the runtime -----------------------------===//
#ifndef DLC_ERROR_H
#define DLC_ERROR_H

#include "dlc/Export.h"

#include <stdexcept>
#include <string>

namespace dlc {

/// Says what was required, what was found and where. Turned into a dlc_error at the C boundary.
class DLC_EXPORT Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace dlc

#endif // DLC_ERROR_H
