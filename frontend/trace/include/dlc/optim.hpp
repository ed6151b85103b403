//===- optim.hpp - optimizers as trace code -------------------------------===//
//
//   dlc::optim::minimize(loss, dlc::optim::adam({.lr = 1e-3}), {.clipNorm = 1});
//
// Inside a trace with state, this call takes the gradients of the loss with respect to all
// parameters that it depends on and assigns new values to the parameters. An optimizer is a
// function from one parameter's gradient to its new value. User-defined optimizers are written like
// the built-in ones:
//
//   Optimizer lion("lion", 1e-4, [](Update &u) {
//     Tensor m = u.get("m");
//     u.set("m", 0.99 * m + 0.01 * u.gradient);
//     return u.value - u.rate * sign(0.9 * m + 0.1 * u.gradient);
//   });
//
//===----------------------------------------------------------------------===//
#ifndef DLC_OPTIM_HPP
#define DLC_OPTIM_HPP

#include "dlc/nn.hpp"

#include <functional>

namespace dlc::optim {

using trace::Operand;
using trace::Parameter;
using trace::Tensor;

/// Function that returns the learning rate of a training step. Steps are counted from 0. The rate
/// is computed on the host and passed to the program as an input.
using Schedule = std::function<double(int64_t step)>;
/// Step decay: the learning rate is multiplied by `factor` after every `every` steps.
Schedule stepDecay(double rate, int64_t every, double factor = 0.1);
/// Cosine decay of the learning rate from `rate` to `last` over `steps` steps.
Schedule cosine(double rate, int64_t steps, double last = 0);
/// Warm-up: the learning rate increases linearly over `steps` steps up to the initial value of
/// `then`, and follows the schedule `then` afterwards.
Schedule warmUp(int64_t steps, Schedule then);
Schedule warmUp(int64_t steps, double rate);

/// A learning rate: a constant, or a schedule with one value per step.
class Rate {
public:
  template <typename T>
  requires std::is_arithmetic_v<T> Rate(T number) : number(static_cast<double>(number)) {}
  template <typename F>
  requires std::is_invocable_r_v<double, F &, int64_t> Rate(F schedule)
      : schedule(std::move(schedule)) {}
  double number = 0;
  Schedule schedule;
};

struct Bucket;

/// Input of an update rule for one parameter: the parameter, its value and gradient, the learning
/// rate, and the optimizer's state.
class Update {
public:
  const Parameter parameter;
  Tensor value, gradient;
  /// The learning rate, as a 0-d tensor of the gradient's element type or as a number.
  Operand rate;

  /// Returns the number of this update, counted from 1, as a 0-d tensor of the gradient's element
  /// type.
  Tensor count();
  /// Returns the optimizer state `slot`, which has the parameter's shape and starts at 0. Its name
  /// is `optimizer.<optimizer>.<slot>.<parameter>`.
  Tensor get(const std::string &slot);
  void set(const std::string &slot, const Tensor &value);

private:
  friend class Optimizer;
  Update(Parameter parameter, Tensor value, Tensor gradient, Operand rate, std::string prefix,
         Tensor finite);
  Parameter slot(const std::string &name);
  std::string prefix;
  Tensor finite;
  /// Bucket whose share `parameter` represents, if the optimizer state is sharded; otherwise null.
  const Bucket *bucket = nullptr;
};

/// Parameters with the same update rule in a flat buffer: their elements are concatenated, padded
/// with zeros and split into equal shares, one for each rank of a world.
struct Bucket {
  std::vector<Parameter> parameters;
  int64_t share = 0, world = 1;
};

/// Gradients of a loss with respect to a list of parameters.
struct Gradients {
  std::vector<Parameter> parameters;
  std::vector<Tensor> values;
  /// Set if the gradients are sharded over the ranks of a world. In this case `parameters` is
  /// empty, and `values` contains this rank's share of each bucket.
  std::vector<Bucket> buckets = {};
};

/// An optimizer: an update rule, its learning rate, and groups of parameters with other optimizers,
/// selected by name.
class Optimizer {
public:
  Optimizer(std::string name, Rate rate, std::function<Tensor(Update &)> next);

