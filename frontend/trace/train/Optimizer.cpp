//===- Optimizer.cpp - applies optimizers to gradients: groups, state, clipping --===//
#include "dlc/optim.hpp"

#include "frontend/trace/State.h"
#include "frontend/trace/train/Shares.h"

#include <algorithm>

namespace dlc::optim {

using namespace trace;

namespace {
/// Returns whether a name matches a pattern: `*` matches any characters, `?` one character.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty())
    return name.empty();
  if (pattern[0] == '*')
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         matches(pattern.substr(1), name.substr(1));
}

std::string rateInput(size_t group) { return group ? "lr." + std::to_string(group) : "lr"; }
} // namespace

Update::Update(Parameter given, Tensor value, Tensor gradient, Operand rate, std::string prefix,
               Tensor finite)
    : parameter(std::move(given)), value(std::move(value)), gradient(std::move(gradient)),
      rate(std::move(rate)), prefix(std::move(prefix)), finite(std::move(finite)) {}

Tensor Update::count() {
  if (!finite)
    return cast(step_count() + 1, gradient.dtype());
  // Number of updates. Skipped steps do not count.
  Parameter counter = variable("optimizer.updates", {}, DType::I64);
  Operand operand(counter);
  ApiCall call("Update::count", {&operand});
  call.value(operand);
  Tensor before = call.tensor(call.state().start(counter));
  Tensor next = before + 1;
  assign(counter, where(finite, next, before));
  return cast(next, gradient.dtype());
}

Parameter Update::slot(const std::string &name) {
  Parameter slot =
      variable(prefix + name + "." + parameter.name(), parameter.shape(), parameter.dtype());
  if (parameter.device())
    slot.to(*parameter.device());
  if (bucket)
    recordShareLayout(slot, *bucket, prefix + name + ".");
  return slot;
}

Tensor Update::get(const std::string &name) {
  Operand operand(slot(name));
  ApiCall call("Update::get", {&operand});
  return call.tensor(call.value(operand));
}

void Update::set(const std::string &name, const Tensor &next) {
  assign(slot(name), finite ? where(finite, next, get(name)) : next);
}

Optimizer::Optimizer(std::string name, Rate rate, std::function<Tensor(Update &)> next)
    : name(std::move(name)), rate(std::move(rate)), next(std::move(next)) {}

Optimizer &Optimizer::group(std::vector<std::string> patterns, Optimizer other) {
  if (!other.groups.empty())
    throw Error("the optimiser of group '" + (patterns.empty() ? "" : patterns.front()) +
                "' must not have groups; add all groups to the outermost optimizer");
  groups.emplace_back(std::move(patterns), std::move(other));
  return *this;
}

std::map<std::string, Schedule> Optimizer::schedules() const {
  std::map<std::string, Schedule> all;
  if (rate.schedule)
    all[rateInput(0)] = rate.schedule;
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].second.rate.schedule)
      all[rateInput(i + 1)] = groups[i].second.rate.schedule;
  return all;
}

size_t Optimizer::groupOf(const Parameter &parameter) const {
  auto isHere = [&](const std::string &pattern) { return matches(pattern, parameter.name()); };
  size_t group = 0;
  while (group < groups.size() && std::ranges::none_of(groups[group].first, isHere))
    ++group;
  return group;
}

void Optimizer::update(const Parameter &parameter, const Tensor &gradient, const Operand &rate,
                       const Tensor &finite) const {
  Update update(parameter, getParameterValue(parameter), gradient, rate, "optimizer." + name + ".",
                finite);
  Tensor value = next(update);
  assign(parameter, finite ? where(finite, value, update.value) : value);
}

void Optimizer::updateShare(const Bucket &bucket, const std::string &share, const Tensor &gradient,
                            const Operand &rate, const Tensor &finite) const {
  const Parameter &first = bucket.parameters.front();
  Parameter standIn = Parameter::variable(share, {bucket.share}, 0, first.dtype());
  if (first.device())
    standIn.to(*first.device());
  Update update(standIn, getOwnShare(bucket), gradient, rate, "optimizer." + name + ".", finite);
  update.bucket = &bucket;
  ElementwiseCheck check(bucket, name);
  Tensor value = next(update);
  check.require();
  allGatherAndAssign(bucket, finite ? where(finite, value, update.value) : value);
}

