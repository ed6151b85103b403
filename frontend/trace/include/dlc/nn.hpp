//===- nn.hpp - modules with named parameters -----------------------------===//
//
//   struct Mlp : dlc::nn::Module {
//     Linear hidden = add("hidden", Linear(784, 256)), out = add("out", Linear(256, 10));
//     Tensor forward(Tensor x) override { return out(relu(hidden(x))); }
//   };
//
// Parameters are named as in PyTorch's state_dict (`hidden.weight`), so checkpoint files can be
// exchanged with PyTorch. Layers are in nn_layers.hpp. A copy of a module shares its parameters.
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

// Parameter is declared in the namespace of the tensors, so that argument-dependent lookup finds
// functions of tensors for parameters too.
namespace dlc::trace {

/// Initialization of a parameter. Values depend only on the seed and the parameter's name, not on
/// the platform or the order of construction.
struct Init {
  enum class Kind { Constant, Uniform, Normal, TruncatedNormal };
  Kind kind = Kind::Constant;
  /// The constant, the bound of a uniform distribution around 0, or the standard deviation.
  /// TruncatedNormal is truncated at two standard deviations.
  double value = 0;

  static Init constant(double value) { return {Kind::Constant, value}; }
  static Init uniform(double bound) { return {Kind::Uniform, bound}; }
  static Init normal(double deviation = 1) { return {Kind::Normal, deviation}; }
  static Init truncatedNormal(double deviation) { return {Kind::TruncatedNormal, deviation}; }
  /// PyTorch's default for weights and biases: uniform within 1 / sqrt(fanIn).
  static Init fanIn(int64_t fanIn);
};

/// A named array that belongs to a module. Copies refer to the same parameter. Its elements are
/// allocated and initialized at the first access.
class Parameter {
public:
  /// An absent parameter, for example the bias of a layer without bias.
  Parameter() = default;
  Parameter(Shape shape, Init init, DType dtype = DType::F32, bool buffer = false);
  /// A parameter that belongs to no module.
  Parameter(std::string name, Shape shape, Init init, DType dtype = DType::F32,
            bool buffer = false);

  /// State that belongs to a program only; see trace::variable().
  static Parameter variable(std::string name, Shape shape, double start, DType dtype);

  explicit operator bool() const { return state != nullptr; }
  /// The path from the outermost module: `layer1.0.conv1.weight`.
  const std::string &name() const;
  const Shape &shape() const;
  DType dtype() const;
  /// Whether it is state without gradient, such as running statistics.
  bool isBuffer() const;
  /// Whether it belongs to a trace and was created by variable().
  bool isVariable() const;

  Array value() const;
  /// Replaces the elements. The shape and the type must be the same.
  void set(Array value);
  /// Converts a floating-point parameter.
  void to(DType dtype);
  /// Sets the parameter's device for later traces. Loading a program moves the parameter to that
  /// device, where it remains.
  void to(const Device &device);
  /// The device set by to(); absent if to() was not called.
  std::optional<Device> device() const;
  /// Moves the elements elsewhere: until set() or reset() is called, value() returns what `home`
  /// returns.
  void moveTo(std::function<Array()> home);
  /// Discards the elements. The next access initializes them from this seed.
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
  /// Keeps the values of parameters that are missing in the file instead of reporting an error.
  bool allowMissing = false;
  /// Ignores tensors in the file for which the module has no parameter.
  bool allowExtra = false;
  /// Converts between floating-point types if the file's type differs.
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
  // Makes these names available in the scope of derived modules.
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
  /// Computes the module's result from one tensor. Modules with other inputs have their own
  /// functions.
  virtual Tensor forward(Tensor x);

  /// All parameters and buffers: this module's first, then those of its submodules in order of
  /// addition.
  std::vector<Parameter> parameters() const;
  /// Finds a parameter by path; returns an absent Parameter if there is none.
  Parameter find(std::string_view path) const;
  /// The number of elements of all parameters (without buffers).
  int64_t parameterCount() const;

  /// Sets the training mode of this module and its submodules, which affects dropout and the
  /// statistics of batch norm. A module on which neither train() nor eval() was called follows the
  /// trace: training mode inside a training step, otherwise inference mode.
  void train(bool training = true);
  void eval() { train(false); }
  bool isTraining() const;

  /// Reinitializes all parameters from a seed.
  void seed(uint64_t seed);
  /// Converts all floating-point parameters.
  void to(DType dtype);
  /// Moves all parameters and buffers to a device. Operations on them run on that device. Other
  /// tensors are moved by Tensor::to().
  void to(const Device &device);
  /// Loads the parameters from a .safetensors file. The file is mapped into memory; nothing is
  /// copied.
  void load(const std::string &path, const LoadOptions &options = {});
  /// Writes the parameters to a .safetensors file. If that fails, an existing file remains
  /// unchanged.
  void save(const std::string &path) const;

protected:
  template <std::derived_from<Module> M> M add(std::string_view name, M part) {
    attach(name, part);
    return part;
  }
  Parameter parameter(std::string_view name, Shape shape, Init init);
  Parameter buffer(std::string_view name, Shape shape, Init init, DType dtype = DType::F32);
  /// Marks this module as a layer: its operations get the caller's source location instead of the
  /// locations inside the layer's own source.
  void markLayer();

  /// During its lifetime new operations are named after this module and, for a layer, get the
  /// caller's source location.
  class Scope {
  public:
    Scope(const Module &module, const Operand &x);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    trace::State *state;
    /// Saved locations of the enclosing modules' calls, restored at the end of the scope.
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
