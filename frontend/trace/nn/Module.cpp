//===- Module.cpp - modules: names, submodules, parameters ----------------===//
#include "frontend/trace/Parameter.h"
#include "frontend/trace/State.h"

#include <optional>
#include <set>

namespace dlc::nn {

struct Module::Registry {
  std::string path;
  bool attached = false, layer = false;
  std::optional<bool> training;
  std::vector<std::shared_ptr<Parameter::State>> parameters;
  std::vector<std::shared_ptr<Registry>> parts;
  std::set<std::string, std::less<>> names;

  void takeName(std::string_view name) {
    if (name.empty() || !names.emplace(name).second)
      throw Error("the parts and parameters of a module must have unique names; found '" +
                  std::string(name) + "'" + (name.empty() ? "" : " twice") +
                  (path.empty() ? "" : " in '" + path + "'"));
  }

  /// Prepends a name to the paths of this module, its parameters and its submodules.
  void prefix(const std::string &name) {
    path = path.empty() ? name : name + "." + path;
    for (auto &parameter : parameters)
      parameter->name = name + "." + parameter->name;
    for (auto &part : parts)
      part->prefix(name);
  }

  void train(bool on) {
    training = on;
    for (auto &part : parts)
      part->train(on);
  }

  template <typename F> void walk(F &&f) const {
    for (auto &parameter : parameters)
      f(parameter);
    for (auto &part : parts)
      part->walk(f);
  }
};

Module::Module() : registry(std::make_shared<Registry>()) {}
Module::~Module() = default;

Tensor Module::operator()(const Operand &x) {
  Tensor input = [&] {
    trace::ApiCall call("a module's input", {&x});
    return call.tensor(call.value(x));
  }();
  Scope scope(*this, x);
  return forward(std::move(input));
}

Tensor Module::forward(Tensor) {
  throw Error(
      "module '" + registry->path +
      "' has no forward() of one tensor; override it, or call another function of the module");
}

Module::Scope::Scope(const Module &module, const Operand &x) : state(trace::State::current()) {
  if (!state)
    return;
  state->names.push_back(module.registry->path);
  outer = state->locations;
  // The operations of a layer get the location of the layer's call. The operations of other modules
  // get their own locations.
  if (module.registry->layer)
    state->locations.push_back(x.location);
  else
    state->locations.clear();
}

Module::Scope::~Scope() {
  if (!state)
    return;
  state->names.pop_back();
  state->locations = std::move(outer);
}

void Module::markLayer() { registry->layer = true; }

void Module::own(std::string_view name, const Parameter &parameter) {
  registry->takeName(name);
  parameter.state->name =
      registry->path.empty() ? std::string(name) : registry->path + "." + std::string(name);
  registry->parameters.push_back(parameter.state);
}

Parameter Module::parameter(std::string_view name, Shape shape, Init init) {
  Parameter made(std::move(shape), init);
  own(name, made);
  return made;
}

Parameter Module::buffer(std::string_view name, Shape shape, Init init, DType dtype) {
  Parameter made(std::move(shape), init, dtype, true);
  own(name, made);
  return made;
}

void Module::attach(std::string_view name, const Module &part) {
  if (part.registry == registry || part.registry->attached)
    throw Error("module '" + std::string(name) + "' is already part of another module, as '" +
                part.registry->path + "'; create another module, or use the existing one");
  registry->takeName(name);
  part.registry->attached = true;
  part.registry->prefix(registry->path.empty() ? std::string(name)
                                               : registry->path + "." + std::string(name));
  registry->parts.push_back(part.registry);
}

std::vector<Parameter> Module::parameters() const {
  std::vector<Parameter> all;
  registry->walk(
      [&](const std::shared_ptr<Parameter::State> &state) { all.emplace_back().state = state; });
  return all;
}

Parameter Module::find(std::string_view path) const {
  for (const Parameter &parameter : parameters())
    if (parameter.name() == path)
      return parameter;
  return {};
}

int64_t Module::parameterCount() const {
  int64_t count = 0;
  for (const Parameter &parameter : parameters()) {
    int64_t each = parameter.isBuffer() ? 0 : 1;
    for (int64_t dim : parameter.shape())
      each *= dim;
    count += each;
  }
  return count;
}

void Module::train(bool training) { registry->train(training); }

bool Module::isTraining() const {
  if (registry->training)
    return *registry->training;
  const trace::State *state = trace::State::current();
  return state && state->training;
}

void Module::seed(uint64_t seed) {
  for (Parameter &parameter : parameters())
    parameter.reset(seed);
}

void Module::to(DType dtype) {
  for (Parameter &parameter : parameters())
    parameter.to(dtype);
}

void Module::to(const Device &device) {
  for (Parameter &parameter : parameters())
    parameter.to(device);
}

} // namespace dlc::nn
