//===- Eager.cpp - eager execution of single tensor operations ------------===//
#include "tools/compiler/include/dlc/eager.hpp"

#include "dlc/trace.hpp"
#include "tools/compiler/include/dlc/compiler.hpp"

#include <cctype>
#include <map>
#include <mutex>

namespace dlc {

namespace {

/// An eager operation: its expression for error messages, in which x and y are the operands, and a
/// function that traces it.
struct EagerOperation {
  const char *text;
  trace::Tensor (*build)(const std::vector<trace::Tensor> &);
};

constexpr const char *kNames[] = {"x", "y"};
constexpr const char *kResult = "result";
/// Maximum number of cached programs. A program that repeats the same operations has fewer
/// signatures. If the cache is full, all entries are dropped.
constexpr size_t kMaxPrograms = 1024;

struct ModelCache {
  std::mutex mutex;
  std::map<std::string, Model> models;
};

ModelCache &getModelCache() {
  // The cache is never destroyed, because operations may run in destructors at process exit.
  static auto &cache = *new ModelCache;
  return cache;
}

/// Returns the index of the operand that determines the device and element type of the result: the
/// first tensor that is not 0-d, otherwise the first tensor, otherwise 0.
size_t findLeadingOperand(const std::vector<Value> &operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].tensor.shape().empty())
      return i;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].isNumber)
      return i;
  return 0;
}

void requireSameDevice(const EagerOperation &operation, const std::vector<Value> &operands,
                       size_t leader) {
  Device device = operands[leader].tensor.device();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor &other = operands[i].tensor;
    if (!other.shape().empty() && other.device() != device)
      throw Error(std::string(operation.text) + ": " + kNames[leader] + " is on " + device.name() +
                  ", " + kNames[i] + " on " + other.device().name() + "; move one: " + kNames[i] +
                  ".to(\"" + device.name() + "\")");
  }
}

void requireSameType(const EagerOperation &operation, const std::vector<Value> &operands,
                     size_t leader) {
  DType dtype = operands[leader].tensor.dtype();
  std::string wanted(dtypeName(dtype));
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor &other = operands[i].tensor;
    if (other.shape().empty() || other.dtype() == dtype)
      continue;
    std::string name;
    for (char c : wanted)
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    throw Error(std::string(operation.text) + ": " + kNames[leader] + " has type " + wanted + ", " +
                kNames[i] + " has type " + std::string(dtypeName(other.dtype())) +
                "; convert one: " + kNames[i] + ".to(dlc::DType::" + name + ")");
  }
}

Model compiled(const EagerOperation &operation, const std::vector<Tensor> &operands,
               const Device &device) {
  std::string key = operation.text;
  std::vector<trace::Spec> specs;
  for (size_t i = 0; i < operands.size(); ++i) {
    key +=
        " " + std::string(dtypeName(operands[i].dtype())) + detail::shapeText(operands[i].shape());
    specs.push_back({kNames[i], operands[i].shape(), operands[i].dtype()});
  }
  key += " " + device.name();
  ModelCache &all = getModelCache();
  std::lock_guard lock(all.mutex);
  auto found = all.models.find(key);
  if (found != all.models.end())
    return found->second;
  trace::Graph graph = trace::traceFunction(
      [&](const std::vector<trace::Tensor> &xs) {
        return std::vector<trace::Tensor>{operation.build(xs)};
      },
      specs, {.outputs = {kResult}});
  ModelOptions options;
  options.device = device.name();
  Model model = compile(std::move(graph), options);
  if (all.models.size() >= kMaxPrograms)
    all.models.clear();
  return all.models.emplace(key, model).first->second;
}

Tensor applyEagerly(const EagerOperation &operation, const std::vector<Value> &operands) {
  size_t leader = findLeadingOperand(operands);
  requireSameDevice(operation, operands, leader);
  requireSameType(operation, operands, leader);
  const Tensor &like = operands[leader].tensor;
  std::vector<Tensor> tensors;
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    tensors.push_back(operands[i].tensor.to(like.dtype()));
    inputs[kNames[i]] = tensors.back();
  }
  try {
    return compiled(operation, tensors, like.device()).run(inputs)[kResult];
  } catch (const Error &error) {
    throw Error(std::string(operation.text) + ": " + error.what());
  }
}

using Traced = const std::vector<trace::Tensor> &;

