//===- Training.h - a model file's training step ----------------------------------------===//
#ifndef DLC_TOOLS_COMPILER_TRAINING_H
#define DLC_TOOLS_COMPILER_TRAINING_H

#include "dlc/step.hpp"
#include "tools/compiler/Source.h"

#include <nlohmann/json.hpp>

namespace dlc {

/// What `dlc compile --train` is asked for. Nothing where the optimiser's own default holds.
struct TrainingOptions {
  std::string loss = "cross_entropy", optimizer = "sgd";
  std::optional<double> lr, momentum, dampening, weightDecay, beta1, beta2, alpha, eps;
  bool nesterov = false;
  double labelSmoothing = 0, clipNorm = 0, clipValue = 0;
  std::optional<int64_t> ignoreIndex;
  /// The scale of the loss to start with; it is not scaled where there is none.
  std::optional<double> lossScale;
  int64_t microBatches = 1;
  /// The batch is each process's (StepOptions).
  bool dataParallel = false, syncBatchNorm = false, shardOptimizer = false;
  std::string gradients = "f32";
  int64_t world = 0, chunks = 0;
  uint64_t seed = 0;
  /// Patterns of parameters that stay as they are.
  std::vector<std::string> freeze;
};

std::vector<std::string> trainingLosses();
std::vector<std::string> trainingOptimizers();

struct TrainingStep {
  std::shared_ptr<Source> source;
  /// For the program's manifest, so that who trains can check the data.
  nlohmann::json about;
};

/// The model's initializers (or state arguments) as parameters, its first output and the input
/// `target` in the loss, and the optimiser's update. Throws dlc::Error.
TrainingStep trainingStep(Source &model, const Shapes &shapes, const TrainingOptions &options);

/// Whether some batch norm takes the statistics of its batch.
bool takesStatistics(mlir::ModuleOp module);

/// The step as it was traced around an inlined module (frontend/trace/Inline.h), made ready to
/// compile; what the compiler's own source has added gets the model's place. `trace` makes it;
/// messages lose the place in our source.
std::shared_ptr<Source> sourceOfStep(const std::string &path,
                                     const std::function<trace::Graph()> &trace);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_TRAINING_H
