//===- Training.h - training step of a model file -------------------------===//
#ifndef DLC_TOOLS_COMPILER_TRAINING_H
#define DLC_TOOLS_COMPILER_TRAINING_H

#include "dlc/step.hpp"
#include "tools/compiler/Source.h"

#include <nlohmann/json.hpp>

namespace dlc {

/// Options of `dlc compile --train`. Unset options have the optimizer's default value.
struct TrainingOptions {
  std::string loss = "cross_entropy", optimizer = "sgd";
  std::optional<double> lr, momentum, dampening, weightDecay, beta1, beta2, alpha, eps;
  bool nesterov = false;
  double labelSmoothing = 0, clipNorm = 0, clipValue = 0;
  std::optional<int64_t> ignoreIndex;
  /// Initial loss scale, or unset for no loss scaling.
  std::optional<double> lossScale;
  int64_t microBatches = 1;
  /// Whether the batch is split over the processes of the world; the batch size is then that of one
  /// process (see StepOptions).
  bool dataParallel = false, syncBatchNorm = false, shardOptimizer = false;
  std::string gradients = "f32";
  int64_t world = 0, chunks = 0;
  uint64_t seed = 0;
  int nchwcBlock = 0; ///< ModelOptions::nchwcBlock
  /// Patterns of the names of parameters that are not trained.
  std::vector<std::string> freeze;
};

std::vector<std::string> trainingLosses();
std::vector<std::string> trainingOptimizers();

struct TrainingStep {
  std::shared_ptr<Source> source;
  /// Training metadata for the program's manifest. `dlc train` uses it to check the data.
  nlohmann::json about;
};

/// Creates the training step of a model: its initializers (or state arguments) become parameters,
/// the loss is computed from its first output and the input `target`, and the optimizer updates the
/// parameters. Throws dlc::Error.
TrainingStep buildTrainingStep(Source &model, const Shapes &shapes, const TrainingOptions &options);

/// Returns true if the module has a batch normalization in training mode, which uses batch
/// statistics.
bool usesBatchStatistics(mlir::ModuleOp module);

/// Prepares a traced training step, which contains an inlined module (frontend/trace/Inline.h), for
/// compilation. The callback `trace` returns the step. Operations with locations in the compiler's
/// own source get the model's location, and such locations are removed from messages.
std::shared_ptr<Source> sourceOfStep(const std::string &path,
                                     const std::function<trace::Graph()> &trace);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_TRAINING_H
