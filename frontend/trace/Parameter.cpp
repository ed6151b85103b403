//===- Parameter.cpp - named arrays and their initialization --------------===//
#include "frontend/trace/Parameter.h"

#include <cmath>
#include <utility>

namespace dlc::trace {

namespace {
bool isFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F64;
}

/// Mixes the bits of a counter: returns 64 random bits.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t hashSeedAndName(uint64_t seed, const std::string &name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  return mix(hash ^ mix(seed));
}

/// Converts random bits to a uniform number in the open interval (0, 1).
double unit(uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

/// Returns the quantile of the standard normal distribution for the probability p, by rational
/// approximations (relative error below 1.2e-9). Unlike transforms that produce pairs (Box-Muller),
/// it uses one random number per element, so elements do not depend on each other.
double normalQuantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  auto tail = [&](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  if (p < 0.02425)
    return tail(std::sqrt(-2 * std::log(p)));
  if (p > 1 - 0.02425)
    return -tail(std::sqrt(-2 * std::log(1 - p)));
  double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

Array computeInitialValue(const Parameter::State &p) {
  bool integers = !isFloat(p.dtype);
  void *memory;
  Array array = Array::zeros(integers ? DType::F64 : DType::F32, p.shape, &memory);
  int64_t n = array.size();
  if (integers) {
    std::fill_n(static_cast<double *>(memory), n, p.init.value);
    return array.to(p.dtype);
  }
  float *x = static_cast<float *>(memory);
  double v = p.init.value;
  uint64_t key = hashSeedAndName(p.seed, p.name);
  // Probability that a standard normal number is below -2, at which TruncatedNormal is truncated.
  constexpr double cut = 0.022750131948179207;
  switch (p.init.kind) {
  case Init::Kind::Constant:
    std::fill_n(x, v == 0 ? 0 : n, float(v));
    break;
  case Init::Kind::Uniform:
    for (int64_t i = 0; i < n; ++i)
      x[i] = float((2 * unit(mix(key + uint64_t(i))) - 1) * v);
    break;
  case Init::Kind::Normal:
    for (int64_t i = 0; i < n; ++i)
      x[i] = float(normalQuantile(unit(mix(key + uint64_t(i)))) * v);
    break;
  case Init::Kind::TruncatedNormal:
    for (int64_t i = 0; i < n; ++i)
      x[i] = float(normalQuantile(cut + (1 - 2 * cut) * unit(mix(key + uint64_t(i)))) * v);
    break;
  }
  return array.to(p.dtype);
}
} // namespace

Init Init::fanIn(int64_t fanIn) { return uniform(fanIn > 0 ? 1 / std::sqrt(double(fanIn)) : 0); }

Parameter::Parameter(Shape shape, Init init, DType dtype, bool buffer)
    : state(std::make_shared<State>()) {
  __int128 count = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      throw Error("a parameter's sizes must be 0 or more; found " + std::to_string(dim));
    count *= dim;
    if (count > __int128(1) << 46)
      throw Error("a parameter has more elements than memory can hold");
  }
  state->shape = std::move(shape);
  state->dtype = dtype;
  state->init = init;
  state->buffer = buffer;
}

Parameter::Parameter(std::string name, Shape shape, Init init, DType dtype, bool buffer)
    : Parameter(std::move(shape), init, dtype, buffer) {
  state->name = std::move(name);
}

Parameter Parameter::variable(std::string name, Shape shape, double start, DType dtype) {
  Parameter made(std::move(name), std::move(shape), Init::constant(start), dtype, true);
  made.state->variable = true;
  return made;
}

static const Parameter::State &requireState(const std::shared_ptr<Parameter::State> &state) {
  if (!state)
    throw Error(
        "this parameter does not exist (the layer has no bias, or no module has this path)");
  return *state;
}

const std::string &Parameter::name() const { return requireState(state).name; }
const Shape &Parameter::shape() const { return requireState(state).shape; }
DType Parameter::dtype() const { return requireState(state).dtype; }
bool Parameter::isBuffer() const { return requireState(state).buffer; }
bool Parameter::isVariable() const { return requireState(state).variable; }

Array Parameter::value() const {
  requireState(state);
  std::lock_guard lock(state->mutex);
  if (state->home)
    return state->home();
  if (!state->elements.data)
    state->elements = computeInitialValue(*state);
  return state->elements;
}

std::optional<double> getConstantInit(const Parameter &parameter) {
  const Parameter::State &state = *parameter.identity();
  std::lock_guard lock(state.mutex);
  if (state.elements.data || state.home || state.init.kind != Init::Kind::Constant)
    return std::nullopt;
  return state.init.value;
}

void Parameter::set(Array value) {
  requireState(state);
  auto text = [](DType dtype, const Shape &shape) {
    std::string dims;
    for (int64_t dim : shape)
      dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
    return std::string(dtypeName(dtype)) + " [" + dims + "]";
  };
  if (value.dtype != state->dtype || value.shape != state->shape)
    throw Error(
        "parameter '" + state->name + "' must be " + text(state->dtype, state->shape) + "; found " +
        text(value.dtype, value.shape) +
        (value.shape == state->shape ? "; convert the values, or the parameter with to()" : ""));
  std::lock_guard lock(state->mutex);
  state->elements = std::move(value);
  state->home = nullptr;
}

void Parameter::moveTo(std::function<Array()> home) {
  requireState(state);
  std::lock_guard lock(state->mutex);
  state->home = std::move(home);
  state->elements = {};
}

void Parameter::to(DType dtype) {
  if (!isFloat(requireState(state).dtype))
    return;
  if (!isFloat(dtype))
    throw Error("parameters can only be converted between floating-point types; found " +
                std::string(dtypeName(dtype)));
  if (dtype == state->dtype)
    return;
  std::lock_guard lock(state->mutex);
  if (state->home)
    state->elements = std::exchange(state->home, nullptr)();
  if (state->elements.data)
    state->elements = state->elements.to(dtype);
  state->dtype = dtype;
}

void Parameter::to(const Device &device) {
  requireState(state);
  state->device = device;
}

std::optional<Device> Parameter::device() const { return requireState(state).device; }

void Parameter::reset(uint64_t seed) {
  requireState(state);
  std::lock_guard lock(state->mutex);
  state->seed = seed;
  state->elements = {};
  state->home = nullptr;
}

} // namespace dlc::trace