void Optimizer::apply(const Gradients &gradients, const Tensor &finite) const {
  const bool isSharded = !gradients.buckets.empty();
  const size_t count = isSharded ? gradients.buckets.size() : gradients.parameters.size();
  if (count != gradients.values.size())
    throw Error("Optimizer::apply: required: one gradient for each parameter; found " +
                std::to_string(gradients.values.size()) + " for " + std::to_string(count));
  std::map<std::string, Tensor> rates;
  for (size_t i = 0; i < count; ++i) {
    size_t group =
        groupOf(isSharded ? gradients.buckets[i].parameters.front() : gradients.parameters[i]);
    bool own = group == groups.size();
    const Optimizer &chosen = own ? *this : groups[group].second;
    if (!chosen.next)
      continue;
    const Tensor &gradient = gradients.values[i];
    Operand rate(chosen.rate.number);
    if (chosen.rate.schedule) {
      std::string input = rateInput(own ? 0 : group + 1);
      Tensor &known = rates[input];
      if (!known)
        known = trace::input({input, {}});
      rate = Operand(cast(known, gradient.dtype()));
    }
    if (isSharded)
      chosen.updateShare(gradients.buckets[i], "share" + std::to_string(i), gradient, rate, finite);
    else
      chosen.update(gradients.parameters[i], gradient, rate, finite);
  }
}

Gradients Optimizer::sharded(const Gradients &gradients, int64_t world, bool averaged) const {
  std::vector<size_t> rules;
  for (const Parameter &parameter : gradients.parameters)
    rules.push_back(groupOf(parameter));
  Gradients result;
  for (const std::vector<size_t> &members : makeBuckets(gradients.parameters, rules)) {
    Bucket bucket{.parameters = {}, .world = world};
    std::vector<Tensor> values;
    for (size_t i : members) {
      bucket.parameters.push_back(gradients.parameters[i]);
      values.push_back(gradients.values[i]);
    }
    bucket.share = computeShareSize(bucket);
    result.values.push_back(reduceScatterGradients(bucket, values, averaged));
    result.buckets.push_back(std::move(bucket));
  }
  return result;
}

Gradients gradients(const Operand &loss) {
  ApiCall call("gradients", {&loss});
  Gradients result;
  result.parameters = parametersOf(loss);
  if (result.parameters.empty())
    call.fail("the loss does not depend on a parameter, so that there is nothing to train; compute "
              "it from a network's results");
  result.values = grad(loss, result.parameters);
  return result;
}

Tensor globalNorm(const Gradients &gradients) {
  Tensor total;
  for (const Tensor &value : gradients.values) {
    Tensor part = sum(square(cast(value, DType::F32)));
    total = total ? total + part : part;
  }
  if (!total)
    throw Error("globalNorm: there are no gradients");
  return sqrt(sumOverRanks(gradients, total));
}

Gradients clipByNorm(const Gradients &gradients, double limit) {
  // The 1e-6 is PyTorch's guard against a norm of 0 (`clip_grad_norm_`).
  Tensor factor = minimum(limit / (globalNorm(gradients) + 1e-6), 1);
  Gradients result = gradients;
  for (Tensor &value : result.values)
    value = value * cast(factor, value.dtype());
  return result;
}

Gradients clipByValue(const Gradients &gradients, double limit) {
  Gradients result = gradients;
  for (Tensor &value : result.values)
    value = clamp(value, -limit, limit);
  return result;
}

void minimize(const Operand &loss, const Optimizer &optimizer, const MinimizeOptions &options) {
  ApiCall call("minimize", {&loss});
  Gradients all = gradients(loss);
  if (options.clipValue > 0)
    all = clipByValue(all, options.clipValue);
  if (options.clipNorm > 0)
    all = clipByNorm(all, options.clipNorm);
  optimizer.apply(all);
}

} // namespace dlc::optim
