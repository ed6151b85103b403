//===- TrainData.h - reads the data of a training step --------------------===//
#ifndef DLC_TOOLS_DLC_TRAIN_TRAINDATA_H
#define DLC_TOOLS_DLC_TRAIN_TRAINDATA_H

#include "dlc/data.hpp"
#include "runtime/program/Plan.h"

#include <nlohmann/json.hpp>

namespace dlc::cli {

/// Returns the program inputs that hold the batch, which are all except learning rates. `training`
/// is the training metadata in the program's manifest, which names the learning rates.
std::vector<runtime::TensorInfo> batchInputs(const runtime::Plan &plan,
                                             const nlohmann::json &training);
/// Returns the batch size, which is the first dimension of these inputs. Throws dlc::Error if their
/// first dimensions differ.
int64_t getBatchSize(const std::vector<runtime::TensorInfo> &inputs);

/// Reads the arrays of an .npz file, in the order of the program inputs `inputs`. Checks names,
/// types and shapes, and checks all elements for NaN and invalid class labels.
data::Dataset trainingData(const std::string &path, const std::vector<runtime::TensorInfo> &inputs,
                           const nlohmann::json &training);

/// Returns a hash of the data's names, types, shapes and some elements, with which a resumed run
/// detects that its data differ.
std::string hashDataset(const data::Dataset &dataset);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TRAIN_TRAINDATA_H
