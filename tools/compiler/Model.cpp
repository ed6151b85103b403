//===- Model.cpp - dlc::Model, implemented with Source and Programs -------===//
#include "tools/compiler/include/dlc/compiler.hpp"

#include "runtime/program/Writer.h"
#include "runtime/session/Binder.h"
#include "runtime/session/capi/ResultShape.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/WorldState.h"
#include "tools/compiler/Model.h"

namespace dlc {

static std::vector<ModelValue> toModelValues(const std::vector<ValueInfo> &infos) {
  std::vector<ModelValue> values;
  for (const ValueInfo &v : infos)
    values.push_back({v.name, v.dtype, v.shape, v.hasRank});
  return values;
}

/// Returns the session whose state the new model shares (option `shareState`), or null.
std::shared_ptr<runtime::Session> Model::Impl::lenderOf(const ModelOptions &options) {
  return options.shareState ? options.shareState->impl->programs.stateful()->session : nullptr;
}

Model::Impl::Impl(std::shared_ptr<Source> given, const ModelOptions &options)
    : source(std::move(given)), programs(source, CompileOptions(options), lenderOf(options)),
      inputs(toModelValues(source->inputs())), outputs(toModelValues(source->outputs())) {
  for (const StateValueInfo &v : source->states())
    states.push_back({v.name, v.dtype, v.shape, v.isParameter});
}

const std::vector<ModelValue> &Model::inputs() const { return impl->inputs; }
const std::vector<ModelValue> &Model::outputs() const { return impl->outputs; }

static runtime::BoundArray toRuntimeArgument(const Tensor &tensor) {
  if (tensor.device().isHost())
    return {tensor.raw(), nullptr};
  return {tensor.raw(), &runtime::openDevice(*runtime::parseDeviceName(tensor.device().name()))};
}

std::map<std::string, Tensor> Model::run(const std::map<std::string, Tensor> &given) const {
  const Source &source = *impl->source;
  Shapes shapes;
  Values values;
  for (const auto &[name, tensor] : given) {
    shapes[name] = tensor.shape();
    // Only inputs of up to 1024 elements are copied from a device to the host: inputs whose values
    // determine shapes are small.
    if (!tensor.device().isHost() && tensor.elements() > 1024)
      continue;
    auto value = std::make_shared<const Tensor>(tensor.to(Device()));
    values[name] = {tensor.dtype(), tensor.shape(), {value->raw(), tensor.bytes(), value}};
  }
  for (const ValueInfo &v : source.inputs())
    if (!given.count(v.name))
      throw Error(source.path() + ": input '" + v.name + "' is missing; required: " + v.text());
  std::shared_ptr<const LoadedProgram> ready = impl->programs.get(source.complete(shapes), values);

  const runtime::Plan &plan = ready->session->plan();
  std::vector<runtime::BoundArray> inputs, outputs;
  for (const runtime::TensorInfo &info : plan.inputs) {
    auto found = given.find(info.name);
    if (found == given.end())
      throw Error(source.path() + ": input '" + info.name + "' is missing");
    if (found->second.dtype() != info.dtype)
      throw Error(source.path() + ": input '" + info.name +
                  "': required: " + std::string(dtypeName(info.dtype)) +
                  "; found: " + std::string(dtypeName(found->second.dtype())));
    inputs.push_back(toRuntimeArgument(found->second));
  }
  std::map<std::string, Tensor> results;
  for (const runtime::TensorInfo &info : plan.outputs) {
    Tensor &tensor = results[info.name] =
        Tensor(info.dtype, info.shape, plan.devices[info.device].name);
    outputs.push_back(toRuntimeArgument(tensor));
  }
  std::shared_ptr<void> lock =
      ready->measurementMutex ? ready->measurementMutex->lockForRun() : nullptr;
  ready->session->runOn(inputs, outputs);
  for (const runtime::TensorInfo &info : plan.outputs) {
    if (info.counter < 0)
      continue;
    Tensor whole = results[info.name];
    int64_t count = int64_t(results[plan.outputs[size_t(info.counter)].name].item());
    results[info.name] = Tensor::view(whole.raw(), whole.dtype(), runtime::resultShape(info, count),
                                      std::make_shared<Tensor>(whole), whole.device());
  }
  for (size_t i = plan.results(); i < plan.outputs.size(); ++i)
    results.erase(plan.outputs[i].name);
  return results;
}

double Model::prepare(const std::map<std::string, std::vector<int64_t>> &shapes) const {
  size_t before = impl->programs.size();
  std::shared_ptr<const LoadedProgram> ready =
      impl->programs.get(impl->source->complete(shapes), {});
  return impl->programs.size() > before ? ready->compileSeconds : 0;
}

void Model::save(const std::string &path,
                 const std::map<std::string, std::vector<int64_t>> &shapes) const {
  runtime::writeProgram(*impl->programs.get(impl->source->complete(shapes), {})->program, path);
}

std::vector<ModelCommand>
Model::commands(const std::map<std::string, std::vector<int64_t>> &shapes) const {
  std::vector<ModelCommand> commands;
  for (const runtime::CommandInfo &c :
       impl->programs.get(impl->source->complete(shapes), {})->session->commands())
    commands.push_back({c.op, c.name, c.implementation, c.device, c.loc, c.flops, c.bytes});
  return commands;
}

const std::vector<ModelState> &Model::states() const { return impl->states; }

/// Returns the state of the current program together with the session that owns it, because
/// background tuning may swap in another session meanwhile.
static std::shared_ptr<runtime::StateSet> getProgramState(ProgramCache &programs,
                                                          const Source &source) {
  if (source.states().empty())
    throw Error(source.path() + ": has no state");
  std::shared_ptr<runtime::Session> session = programs.stateful()->session;
  return {session, &session->states()};
}

Tensor Model::state(const std::string &name) const {
  std::shared_ptr<runtime::StateSet> states = getProgramState(impl->programs, *impl->source);
  size_t index = states->indexOf(name);
  Tensor value(impl->states[index].dtype, impl->states[index].shape);
  states->get(index, value.raw());
  return value;
}

static void checkStateValue(const Source &source, const ModelState &info, const Tensor &value) {
  if (value.dtype() != info.dtype || value.shape() != info.shape)
    throw Error(source.path() + ": state '" + info.name +
                "': required: " + std::string(dtypeName(info.dtype)) + " " + shapeText(info.shape) +
                "; found: " + std::string(dtypeName(value.dtype())) + " " +
                shapeText(value.shape()));
}

void Model::setState(const std::string &name, const Tensor &value) const {
  std::shared_ptr<runtime::StateSet> states = getProgramState(impl->programs, *impl->source);
  size_t index = states->indexOf(name);
  checkStateValue(*impl->source, impl->states[index], value);
  states->set(index, value.to(Device()).raw());
}

void Model::moveState(const std::string &name, const Tensor &value) const {
  std::shared_ptr<runtime::StateSet> states = getProgramState(impl->programs, *impl->source);
  size_t index = states->indexOf(name);
  checkStateValue(*impl->source, impl->states[index], value);
  states->take(index, value.to(Device()).raw());
}

void Model::resetState() const { getProgramState(impl->programs, *impl->source)->reset(); }
void Model::saveState(const std::string &path) const {
  std::shared_ptr<runtime::StateSet> states = getProgramState(impl->programs, *impl->source);
  const runtime::Session &session = *impl->programs.stateful()->session;
  if (runtime::World *world = session.world())
    runtime::saveWorldState(*world, *states, session.plan(), path);
  else
    states->save(path);
}
void Model::loadState(const std::string &path, LoadState options) const {
  getProgramState(impl->programs, *impl->source)
      ->load(path, options.allowMissing, options.allowExtra);
}

void Model::joinWorld(const std::vector<std::string> &lines) const {
  std::shared_ptr<runtime::Session> session = impl->programs.stateful()->session;
  runtime::World *world = session->world();
  if (!world)
    return;
  std::vector<std::string> all = runtime::describeInterface(session->plan());
  all.insert(all.begin(), lines.begin(), lines.end());
  world->agree("program", all, "start all ranks with the same program and settings");
  runtime::broadcastStates(*world, session->states(), session->plan());
}

dlc_memory_figures Model::memory() const {
  runtime::MemoryFigures found = impl->programs.stateful()->session->memory();
  return {found.arenaBytes, found.scratchBytes, found.constantBytes, found.codeBytes,
          found.stateBytes};
}

size_t Model::programs() const { return impl->programs.size(); }
size_t Model::swaps() const { return impl->programs.swaps(); }
bool Model::isTuned() const { return impl->programs.isTuned(); }

Model compile(const std::string &path, const ModelOptions &options) {
  return Model(std::make_shared<Model::Impl>(std::make_shared<Source>(path), options));
}

} // namespace dlc
