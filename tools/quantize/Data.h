//===- Data.h - what a model is calibrated with ----------------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_DATA_H
#define DLC_TOOLS_QUANTIZE_DATA_H

#include "dlc/dlc.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dlc::quantize {

struct Data {
  /// What messages call it.
  std::string name;
  /// By inputs, samples along the first dimension. One without a name is that of the only input.
  std::vector<std::pair<std::string, Tensor>> arrays;
};

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_DATA_H
