//===- train.hpp - a training step, compiled and run ------------------------------===//
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

/// A compiled training step and its state: parameters, running statistics, the optimiser's memory.
/// From the first step on the modules' parameters live here: their values (and Module::save()) are
/// those of now. Copies share all of it. One thread at a time. Of a data parallel one, all
/// processes of the world make the same calls: parameters are rank 0's from the first step on,
/// save() writes one checkpoint, and an error while a step runs ends them all.
class Step {
public:
  /// One step on a batch, given in the order in which the inputs were described; its loss. Where
  /// the options keep a log, the loss is the last one fetched, and NaN before.
  template <std::same_as<Tensor>... T> float operator()(const T &...batch) {
    return run(std::vector<Tensor>{batch...});
  }
  float run(const std::vector<Tensor> &batch);
  /// The metrics that belong to the loss that was returned last.
  const std::map<std::string, float> &metrics() const;
  /// Steps made, those before a checkpoint included.
  int64_t steps() const;

  /// Losses and metrics (in the order of the options) of all steps that were logged, one line each;
  /// fetches what is on the device.
  const std::vector<std::vector<float>> &log();

  /// What the network computes with the parameters of now, as in inference: a model that shares
  /// this one's state. `inputs`: the network's own, where their shapes are not those of training.
  Model predictor(const std::vector<trace::Spec> &inputs = {});

  /// Takes the parameters over that were given other values since, by Module::load() for example.
  void takeParameters();
  /// A checkpoint: all state, as a safetensors file that is written whole or not at all.
  void save(const std::string &path);
  void load(const std::string &path, LoadState options = {});

  /// Compiles now instead of at the first step; the seconds it took.
  double prepare();
  /// Writes the step as an artefact (.dlcx) that begins with the parameters of now.
  void saveProgram(const std::string &path) const;
  /// The step as a model, for what only that offers.
  const Model &model() const;

  struct Impl;
  explicit Step(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}

private:
  std::shared_ptr<Impl> impl;
};

/// Traces the step (traceStep() says what goes where) and compiles it when it is first run.
Step train(const Network &network, const TensorFunction &loss, const optim::Optimizer &optimizer,
           const std::vector<trace::Spec> &inputs, const StepOptions &options = {},
           const ModelOptions &modelOptions = {},
           trace::Location location = trace::Location::current());

} // namespace dlc

#endif // DLC_TRAIN_HPP
