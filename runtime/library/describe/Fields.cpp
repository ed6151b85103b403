//===- Fields.cpp - a convolution's description, checked field by field ------------===//
#include "runtime/library/describe/Fields.h"

#include "runtime/program/Message.h"

#include <algorithm>

namespace dlc::describe {

using nlohmann::json;
using runtime::fail;
using simd::Step;

std::string Fields::kind() const {
  if (!desc.is_object() || !desc.contains("kind") || !desc["kind"].is_string())
    fail(library, ": the description has no kind");
  return desc["kind"];
}

int64_t Fields::integer(const char *name, int64_t low, int64_t high) const {
  auto found = desc.find(name);
  if (found == desc.end() || !found->is_number_integer() || found->get<int64_t>() < low ||
      found->get<int64_t>() > high)
    fail(library, ": '", name, "' must be an integer from ", low, " to ", high, ", found ",
         found == desc.end() ? "nothing" : found->dump());
  return found->get<int64_t>();
}

std::vector<int64_t> Fields::integers(const char *name, size_t count, int64_t low) const {
  auto found = desc.find(name);
  std::vector<int64_t> values;
  int64_t total = 1;
  if (found != desc.end() && found->is_array() && found->size() == count)
    for (const json &value : *found)
      if (value.is_number_integer() && value.get<int64_t>() >= low &&
          value.get<int64_t>() <= kMaxSize &&
          !__builtin_mul_overflow(total, std::max<int64_t>(1, value.get<int64_t>()), &total) &&
          total <= kMaxSize)
        values.push_back(value.get<int64_t>());
  if (values.size() != count)
    fail(library, ": '", name, "' must be ", count, " integers from ", low, " on, found ",
         found == desc.end() ? "nothing" : found->dump());
  return values;
}

bool Fields::flag(const char *name) const {
  auto found = desc.find(name);
  if (found != desc.end() && !found->is_boolean())
    fail(library, ": '", name, "' must be true or false, found ", found->dump());
  return found != desc.end() && found->get<bool>();
}

std::vector<Step> Fields::steps() const {
  std::vector<Step> steps;
  if (auto found = desc.find("steps"); found != desc.end()) {
    if (!found->is_array() || found->size() > 16)
      fail(library, ": 'steps' must be a list of at most 16, found ", found->dump());
    for (const json &one : *found)
      steps.push_back(step(one));
  }
  return steps;
}

float Fields::number(const json &step, const char *name) const {
  auto found = step.find(name);
  if (found == step.end())
    return 0;
  if (!found->is_number())
    fail(library, ": '", name, "' must be a number, found ", found->dump());
  return found->get<float>();
}

Step Fields::step(const json &step) const {
  static constexpr std::pair<const char *, Step::Kind> kinds[] = {
      {"relu", Step::Relu},
      {"clip", Step::Clip},
      {"linear", Step::Linear},
      {"add", Step::AddTensor},
      {"add_channels", Step::AddChannels},
      {"multiply_channels", Step::MultiplyChannels}};
  if (step.is_object())
    for (auto [name, kind] : kinds)
      if (step.contains("do") && step["do"] == name)
        return {kind, number(step, "alpha"), number(step, "beta"), nullptr};
  fail(library,
       ": a step must be {\"do\": relu, clip, linear, add, add_channels or "
       "multiply_channels, ..}, found ",
       step.dump());
}

} // namespace dlc::describe
