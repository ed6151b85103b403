//===- GraphSteps.h - training steps of graphs of PyTorch's operators ----------===//
#ifndef DLC_TOOLS_COMPILER_GRAPHSTEPS_H
#define DLC_TOOLS_COMPILER_GRAPHSTEPS_H

#include "tools/compiler/Graphs.h"

namespace dlc {

/// The step of a graph whose output `loss` is one number. `options` is JSON:
///
///     {"states": [names], "groups": [{"parameters": [names], "optimizer": "adam", "beta1": 0.9,
///     ..}],
///      "accumulate": 1, "clip_norm": 0, "clip_value": 0, "loss_scale": null, "seed": 0,
///      "data_parallel": false, "sync_batch_norm": false, "gradients": "f32"}
///
/// `states` are inputs that become state; an output of such a name is its new value. Those that a
/// group names are trained. Each group's rate is an input, `lr`, `lr.1`, ..; what else stands there
/// are the optimiser's options by PyTorch's names (betas as beta1 and beta2). With `accumulate` the
/// graph is that of one part of the batch. States begin as zeros. Throws dlc::Error.
std::shared_ptr<Source> graphStep(const std::string &text,
                                  std::map<std::string, GraphMemory> constants,
                                  const std::string &options);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_GRAPHSTEPS_H
