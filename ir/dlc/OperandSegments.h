//===- OperandSegments.h - segment sizes of optional operands --------------===//
#ifndef DLC_IR_DLC_OPERANDSEGMENTS_H
#define DLC_IR_DLC_OPERANDSEGMENTS_H

#include <cstddef>

namespace dlc {

/// Sets the `operandSegmentSizes` of an operation without variadic operands: the first `operands`
/// operands are present, and the remaining optional operands are absent. Does nothing for
/// properties without segment sizes.
template <typename Properties> void omitLastOperands(Properties &properties, size_t operands) {
  if constexpr (requires { properties.operandSegmentSizes; })
    for (size_t i = 0; i < properties.operandSegmentSizes.size(); ++i)
      properties.operandSegmentSizes[i] = i < operands;
}

} // namespace dlc

#endif // DLC_IR_DLC_OPERANDSEGMENTS_H
