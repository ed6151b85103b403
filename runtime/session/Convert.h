//===- Convert.h - elements of one type as elements of another ----------------===//
#ifndef DLC_RUNTIME_SESSION_CONVERT_H
#define DLC_RUNTIME_SESSION_CONVERT_H

#include "dlc/DType.h"

namespace dlc::runtime {

/// On the host. Between integers modulo the range; reals to integers towards zero, out of range to
/// the nearest (not a number: 0); anything but 0 is true.
void convertElements(void *to, DType toType, const void *from, DType fromType,
                     const std::vector<int64_t> &shape);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CONVERT_H
