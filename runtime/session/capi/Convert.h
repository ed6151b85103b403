//===- Convert.h - conversion between element types --------------------------===//
#ifndef DLC_RUNTIME_SESSION_CAPI_CONVERT_H
#define DLC_RUNTIME_SESSION_CAPI_CONVERT_H

#include "dlc/DType.h"

namespace dlc::runtime {

/// Converts elements on the host. Integer to integer: modulo the range. Floating point to integer:
/// rounds towards zero and saturates; NaN becomes 0. To bool: any non-zero value is true.
void convertElements(void *to, DType toType, const void *from, DType fromType,
                     const std::vector<int64_t> &shape);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPI_CONVERT_H
