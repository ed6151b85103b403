//===- Train.cpp - dlc::Step: compiles and runs a training step -----------===//
#include "tools/compiler/include/dlc/train.hpp"
#include "ir/dlc/Attributes.h"

#include "frontend/trace/Trace.h"
#include "runtime/collective/World.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

using namespace mlir;

namespace dlc {

namespace {
/// Valid class labels of an integer input: 0 to `count` - 1, and the label `ignored`.
struct ClassLabels {
  int64_t count;
  std::optional<int64_t> ignored;
};

std::map<std::string, ClassLabels> getInputClasses(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::map<std::string, ClassLabels> found;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto count = main.getArgAttrOfType<IntegerAttr>(i, kClassesAttr);
    if (!count)
      continue;
    ClassLabels classes{count.getInt(), std::nullopt};
    if (auto ignored = main.getArgAttrOfType<IntegerAttr>(i, kIgnoredAttr))
      classes.ignored = ignored.getInt();
    found[main.getArgAttrOfType<StringAttr>(i, kNameAttr).str()] = classes;
  }
  return found;
}

template <typename T>
void checkClassLabels(const std::string &name, const Tensor &target, const ClassLabels &classes) {
  Tensor here = target.to(Device());
  const T *labels = here.data<T>();
  for (int64_t i = 0; i < target.elements(); ++i) {
    int64_t label = labels[i];
    if ((label < 0 || label >= classes.count) && label != classes.ignored)
      throw Error("input '" + name + "', element " + std::to_string(i) +
                  ": required: a class index from 0 to " + std::to_string(classes.count - 1) +
                  (classes.ignored ? ", or " + std::to_string(*classes.ignored) : "") +
                  "; found: " + std::to_string(label) + "; this batch has changed no state");
  }
}

Tensor toTensor(const trace::Array &array) {
  return Tensor::view(const_cast<void *>(array.data.get()), array.dtype, array.shape,
                      std::shared_ptr<void>(array.data, const_cast<void *>(array.data.get())));
}

trace::Array toArray(const Tensor &tensor) {
  auto owner = std::make_shared<const Tensor>(tensor);
  return {tensor.dtype(), tensor.shape(), std::shared_ptr<const void>(owner, tensor.raw())};
}
} // namespace

struct Step::Impl {
  Model model;
  Network network;
  TensorFunction lossFunction;
  optim::Optimizer optimizer;
  std::vector<trace::Spec> inputs;
  StepOptions options;
  ModelOptions modelOptions;
  std::vector<std::string> figures = {"loss"};
  std::map<std::string, ClassLabels> classes = {};
  std::map<std::string, optim::Schedule> schedules = {};
  std::vector<trace::Parameter> parameters = {};
  /// Hash of the traced step, which must be equal on all ranks. Empty if the step is not data
  /// parallel.
  std::vector<std::string> meaning = {};
  /// True once the parameters have been copied into the model's state.
  bool ready = false;
  int64_t steps = 0, fetched = 0;
  float loss = std::numeric_limits<float>::quiet_NaN();
  std::map<std::string, float> metrics = {};
  std::vector<std::vector<float>> lines = {};

  std::map<std::string, Tensor> checked(const std::vector<Tensor> &batch) const;
  /// Number of the step and a description of a non-finite value in its batch. The description is
  /// empty if all values are finite.
  struct NonFiniteInput {
    int64_t step = 0;
    std::string what = {};
  };
  /// First step whose input had a non-finite value and whose loss has not been fetched yet.
  NonFiniteInput suspect = {};

  NonFiniteInput inspect(const std::vector<Tensor> &batch) const;
  void explain(const NonFiniteInput &blame, float found) const;
  void fetch();
};

std::map<std::string, Tensor> Step::Impl::checked(const std::vector<Tensor> &batch) const {
  if (batch.size() != inputs.size())
    throw Error("required: " + std::to_string(inputs.size()) +
                " tensors, the number of inputs given to train(); found " +
                std::to_string(batch.size()));
  std::map<std::string, Tensor> given;
  for (size_t i = 0; i < batch.size(); ++i) {
    given[inputs[i].name] = batch[i];
    auto limits = classes.find(inputs[i].name);
    if (limits == classes.end())
      continue;
    if (batch[i].dtype() == DType::I64)
      checkClassLabels<int64_t>(inputs[i].name, batch[i], limits->second);
    else if (batch[i].dtype() == DType::I32)
      checkClassLabels<int32_t>(inputs[i].name, batch[i], limits->second);
  }
  for (const auto &[name, schedule] : schedules)
    given[name] = Tensor::of({}, std::vector<float>{float(schedule(steps))});
  return given;
}

