//===- TrainData.h - a file of data for a training step -----------------------------------===//
#ifndef DLC_TOOLS_DLC_TRAINDATA_H
#define DLC_TOOLS_DLC_TRAINDATA_H

#include "dlc/data.hpp"
#include "runtime/program/Plan.h"

#include <nlohmann/json.hpp>

namespace dlc::cli {

/// The inputs that hold the batch: all but learning rates, which `training` (what the compiler said
/// of the step in its manifest) names.
std::vector<runtime::TensorInfo> batchInputs(const runtime::Plan &plan,
                                             const nlohmann::json &training);
/// The first dimension of these. Throws dlc::Error where there is none.
int64_t batchOf(const std::vector<runtime::TensorInfo> &inputs);

/// The arrays of an .npz in the order of these inputs, checked against them to the last
/// element: names, types, shapes, numbers that are none, and class numbers.
data::Dataset trainingData(const std::string &path, const std::vector<runtime::TensorInfo> &inputs,
                           const nlohmann::json &training);

/// A number that another file of data hardly has: of its arrays' names, types, shapes and elements.
std::string fingerprintOf(const data::Dataset &dataset);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINDATA_H
