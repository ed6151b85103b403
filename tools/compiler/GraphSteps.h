//===- GraphSteps.h - training steps from graphs of PyTorch operators -----===//
#ifndef DLC_TOOLS_COMPILER_GRAPHSTEPS_H
#define DLC_TOOLS_COMPILER_GRAPHSTEPS_H

#include "tools/compiler/Graphs.h"

namespace dlc {

/// Creates the training step of a graph whose output `loss` is a scalar. `options` is JSON:
///
///     {"states": [names], "groups": [{"parameters": [names], "optimizer": "adam", "beta1": 0.9,
///     ..}],
///      "accumulate": 1, "clip_norm": 0, "clip_value": 0, "loss_scale": null, "seed": 0,
///      "data_parallel": false, "sync_batch_norm": false, "gradients": "f32"}
///
/// `states` names the inputs that become state. An output with the name of a state is the new value
/// of that state. States that a group lists under `parameters` are trained. The learning rate of
/// each group is an input: `lr`, `lr.1`, ... The other keys of a group are options of its optimizer
/// under PyTorch's names, with betas as `beta1` and `beta2`. With `accumulate` the graph computes
/// one micro-batch. All states start as zeros. Throws dlc::Error.
std::shared_ptr<Source> graphStep(const std::string &text,
                                  std::map<std::string, ConstantMemory> constants,
                                  const std::string &options);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHSTEPS_H