template <typename T> int64_t findNonFinite(const Tensor &tensor) {
  Tensor here = tensor.to(Device());
  const T *values = here.data<T>();
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (!std::isfinite(values[i]))
      return i;
  return -1;
}

Step::Impl::NonFiniteInput Step::Impl::inspect(const std::vector<Tensor> &batch) const {
  for (size_t i = 0; i < batch.size(); ++i) {
    // While losses are logged, batches on a device are not checked, because each check would
    // require a copy to the host.
    if (options.log && !batch[i].device().isHost())
      continue;
    bool wide = batch[i].dtype() == DType::F64;
    if (!wide && batch[i].dtype() != DType::F32)
      continue;
    int64_t at = wide ? findNonFinite<double>(batch[i]) : findNonFinite<float>(batch[i]);
    if (at < 0)
      continue;
    Tensor here = batch[i].to(Device());
    double value = wide ? here.data<double>()[at] : double(here.data<float>()[at]);
    return {steps, "input '" + inputs[i].name + "' has " + std::to_string(value) + " at element " +
                       std::to_string(at)};
  }
  return {};
}

/// Throws an error that explains a non-finite loss, if the batch had a non-finite value.
void Step::Impl::explain(const NonFiniteInput &blame, float found) const {
  if (!blame.what.empty())
    throw Error("step " + std::to_string(blame.step) + ": " + blame.what + ", and so the loss is " +
                std::to_string(found) +
                "; required: finite numbers; load the last checkpoint to continue");
}

void Step::Impl::fetch() {
  Tensor log = model.state("log").to(Device());
  int64_t width = log.shape()[1];
  // Starts after the lines that the ring buffer has overwritten.
  float suspected = 0;
  for (int64_t step = std::max(fetched, steps - options.log); step < steps; ++step) {
    const float *line = log.data<float>() + step % options.log * width;
    lines.emplace_back(line, line + width);
    if (step == suspect.step)
      suspected = *line;
  }
  fetched = steps;
  NonFiniteInput blame = std::exchange(suspect, {});
  if (lines.empty())
    return;
  loss = lines.back()[0];
  for (size_t i = 1; i < figures.size(); ++i)
    metrics[figures[i]] = lines.back()[i];
  if (!std::isfinite(suspected))
    explain(blame, suspected);
}

float Step::run(const std::vector<Tensor> &batch) {
  if (!impl->ready)
    prepare();
  if (!impl->meaning.empty())
    runtime::World::ofProcess().setStep(impl->steps + 1);
  std::map<std::string, Tensor> results = impl->model.run(impl->checked(batch));
  // While losses are logged, the batch is checked now, because it is no longer available when the
  // loss is fetched.
  if (impl->options.log && impl->suspect.what.empty())
    impl->suspect = impl->inspect(batch);
  ++impl->steps;
  if (impl->options.log) {
    if (impl->steps - impl->fetched == impl->options.log)
      impl->fetch();
    return impl->loss;
  }
  impl->loss = float(results.at("loss").item());
  for (size_t i = 1; i < impl->figures.size(); ++i)
    impl->metrics[impl->figures[i]] = float(results.at(impl->figures[i]).item());
  if (!std::isfinite(impl->loss)) {
    Impl::NonFiniteInput blame = impl->inspect(batch);
    --blame.step;
    impl->explain(blame, impl->loss);
  }
  return impl->loss;
}

const std::map<std::string, float> &Step::metrics() const { return impl->metrics; }
int64_t Step::steps() const { return impl->steps; }
const Model &Step::model() const { return impl->model; }

const std::vector<std::vector<float>> &Step::log() {
  if (!impl->options.log)
    throw Error("the step records no losses; required: StepOptions::log of 1 or more");
  if (impl->fetched < impl->steps)
    impl->fetch();
  return impl->lines;
}

