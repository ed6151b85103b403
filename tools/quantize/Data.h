//===- Data.h - calibration data ------------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_DATA_H
#define DLC_TOOLS_QUANTIZE_DATA_H

#include "dlc/dlc.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dlc::quantize {

struct CalibrationData {
  /// Name of the data in error messages, such as a file name.
  std::string name;
  /// Arrays by input name, with samples along the first dimension. An array with an empty name
  /// belongs to the model's only input.
  std::vector<std::pair<std::string, Tensor>> arrays;
};

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_DATA_H