  /// Assigns the parameters whose name matches a pattern (`*` matches any characters, `?` one
  /// character) to another optimizer. The first matching pattern applies.
  Optimizer &group(std::string pattern, Optimizer other) {
    return group(std::vector{std::move(pattern)}, std::move(other));
  }
  /// Assigns the parameters whose name matches any of the patterns to another optimizer.
  Optimizer &group(std::vector<std::string> patterns, Optimizer other);
  /// Assigns the parameters' new values. If `finite` (a 0-d bool) is present and false, parameters
  /// and state remain unchanged.
  void apply(const Gradients &gradients, const Tensor &finite = {}) const;
  /// Shards the gradients over a world of `world` ranks, after averaging them unless they are
  /// `averaged` already. apply() then keeps this rank's share of the optimizer state, updates this
  /// rank's share of the parameters, and gathers all shares. Requires update rules that treat each
  /// element independently.
  Gradients sharded(const Gradients &gradients, int64_t world, bool averaged = false) const;
  /// Returns the learning-rate schedules by the names of the program inputs that receive the rates:
  /// `lr` for this optimizer, and `lr.1`, ... for the groups.
  std::map<std::string, Schedule> schedules() const;

private:
  /// Returns the index of the group whose update rule applies to a parameter, or groups.size() if
  /// this optimizer's own rule applies.
  size_t groupOf(const Parameter &parameter) const;
  void update(const Parameter &parameter, const Tensor &gradient, const Operand &rate,
              const Tensor &finite) const;
  void updateShare(const Bucket &bucket, const std::string &name, const Tensor &gradient,
                   const Operand &rate, const Tensor &finite) const;
  std::string name;
  Rate rate;
  std::function<Tensor(Update &)> next;
  std::vector<std::pair<std::vector<std::string>, Optimizer>> groups;
};

// PyTorch's optimizers, with its formulas and defaults.
struct SgdOptions {
  Rate lr = 1e-3;
  double momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false, maximize = false;
};
Optimizer sgd(const SgdOptions &options = {});

struct AdamOptions {
  Rate lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  /// Weight decay. adam adds the decay to the gradient (L2 penalty), whereas adamw shrinks the
  /// parameter (decoupled decay).
  double weightDecay = 0;
  /// amsgrad: whether the running maximum of the second moment is used. maximize: whether the loss
  /// is maximized.
  bool amsgrad = false, maximize = false;
};
Optimizer adam(const AdamOptions &options = {});
struct AdamWOptions {
  Rate lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 1e-2;
  bool amsgrad = false, maximize = false;
};
Optimizer adamw(const AdamWOptions &options = {});

struct RmspropOptions {
  Rate lr = 1e-2;
  double alpha = 0.99, eps = 1e-8, weightDecay = 0, momentum = 0;
  bool centered = false, maximize = false;
};
Optimizer rmsprop(const RmspropOptions &options = {});

/// Returns an optimizer for groups of parameters that remain unchanged.
Optimizer frozen();

/// Returns the gradients of a loss with respect to all parameters that it depends on.
Gradients gradients(const Operand &loss);
/// Returns the Euclidean norm of the elements of all gradients together.
Tensor globalNorm(const Gradients &gradients);
/// Gradient clipping by norm: scales all gradients so that their global norm is at most `limit`.
Gradients clipByNorm(const Gradients &gradients, double limit);
/// Gradient clipping by value: clamps each element of the gradients to [-limit, limit].
Gradients clipByValue(const Gradients &gradients, double limit);

struct MinimizeOptions {
  /// Gradient clipping: limits of the gradients' global norm and of each element. 0 means no limit.
  double clipNorm = 0, clipValue = 0;
};
void minimize(const Operand &loss, const Optimizer &optimizer, const MinimizeOptions &options = {});

} // namespace dlc::optim

#endif // DLC_OPTIM_HPP
