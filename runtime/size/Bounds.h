//===- Bounds.h - bounds and comparisons of sizes ----------------------------===//
#ifndef DLC_RUNTIME_SIZE_BOUNDS_H
#define DLC_RUNTIME_SIZE_BOUNDS_H

#include "runtime/size/Size.h"

namespace dlc::size {

/// Returns bounds that hold for all values of the symbols. They are not always the tightest.
Interval computeBounds(const Size &a);

/// Answer to a question about all values of the symbols.
enum class Answer {
  No,       ///< it is false for all values
  Yes,      ///< it is true for all values
  Undecided ///< it depends on the values, or the bounds are too wide to tell
};

Answer isLessOrEqual(const Size &a, const Size &b);
/// Yes only if the normal forms are identical.
Answer isEqual(const Size &a, const Size &b);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_BOUNDS_H
