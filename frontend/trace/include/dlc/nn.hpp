//===- nn.hpp - modules with named parameters -----------------------------===//
//
//   struct Mlp : dlc::nn::Module {
//     Linear hidden = add("hidden", Linear(784, 256)), out = add("out", Linear(256, 10));
//     Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
//   };
//
// Parameters are named as in PyTorch's state_dict (`hidden.weight`), so that files can be
// exchanged. Layers are in nn_layers.hpp. A copy of a module shares its parameters.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_NN_HPP
#define DLC_NN_HPP

#include "dlc/trace.hpp"

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::nn {
class Module;
}

// With the tensors, so that functions of tensors are found for parameters too.
namespace dlc::trace {

/// How a parameter starts. Values depend on the seed and the parameter's name only, so that neither
/// the platform nor the order of construction changes them.
struct Init {
  enum class Kind { Constant, Uniform, Normal, TruncatedNormal };
  Kind kind = Kind::Constant;
  /// The constant; the bound of a uniform distribution around 0; the standard deviation (cut at two
  /// of them).
  double value = 0;

  static Init constant(double value) { return {Kind::Constant, value}; }
  static Init uniform(double bound) { return {Kind::Uniform, bound}; }
  static Init normal(double deviation = 1) { return {Kind::Normal, deviation}; }
  static Init truncatedNormal(double deviation) { return {Kind::TruncatedNormal, deviation}; }
  /// PyTorch's default for weights and biases: uniform within 1 / sqrt(fanIn).
  static Init fanIn(int64_t fanIn);
};

/// A named array that belongs to a module. Copies are the same parameter. Its elements are made
/// when first asked for.
class Parameter {
public:
  /// None: a layer without bias.
  Parameter() = default;
  Parameter(Shape shape, Init init, DType dtype = DType::F32, bool buffer = false);
  /// One that belongs to no module.
  Parameter(std::string name, Shape shape, Init init, DType dtype = DType::F32,
            bool buffer = false);

  /// State that belongs to a program only; see trace::variable().
  static Parameter variable(std::string name, Shape shape, double start, DType dtype);

  explicit operator bool() const { return state != nullptr; }
  /// The path from the outermost module: `layer1.0.conv1.weight`.
  const std::string &name() const;
  const Shape &shape() const;
  DType dtype() const;
  /// State that no gradient goes to, such as running statistics.
  bool isBuffer() const;
  /// A trace's own, made by variable().
  bool isVariable() const;

  Array value() const;
  /// Replaces the elements; shape and type must stay.
  void set(Array value);
  /// Converts a floating-point parameter.
  void to(DType dtype);
  /// From now on traces take it to be on that device: it is moved there when a program is loaded,
  /// and lives there.
  void to(const Device &device);
  /// Nothing where nobody said where.
  std::optional<Device> device() const;
  /// Gives the elements away: until set() or reset(), value() is what `home` says.
  void moveTo(std::function<Array()> home);
  /// Forgets the elements: they start anew from this seed.
  void reset(uint64_t seed);

  struct State;
  const State *identity() const { return state.get(); }

private:
  friend class nn::Module;
  std::shared_ptr<State> state;
};

} // namespace dlc::trace

