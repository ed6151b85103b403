//===- Accuracy.h - tables of numerical errors ---------------------------------------===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_ACCURACY_H
#define DLC_TEST_RUNTIME_LIBRARY_ACCURACY_H

#include "Calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace dlc::test {

/// Returns the largest difference of two f32 results, relative to the largest result.
inline double apart(const Numbers &a, const Numbers &b) {
  return errorOf(a, std::vector<double>(b.begin(), b.end()));
}

inline void printRow(const std::string &what, const std::vector<std::array<double, 3>> &columns) {
  std::printf("| %s |", what.c_str());
  for (auto [direct, faster, both] : columns)
    std::printf(" %.1e %.1e %.1e |", direct, faster, both);
  std::printf("\n");
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_ACCURACY_H