Model Step::predictor(const std::vector<trace::Spec> &inputs) {
  prepare();
  std::vector<trace::Spec> specs = inputs;
  if (specs.empty())
    specs.assign(impl->inputs.begin(), impl->inputs.begin() + int64_t(impl->network.arity));
  auto forward = [&](const std::vector<trace::Tensor> &xs) {
    return std::vector{impl->network.function(xs)};
  };
  trace::Graph graph = trace::traceFunction(
      forward, specs,
      {.state = true, .starts = false, .device = Device(impl->modelOptions.device)});
  std::vector<trace::Parameter> parameters = graph.parameters();
  ModelOptions options = impl->modelOptions;
  options.shareState = &impl->model;
  Model model = compile(std::move(graph), options);
  // Parameters that training does not use are not part of the step's state, so the predictor gets
  // its own copies.
  std::set<std::string> shared;
  for (const ModelState &state : impl->model.states())
    shared.insert(state.name);
  for (const trace::Parameter &parameter : parameters)
    if (!shared.count(parameter.name()))
      model.setState(parameter.name(), toTensor(parameter.value()));
  return model;
}

void Step::takeParameters() {
  impl->ready = true;
  for (trace::Parameter &parameter : impl->parameters) {
    trace::Array value = parameter.value();
    parameter.moveTo(
        [model = impl->model, name = parameter.name()] { return toArray(model.state(name)); });
    if (value.data.use_count() == 1)
      impl->model.moveState(parameter.name(), toTensor(value));
    else
      impl->model.setState(parameter.name(), toTensor(value));
  }
  if (!impl->meaning.empty())
    impl->model.joinWorld(impl->meaning);
}

double Step::prepare() {
  double seconds = impl->model.prepare();
  if (!impl->ready)
    takeParameters();
  return seconds;
}

void Step::save(const std::string &path) {
  prepare();
  impl->model.saveState(path);
}

void Step::load(const std::string &path, LoadState options) {
  prepare();
  impl->model.loadState(path, options);
  impl->steps = *impl->model.state("step").data<int64_t>();
  impl->fetched = impl->steps;
}

void Step::saveProgram(const std::string &path) const {
  StepOptions options = impl->options;
  options.starts = true;
  options.device = Device(impl->modelOptions.device);
  compile(traceStep(impl->network, impl->lossFunction, impl->optimizer, impl->inputs, options),
          impl->modelOptions)
      .save(path);
}

Step train(const Network &network, const TensorFunction &loss, const optim::Optimizer &optimizer,
           const std::vector<trace::Spec> &inputs, const StepOptions &given,
           const ModelOptions &modelOptions, trace::Location location) {
  StepOptions options = given;
  options.dataParallel |= network.overProcesses;
  // Joins the world before any thread exists, because joining may set the CPU affinity of threads.
  const bool isShared = options.dataParallel && world().size > 1;
  StepOptions traced = options;
  // The program is traced without initial values: parameters are moved into the state one at a time
  // later, so that they are in memory only once.
  traced.starts = false;
  traced.device = Device(modelOptions.device);
  trace::Graph graph = traceStep(network, loss, optimizer, inputs, traced, location);
  std::vector<trace::Parameter> parameters = graph.parameters();
  std::map<std::string, ClassLabels> classes = getInputClasses(*graph.getImpl().traced.module);
  std::vector<std::string> meaning;
  if (isShared)
    meaning.push_back("step " + llvm::utohexstr(llvm::xxh3_64bits(graph.text())));
  auto impl =
      std::make_shared<Step::Impl>(Step::Impl{compile(std::move(graph), modelOptions), network,
                                              loss, optimizer, inputs, options, modelOptions});
  impl->figures = figureNames(options);
  impl->classes = std::move(classes);
  impl->schedules = optimizer.schedules();
  impl->meaning = std::move(meaning);
  // Variables, such as optimizer state and the step counter, belong to the step only and are not
  // parameters of the modules.
  for (const trace::Parameter &parameter : parameters)
    if (!parameter.isVariable())
      impl->parameters.push_back(parameter);
  return Step(impl);
}

} // namespace dlc