namespace dlc::nn {

using trace::Array;
using trace::Dims;
using trace::Init;
using trace::Operand;
using trace::Parameter;
using trace::Shape;
using trace::Tensor;

struct LoadOptions {
  /// Leave parameters as they are that the file does not have.
  bool allowMissing = false;
  /// Pass over tensors in the file that the module has no parameter for.
  bool allowExtra = false;
  /// Convert between floating-point types where the file has another one.
  bool convert = false;
};

class Linear;
class Conv1d;
class Conv2d;
class Conv3d;
class ConvTranspose2d;
class BatchNorm1d;
class BatchNorm2d;
class LayerNorm;
class RMSNorm;
class GroupNorm;
class Embedding;
class LSTM;
class GRU;
class MultiheadAttention;
class MaxPool2d;
class AvgPool2d;
class AdaptiveAvgPool2d;
class Dropout;
class Flatten;
class Sequential;

class Module {
public:
  // So that a module's own scope knows these names.
  using Tensor = trace::Tensor;
  using Parameter = trace::Parameter;
  using Init = trace::Init;
  using Linear = nn::Linear;
  using Conv1d = nn::Conv1d;
  using Conv2d = nn::Conv2d;
  using Conv3d = nn::Conv3d;
  using ConvTranspose2d = nn::ConvTranspose2d;
  using BatchNorm1d = nn::BatchNorm1d;
  using BatchNorm2d = nn::BatchNorm2d;
  using LayerNorm = nn::LayerNorm;
  using RMSNorm = nn::RMSNorm;
  using GroupNorm = nn::GroupNorm;
  using Embedding = nn::Embedding;
  using LSTM = nn::LSTM;
  using GRU = nn::GRU;
  using MultiheadAttention = nn::MultiheadAttention;
  using MaxPool2d = nn::MaxPool2d;
  using AvgPool2d = nn::AvgPool2d;
  using AdaptiveAvgPool2d = nn::AdaptiveAvgPool2d;
  using Dropout = nn::Dropout;
  using Flatten = nn::Flatten;
  using Sequential = nn::Sequential;

  Module();
  Module(const Module &) = default;
  Module(Module &&) = default;
  Module &operator=(const Module &) = default;
  Module &operator=(Module &&) = default;
  virtual ~Module();

  /// Calls forward() under this module's name.
  Tensor operator()(const Operand &x);
  /// What the module computes from one tensor. Modules with other inputs have functions of their
  /// own.
  virtual Tensor forward(Tensor x);

  /// All parameters and buffers, this module's first, then its parts' in order of addition.
  std::vector<Parameter> parameters() const;
  /// By path; an absent Parameter when there is none.
  Parameter find(std::string_view path) const;
  /// The number of elements of all parameters (buffers apart).
  int64_t parameterCount() const;

  /// How this module and its parts behave: dropout, and batch norm's statistics. Who is told
  /// nothing behaves as the trace says: as in training inside a training step, else as in
  /// inference.
  void train(bool training = true);
  void eval() { train(false); }
  bool isTraining() const;

  /// Starts all parameters anew from a seed.
  void seed(uint64_t seed);
  /// Converts all floating-point parameters.
  void to(DType dtype);
  /// Moves all parameters and buffers: what is computed from them is computed there. Other tensors
  /// are moved by Tensor::to().
  void to(const Device &device);
  /// Takes the parameters from a .safetensors file, which stays mapped: nothing is copied.
  void load(const std::string &path, const LoadOptions &options = {});
  /// Writes the parameters to a .safetensors file: a whole new file, or the old one stays.
  void save(const std::string &path) const;

protected:
  template <std::derived_from<Module> M> M add(std::string_view name, M part) {
    attach(name, part);
    return part;
  }
  Parameter parameter(std::string_view name, Shape shape, Init init);
  Parameter buffer(std::string_view name, Shape shape, Init init, DType dtype = DType::F32);
  /// One operation with a name of its own: its operations bear the caller's location, not its own
  /// source's.
  void markLayer();

  /// While it lives, operations belong to this module (and, for a layer, to the caller's line).
  class Scope {
  public:
    Scope(const Module &module, const Operand &x);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    trace::State *state;
    /// Of the modules around this one, while its own lines count.
    std::vector<trace::Location> outer;
  };

private:
  friend nn::Sequential;
  struct Registry;
  void attach(std::string_view name, const Module &part);
  void own(std::string_view name, const Parameter &parameter);
  std::shared_ptr<Registry> registry;
};

} // namespace dlc::nn

#include "dlc/nn_layers.hpp"

#endif // DLC_NN_HPP
