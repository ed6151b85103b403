//===- TrainData.h - a file of data for a training step -----------------------------------===//
#ifndef DLC_TOOLS_DLC_TRAINDATA_H
#define DLC_TOOLS_DLC_TRAINDATA_H

#include "dlc/data.hpp"
#include "runtime/program/Plan.h"

#include <nlohmann/json.hpp>

namespace dlc::cli {

/// The first dimension of all inputs of a step. Throws dlc::Error where there is none.
int64_t batchOf(const runtime::Plan &plan);

/// The arrays of an .npz in the order of the step's inputs, checked against them to the last
/// element: names, types, shapes, numbers that are none, and class numbers (`training` is what the
/// compiler said of the step in its manifest).
data::Dataset trainingData(const std::string &path, const runtime::Plan &plan,
                           const nlohmann::json &training);

/// A number that another file of data hardly has: of its arrays' names, types, shapes and elements.
std::string fingerprintOf(const data::Dataset &dataset);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAINDATA_H
