//===- Step.cpp - a complete training step as one traced program ----------===//
#include "dlc/step.hpp"

#include "dlc/collective.hpp"

#include "frontend/trace/RankPart.h"
#include "frontend/trace/train/Chunks.h"
#include "frontend/trace/train/LossScale.h"

namespace dlc {

using namespace trace;

namespace {
/// Returns the loss and the metrics of one batch.
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

/// Returns part number `part` of the batch, which is split into `parts` equal parts along its first
/// dimension.
std::vector<Tensor> sliceBatch(const std::vector<Tensor> &inputs, int64_t part, int64_t parts) {
  std::vector<Tensor> result;
  for (const Tensor &input : inputs) {
    int64_t size = input.dim(0) / parts;
    result.push_back(narrow(input, 0, part * size, size));
  }
  return result;
}

/// Traces each part (micro-batch or chunk) of the batch and returns its loss, metrics and
/// gradients. The loss of a micro-batch is scaled to its share of the mean. The loss of a chunk is
/// not scaled, because averageChunksInOrder() averages the chunks. The parts are unrolled into one
/// program instead of accumulated over several runs. So the step counter, the schedule and the
/// update do not depend on the number of parts, and no accumulator outlives the step.
std::vector<BatchPartResults> inParts(const Network &network, const TensorFunction &loss,
                                      const std::vector<Tensor> &inputs, const StepOptions &options,
                                      const LossScaler *scaler, const Location &location) {
  const int64_t parts = partsOf(options);
  std::vector<BatchPartResults> results;
  for (int64_t part = 0; part < parts; ++part) {
    BatchPartScope rankPart(options, part);
    std::vector<Tensor> figures =
        parts == 1 ? figuresOf(network, loss, inputs, options)
                   : figuresOf(network, loss, sliceBatch(inputs, part, parts), options);
    // The operations of the gradients get the location of the call that requested the step.
    ApiCall call("train", location);
    rankPart.finish();
    if (parts > 1 && options.chunks == 0)
      for (Tensor &figure : figures)
        figure = figure * (1 / double(parts));
    optim::Gradients gradients = optim::gradients(scaler ? scaler->scaled(figures[0]) : figures[0]);
    results.push_back({std::move(figures), std::move(gradients)});
  }
  return results;
}

/// Returns the sum of the losses, metrics and gradients over all parts.
BatchPartResults sumParts(std::vector<BatchPartResults> parts) {
  BatchPartResults sum = std::move(parts[0]);
  for (size_t part = 1; part < parts.size(); ++part) {
    for (size_t i = 0; i < sum.figures.size(); ++i)
      sum.figures[i] = sum.figures[i] + parts[part].figures[i];
    for (size_t i = 0; i < sum.gradients.values.size(); ++i)
      sum.gradients.values[i] = sum.gradients.values[i] + parts[part].gradients.values[i];
  }
  return sum;
}

/// Casts f32 gradients to the type in which ranks exchange them (StepOptions::gradients).
optim::Gradients castForExchange(optim::Gradients gradients, DType type) {
  for (Tensor &value : gradients.values)
    if (value.dtype() == DType::F32)
      value = cast(value, type);
  return gradients;
}

/// Casts the exchanged gradients back to the types of their parameters.
optim::Gradients castToParameterTypes(optim::Gradients gradients) {
  for (size_t i = 0; i < gradients.values.size(); ++i) {
    const Parameter &like = gradients.buckets.empty() ? gradients.parameters[i]
                                                      : gradients.buckets[i].parameters.front();
    gradients.values[i] = cast(gradients.values[i], like.dtype());
  }
  return gradients;
}

/// Stores the loss and the metrics in the log [steps, number of losses and metrics], in the row of
/// this step.
void storeInLog(const std::vector<Tensor> &figures, int64_t steps) {
  Parameter log = variable("log", {steps, int64_t(figures.size())});
  std::vector<Tensor> line;
  for (const Tensor &figure : figures)
    line.push_back(reshape(cast(figure, DType::F32), {1, 1}));
  Tensor here = reshape(arange(steps), {steps, 1}) == step_count() % steps;
  assign(log, where(here, cat(line, 1), log));
}
} // namespace

int64_t partsOf(const StepOptions &options) {
  return options.chunks ? options.chunks / options.world : options.microBatches;
}

std::string mistakeIn(const StepOptions &o) {
  if (o.syncBatchNorm && !o.dataParallel)
    return "synchronized batch norm requires a data-parallel step; set dataParallel";
  if (o.gradients != DType::F32 && o.gradients != DType::BF16)
    return "the type of exchanged gradients must be f32 or bf16; found " +
           std::string(dtypeName(o.gradients));
  if (o.gradients != DType::F32 && !o.dataParallel)
    return "a type of exchanged gradients requires a data-parallel step; set dataParallel";
  if (o.gradients != DType::F32 && o.chunks != 0)
    return "reproducible reductions require f32 gradients; found " +
           std::string(dtypeName(o.gradients)) + " gradients and " + std::to_string(o.chunks) +
           " chunks; remove one of the two options";
  const bool wantsWorld = o.shardOptimizer || o.chunks != 0;
  if (wantsWorld && !o.dataParallel)
    return "a split optimizer and reproducible reductions require a data-parallel step; set "
           "dataParallel";
  if (wantsWorld && o.world < 1)
    return "a split optimizer and reproducible reductions require the size of the world: 1 rank or "
           "more; found " +
           std::to_string(o.world);
  if (!wantsWorld && o.world != 0)
    return "the size of the world has no effect on a step that runs with any number of ranks; "
           "remove it";
  if (o.chunks < 0 || (o.chunks > 0 && o.chunks % o.world != 0))
    return "the number of chunks must be divisible by the number of ranks; found " +
           std::to_string(o.chunks) + " chunks for " + std::to_string(o.world) + " ranks";
  if (o.chunks > 0 && o.microBatches != 1)
    return "chunks are already micro-batches; found " + std::to_string(o.microBatches) +
           " micro-batches and " + std::to_string(o.chunks) + " chunks; set only one of the two";
  return "";
}

std::vector<std::string> figureNames(const StepOptions &options) {
  std::vector<std::string> names = {"loss"};
  for (const Metric &metric : options.metrics)
    names.push_back(metric.name);
  if (options.lossScale)
    names.insert(names.end(), {"scale", "skipped"});
  return names;
}

/// Throws if the functions, inputs and options of a training step contradict each other.
static void checkStep(const Network &network, const TensorFunction &loss,
                      const std::vector<Spec> &inputs, const StepOptions &options,
                      Location location) {
  auto fail = [&](const std::string &text) {
    throw Error(formatLocation(location) + "train: " + text);
  };
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
    fail("the number of micro-batches must be 1 or more, and that of logged steps 0 or more; "
         "found " +
         std::to_string(options.microBatches) + " and " + std::to_string(options.log));
  if (std::string mistake = mistakeIn(options); !mistake.empty())
    fail(mistake);
  const int64_t parts = partsOf(options);
  for (const Spec &input : inputs)
    if (parts > 1 && (input.shape.empty() || input.shape[0] < 1 || input.shape[0] % parts != 0))
      fail("the first size of input '" + input.name + "' must be divisible into " +
           std::to_string(parts) + (options.chunks ? " chunks" : " micro-batches") + "; found " +
           shapeText(input.shape));
}

Graph traceStep(const Network &network, const TensorFunction &loss,
                const optim::Optimizer &optimizer, const std::vector<Spec> &inputs,
                const StepOptions &given, Location location) {
  StepOptions options = given;
  options.dataParallel |= network.overProcesses;
  checkStep(network, loss, inputs, options, location);
  TraceOptions traceOptions{.state = true,
                            .starts = options.starts,
                            .training = true,
                            .seed = options.seed,
                            .device = options.device};
  if (options.log == 0)
    traceOptions.outputs = figureNames(options);
  return traceFunction(
      [&](const std::vector<Tensor> &xs) {
        // Creates the step counter, so that every checkpoint records the number of steps.
        step_count();
        std::optional<LossScaler> scaler;
        if (options.lossScale)
          scaler.emplace(*options.lossScale);
        std::vector<BatchPartResults> results =
            inParts(network, loss, xs, options, scaler ? &*scaler : nullptr, location);
        ApiCall call("train", location);
        auto [figures, gradients] =
            options.chunks ? averageChunksInOrder(results, options.chunks, options.world)
                           : sumParts(std::move(results));
        if (options.dataParallel && options.chunks == 0) {
          // Gradients are averaged over the ranks before unscaling, so that all ranks agree on
          // whether they are finite.
          gradients = castForExchange(gradients, options.gradients);
          gradients = castToParameterTypes(options.shardOptimizer
                                               ? optimizer.sharded(gradients, options.world)
                                               : optim::averaged(gradients));
          for (Tensor &figure : figures)
            figure = all_reduce(figure, Reduction::Mean);
        }
        if (scaler)
          gradients = scaler->unscaled(gradients);
        if (options.clipValue > 0)
          gradients = optim::clipByValue(gradients, options.clipValue);
        if (options.clipNorm > 0)
          gradients = optim::clipByNorm(gradients, options.clipNorm);
        // Gradients are sharded only after clipping, because a norm computed from shares would be
        // summed in a different order in each world size.
        if (options.chunks && options.shardOptimizer)
          gradients = optimizer.sharded(gradients, options.world, /*averaged=*/true);
        if (scaler) {
          scaler->finish();
          for (const Tensor &figure : scaler->figures())
            figures.push_back(figure);
        }
        optimizer.apply(gradients, scaler ? scaler->finite() : Tensor());
        if (options.log == 0)
          return figures;
        storeInLog(figures, options.log);
        return std::vector<Tensor>();
      },
      inputs, traceOptions, location);
}

} // namespace dlc
