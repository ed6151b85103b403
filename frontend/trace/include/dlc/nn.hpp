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

// Parameter is declared in the namespace of Tensor, so that argument-dependent lookup finds the
// functions of tensors for parameters too.
namespace dlc::trace {

/// Initialization of a parameter. Values depend only on the seed and the parameter's name, not on
/// the platform or the order of construction.
struct Init {
  enum class Kind { Constant, Uniform, Normal, TruncatedNormal };
  Kind kind = Kind::Constant;
  /// Constant: the value. Uniform: the bound of the range around 0. Normal and TruncatedNormal: the
  /// standard deviation; TruncatedNormal is truncated at two standard deviations.
  double value = 0;

  static Init constant(double value) { return {Kind::Constant, value}; }
  static Init uniform(double bound) { return {Kind::Uniform, bound}; }
  static Init normal(double deviation = 1) { return {Kind::Normal, deviation}; }
  static Init truncatedNormal(double deviation) { return {Kind::TruncatedNormal, deviation}; }
  /// PyTorch's default initialization of weights and biases: uniform within 1 / sqrt(fanIn).
  static Init fanIn(int64_t fanIn);
};

/// A named array that belongs to a module. Copies refer to the same parameter. Its elements are
/// allocated and initialized at the first access.
class Parameter {
public:
  /// Constructs an absent parameter, for example the bias of a layer without bias.
  Parameter() = default;
  Parameter(Shape shape, Init init, DType dtype = DType::F32, bool buffer = false);
  /// Constructs a parameter that belongs to no module.
  Parameter(std::string name, Shape shape, Init init, DType dtype = DType::F32,
            bool buffer = false);

  /// Returns state that belongs only to the program being traced; see trace::variable().
  static Parameter variable(std::string name, Shape shape, double start, DType dtype);

  explicit operator bool() const { return state != nullptr; }
  /// Returns the path from the outermost module, such as `layer1.0.conv1.weight`.
  const std::string &name() const;
  const Shape &shape() const;
  DType dtype() const;
  /// Returns whether the parameter is a buffer: state without gradient, such as running statistics.
  bool isBuffer() const;
  /// Returns whether the parameter was created by variable() and so belongs to a trace.
  bool isVariable() const;

  Array value() const;
  /// Replaces the elements. The shape and the type must be the same.
  void set(Array value);
  /// Converts a floating-point parameter to another floating-point type.
  void to(DType dtype);
  /// Sets the parameter's device for later traces. Loading a program moves the parameter to that
  /// device, where it remains.
  void to(const Device &device);
  /// Returns the device that was set by to(). Absent if to() was not called.
  std::optional<Device> device() const;
  /// Releases the elements, because another owner has them now: value() returns the result of
  /// `home` until set() or reset() is called.
  void moveTo(std::function<Array()> home);
  /// Discards the elements. The next access initializes them from the given seed.
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
  /// Whether parameters that are missing in the file keep their values instead of causing an error.
  bool allowMissing = false;
  /// Whether tensors in the file for which the module has no parameter are ignored.
  bool allowExtra = false;
  /// Whether floating-point tensors are converted if their type in the file differs from the
  /// parameter's.
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
  // Makes the names of tensors and operands available in the scope of derived modules.
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

  /// Calls forward() and names the traced operations after this module.
  Tensor operator()(const Operand &x);
  /// Computes the module's result from one tensor. A module with other inputs declares its own
  /// function instead.
  virtual Tensor forward(Tensor x);

  /// Returns all parameters and buffers: this module's first, then those of its submodules in the
  /// order in which they were added.
  std::vector<Parameter> parameters() const;
  /// Returns the parameter with the given path, or an absent Parameter if there is none.
  Parameter find(std::string_view path) const;
  /// Returns the number of elements of all parameters (without buffers).
  int64_t parameterCount() const;

  /// Sets the training mode of this module and its submodules, which affects dropout and the
  /// statistics of batch norm. A module on which neither train() nor eval() was called follows the
  /// trace: training mode inside a training step, otherwise inference mode.
  void train(bool training = true);
  void eval() { train(false); }
  bool isTraining() const;

  /// Reinitializes all parameters from a seed at their next access.
  void seed(uint64_t seed);
  /// Converts all floating-point parameters to another floating-point type.
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

  /// Scope during which new operations are named after this module and, for a layer, get the
  /// caller's source location.
  class Scope {
  public:
    Scope(const Module &module, const Operand &x);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    trace::State *state;
    /// Locations of the calls of the enclosing modules, saved so that they are restored at the end
    /// of the scope.
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
