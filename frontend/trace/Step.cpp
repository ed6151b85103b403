//===- Step.cpp - a whole training step as one traced program -------------===//
#include "dlc/step.hpp"

#include "dlc/collective.hpp"

#include "frontend/trace/LossScale.h"
#include "frontend/trace/State.h"

namespace dlc {

using namespace trace;

namespace {
/// The loss and the metrics of one batch.
std::vector<Tensor> figuresOf(const Network &network, const TensorFunction &loss,
                              const std::vector<Tensor> &inputs, const StepOptions &options) {
  std::vector<Tensor> given(inputs.begin(), inputs.begin() + int64_t(network.arity));
  std::vector<Tensor> rest = {network.function(given)};
  rest.insert(rest.end(), inputs.begin() + int64_t(network.arity), inputs.end());
  std::vector<Tensor> figures = {loss.function(rest)};
  for (const Metric &metric : options.metrics)
    figures.push_back(cast(metric.value.function(rest), DType::F32));
  return figures;
}

/// One of equal parts of the batch.
std::vector<Tensor> partOf(const std::vector<Tensor> &inputs, int64_t part, int64_t parts) {
  std::vector<Tensor> result;
  for (const Tensor &input : inputs) {
    int64_t size = input.dim(0) / parts;
    result.push_back(narrow(input, 0, part * size, size));
  }
  return result;
}

/// Loss, metrics and gradients of the whole batch: the mean of its parts'. Parts are spelled out
/// rather than kept from run to run: the step's counter, schedule and update mean the same with any
/// number of them, and no accumulator outlives the step.
std::pair<std::vector<Tensor>, optim::Gradients>
inParts(const Network &network, const TensorFunction &loss, const std::vector<Tensor> &inputs,
        const StepOptions &options, const LossScaler *scaler, const Location &location) {
  int64_t parts = options.microBatches;
  std::vector<Tensor> figures;
  optim::Gradients all;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<Tensor> one = parts == 1
                                  ? figuresOf(network, loss, inputs, options)
                                  : figuresOf(network, loss, partOf(inputs, part, parts), options);
    // From here on nothing is the user's but the call that asked for the step.
    Call call("train", location);
    if (parts > 1)
      for (Tensor &figure : one)
        figure = figure * (1 / double(parts));
    optim::Gradients gradients = optim::gradients(scaler ? scaler->scaled(one[0]) : one[0]);
    if (part == 0) {
      figures = one;
      all = gradients;
      continue;
    }
    for (size_t i = 0; i < figures.size(); ++i)
      figures[i] = figures[i] + one[i];
    for (size_t i = 0; i < all.values.size(); ++i)
      all.values[i] = all.values[i] + gradients.values[i];
  }
  return {figures, all};
}

/// The figures as this step's line of the log [steps, figures].
void keep(const std::vector<Tensor> &figures, int64_t steps) {
  Parameter log = variable("log", {steps, int64_t(figures.size())});
  std::vector<Tensor> line;
  for (const Tensor &figure : figures)
    line.push_back(reshape(cast(figure, DType::F32), {1, 1}));
  Tensor here = reshape(arange(steps), {steps, 1}) == step_count() % steps;
  assign(log, where(here, cat(line, 1), log));
}
} // namespace

std::vector<std::string> figureNames(const StepOptions &options) {
  std::vector<std::string> names = {"loss"};
  for (const Metric &metric : options.metrics)
    names.push_back(metric.name);
  if (options.lossScale)
    names.insert(names.end(), {"scale", "skipped"});
  return names;
}

Graph traceStep(const Network &network, const TensorFunction &loss,
                const optim::Optimizer &optimizer, const std::vector<Spec> &inputs,
                const StepOptions &options, Location location) {
  auto fail = [&](const std::string &text) { throw Error(whereText(location) + "train: " + text); };
  size_t rest = inputs.size() - std::min(inputs.size(), network.arity);
  if (network.arity == 0 || network.arity > inputs.size())
    fail("the network takes " + std::to_string(network.arity) + " tensors; found " +
         std::to_string(inputs.size()) + " inputs; describe one input for each");
  auto wantsRest = [&](const std::string &what, const TensorFunction &function) {
    if (function.arity != rest + 1)
      fail(what + " takes " + std::to_string(function.arity) +
           " tensors; required: one for the network's result and one for each of the " +
           std::to_string(rest) + " inputs after the network's own");
  };
  wantsRest("the loss", loss);
  for (const Metric &metric : options.metrics)
    wantsRest("metric '" + metric.name + "'", metric.value);
  if (std::string mistake = options.lossScale ? LossScaler::mistakeIn(*options.lossScale) : "";
      !mistake.empty())
    fail(mistake);
  if (options.microBatches < 1 || options.log < 0)
    fail("the numbers of micro-batches and of logged steps must not be less than 1 and 0; found " +
         std::to_string(options.microBatches) + " and " + std::to_string(options.log));
  for (const Spec &input : inputs)
    if (options.microBatches > 1 &&
        (input.shape.empty() || input.shape[0] < 1 || input.shape[0] % options.microBatches != 0))
      fail("the first size of input '" + input.name + "' must divide into " +
           std::to_string(options.microBatches) + " micro-batches; found " +
           shapeText(input.shape));
  TraceOptions traceOptions{.state = true,
                            .starts = options.starts,
                            .training = true,
                            .seed = options.seed,
                            .device = options.device};
  if (options.log == 0)
    traceOptions.outputs = figureNames(options);
  return traceFunction(
      [&](const std::vector<Tensor> &xs) {
        // Every checkpoint says how far it is.
        step_count();
        std::optional<LossScaler> scaler;
        if (options.lossScale)
          scaler.emplace(*options.lossScale);
        auto [figures, gradients] =
            inParts(network, loss, xs, options, scaler ? &*scaler : nullptr, location);
        Call call("train", location);
        if (options.dataParallel) {
          // Before unscaling, so that all find the same numbers finite.
          gradients = optim::averaged(gradients);
          for (Tensor &figure : figures)
            figure = all_reduce(figure, Reduction::Mean);
        }
        if (scaler)
          gradients = scaler->unscaled(gradients);
        if (options.clipValue > 0)
          gradients = optim::clipByValue(gradients, options.clipValue);
        if (options.clipNorm > 0)
          gradients = optim::clipByNorm(gradients, options.clipNorm);
        if (scaler) {
          scaler->finish();
          for (const Tensor &figure : scaler->figures())
            figures.push_back(figure);
        }
        optimizer.apply(gradients, scaler ? scaler->finite() : Tensor());
        if (options.log == 0)
          return figures;
        keep(figures, options.log);
        return std::vector<Tensor>();
      },
      inputs, traceOptions, location);
}

} // namespace dlc