Tensor applyBinary(const char *text, trace::Tensor (*build)(Traced), const Value &x,
                   const Value &y) {
  return applyEagerly({text, build}, {x, y});
}
Tensor applyUnary(const char *text, trace::Tensor (*build)(Traced), const Tensor &x) {
  return applyEagerly({text, build}, {x});
}

} // namespace

static trace::Tensor add(Traced xs) { return xs[0] + xs[1]; }
static trace::Tensor subtract(Traced xs) { return xs[0] - xs[1]; }
static trace::Tensor multiply(Traced xs) { return xs[0] * xs[1]; }
static trace::Tensor divide(Traced xs) { return xs[0] / xs[1]; }

Tensor operator+(const Tensor &x, const Value &y) { return applyBinary("x + y", add, x, y); }
Tensor operator-(const Tensor &x, const Value &y) { return applyBinary("x - y", subtract, x, y); }
Tensor operator*(const Tensor &x, const Value &y) { return applyBinary("x * y", multiply, x, y); }
Tensor operator/(const Tensor &x, const Value &y) { return applyBinary("x / y", divide, x, y); }
Tensor operator+(double x, const Tensor &y) { return applyBinary("x + y", add, x, y); }
Tensor operator-(double x, const Tensor &y) { return applyBinary("x - y", subtract, x, y); }
Tensor operator*(double x, const Tensor &y) { return applyBinary("x * y", multiply, x, y); }
Tensor operator/(double x, const Tensor &y) { return applyBinary("x / y", divide, x, y); }
Tensor operator-(const Tensor &x) {
  return applyUnary(
      "-x", [](Traced xs) { return -xs[0]; }, x);
}
Tensor maximum(const Tensor &x, const Value &y) {
  return applyBinary(
      "maximum(x, y)", [](Traced xs) { return trace::maximum(xs[0], xs[1]); }, x, y);
}
Tensor minimum(const Tensor &x, const Value &y) {
  return applyBinary(
      "minimum(x, y)", [](Traced xs) { return trace::minimum(xs[0], xs[1]); }, x, y);
}
Tensor pow(const Tensor &x, const Value &y) {
  return applyBinary(
      "pow(x, y)", [](Traced xs) { return trace::pow(xs[0], xs[1]); }, x, y);
}

Tensor abs(const Tensor &x) {
  return applyUnary(
      "abs(x)", [](Traced xs) { return trace::abs(xs[0]); }, x);
}
Tensor exp(const Tensor &x) {
  return applyUnary(
      "exp(x)", [](Traced xs) { return trace::exp(xs[0]); }, x);
}
Tensor log(const Tensor &x) {
  return applyUnary(
      "log(x)", [](Traced xs) { return trace::log(xs[0]); }, x);
}
Tensor sqrt(const Tensor &x) {
  return applyUnary(
      "sqrt(x)", [](Traced xs) { return trace::sqrt(xs[0]); }, x);
}
Tensor tanh(const Tensor &x) {
  return applyUnary(
      "tanh(x)", [](Traced xs) { return trace::tanh(xs[0]); }, x);
}
Tensor sigmoid(const Tensor &x) {
  return applyUnary(
      "sigmoid(x)", [](Traced xs) { return trace::sigmoid(xs[0]); }, x);
}
Tensor relu(const Tensor &x) {
  return applyUnary(
      "relu(x)", [](Traced xs) { return trace::relu(xs[0]); }, x);
}
Tensor softmax(const Tensor &x) {
  return applyUnary(
      "softmax(x)", [](Traced xs) { return trace::softmax(xs[0]); }, x);
}

Tensor sum(const Tensor &x) {
  return applyUnary(
      "sum(x)", [](Traced xs) { return trace::sum(xs[0]); }, x);
}
Tensor mean(const Tensor &x) {
  return applyUnary(
      "mean(x)", [](Traced xs) { return trace::mean(xs[0]); }, x);
}
Tensor max(const Tensor &x) {
  return applyUnary(
      "max(x)", [](Traced xs) { return trace::max(xs[0]); }, x);
}
Tensor min(const Tensor &x) {
  return applyUnary(
      "min(x)", [](Traced xs) { return trace::min(xs[0]); }, x);
}

Tensor matmul(const Tensor &x, const Tensor &y) {
  return applyBinary(
      "matmul(x, y)", [](Traced xs) { return trace::matmul(xs[0], xs[1]); }, x, y);
}

size_t eager_programs() {
  std::lock_guard lock(getModelCache().mutex);
  return getModelCache().models.size();
}

} // namespace dlc
