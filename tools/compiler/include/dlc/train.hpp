//===- train.hpp - compiles and runs a training step ----------------------===//
//
//   auto step = dlc::train(net, dlc::loss::cross_entropy, dlc::optim::adam({.lr = 1e-3}),
//                          {{"x", {64, 784}}, {"t", {64}, dlc::DType::I64}});
//   for (...)
//     float loss = step(x, t);
//   auto net = step.predictor();
//
//===-------------------------------------------------------------------------------===//
#ifndef DLC_TRAIN_HPP
#define DLC_TRAIN_HPP

#include "dlc/compiler.hpp"
#include "dlc/step.hpp"

namespace dlc {

/// A compiled training step and its state: parameters, running statistics and optimizer state. From
/// the first training step on, the modules' parameters are stored here; Parameter values and
/// Module::save() read the current values. Copies share all state. Not thread-safe. If the step is
/// data parallel, all processes of the world must make the same calls: the first training step
/// takes rank 0's parameters, save() writes one checkpoint, and an error during a step aborts all
/// processes.
class Step {
public:
  /// Runs one training step on a batch, with tensors in the order of the declared inputs, and
  /// returns the loss. With StepOptions::log, returns the loss that was fetched last, or NaN before
  /// the first fetch.
  template <std::same_as<Tensor>... T> float operator()(const T &...batch) {
    return run(std::vector<Tensor>{batch...});
  }
  float run(const std::vector<Tensor> &batch);
  /// Returns the metrics of the training step whose loss was returned last, by name.
  const std::map<std::string, float> &metrics() const;
  /// Returns the number of training steps, including those before a loaded checkpoint.
  int64_t steps() const;

  /// Returns the losses and metrics (in the order of the options) of all logged training steps, one
  /// line each. Fetches the lines that are still on the device.
  const std::vector<std::vector<float>> &log();

  /// Returns the network in inference mode as a model that shares this training step's state.
  /// `inputs` describes the network's inputs if their shapes differ from those in training.
  Model predictor(const std::vector<trace::Spec> &inputs = {});

  /// Copies the modules' parameters into the training step's state again, after they were assigned
  /// other values, for example by Module::load().
  void takeParameters();
  /// Writes a checkpoint of all state as a safetensors file, which is replaced atomically.
  void save(const std::string &path);
  void load(const std::string &path, LoadState options = {});

  /// Compiles the training step now instead of at its first run. Returns the compile time in
  /// seconds.
  double prepare();
  /// Writes the training step to an artifact file (.dlcx), with the current parameters as initial
  /// state.
  void saveProgram(const std::string &path) const;
  /// Returns the training step as a dlc::Model, for functions that only Model has.
  const Model &model() const;

  struct Impl;
  explicit Step(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}

private:
  std::shared_ptr<Impl> impl;
};

/// Traces the training step as described for traceStep(). It is compiled when it is first run.
Step train(const Network &network, const TensorFunction &loss, const optim::Optimizer &optimizer,
           const std::vector<trace::Spec> &inputs, const StepOptions &options = {},
           const ModelOptions &modelOptions = {},
           trace::Location location = trace::Location::current());

} // namespace dlc

#endif // DLC_TRAIN_HPP
