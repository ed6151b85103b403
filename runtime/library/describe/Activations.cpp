//===- Activations.cpp - activation functions by name ---------------------===//
#include "runtime/library/describe/Activations.h"

#include <cmath>
#include <limits>
#include <utility>

namespace dlc::describe {

using simd::Activation;

std::optional<Activation> parseActivation(std::string_view name) {
  static constexpr std::pair<const char *, Activation> known[] = {
      {"relu", Activation::Relu},
      {"clip", Activation::Clip},
      {"linear", Activation::Linear},
      {"square", Activation::Square},
      {"abs", Activation::Abs},
      {"sqrt", Activation::Sqrt},
      {"exp", Activation::Exp},
      {"logistic", Activation::Logistic},
      {"tanh", Activation::Tanh},
      {"gelu_erf", Activation::GeluErf},
      {"gelu_tanh", Activation::GeluTanh},
      {"swish", Activation::Swish},
      {"hardswish", Activation::HardSwish}};
  for (auto [one, activation] : known)
    if (name == one)
      return activation;
  return std::nullopt;
}

float activationParameter(Activation activation, double value) {
  using Limits = std::numeric_limits<float>;
  bool isUnbounded = activation == Activation::Clip && std::fabs(value) >= Limits::max();
  return isUnbounded ? std::copysign(Limits::infinity(), static_cast<float>(value))
                     : static_cast<float>(value);
}

} // namespace dlc::describe
