//===- optim.hpp - optimisers as trace code -------------------------------===//
//
//   dlc::optim::minimize(loss, dlc::optim::adam({.lr = 1e-3}), {.clipNorm = 1});
//
// inside a trace with state takes the loss's gradients in all parameters that it depends on and
// assigns the parameters' new values. An optimiser is a function from one parameter's gradient to
// its new value; a user's own is written as those here are:
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

/// The learning rate of each step, from 0 on: computed on the host, given to the program as an
/// input.
using Schedule = std::function<double(int64_t step)>;
/// `rate`, times the factor after every so many steps.
Schedule stepDecay(double rate, int64_t every, double factor = 0.1);
/// Half a cosine from `rate` to `last` within so many steps.
Schedule cosine(double rate, int64_t steps, double last = 0);
/// A straight line up to what the schedule begins with, then the schedule.
Schedule warmUp(int64_t steps, Schedule then);
Schedule warmUp(int64_t steps, double rate);

/// A number, or another one each step.
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

/// What an optimiser is given of one parameter.
class Update {
public:
  const Parameter parameter;
  Tensor value, gradient;
  /// 0-d, of the gradient's element type, or a number.
  Operand rate;

  /// The number of this update, from 1 on: 0-d, of the gradient's element type.
  Tensor count();
  /// State of this parameter's shape that starts at 0: `optimizer.<optimiser>.<slot>.<parameter>`.
  Tensor get(const std::string &slot);
  void set(const std::string &slot, const Tensor &value);

private:
  friend class Optimizer;
  Update(Parameter parameter, Tensor value, Tensor gradient, Operand rate, std::string prefix,
         Tensor finite);
  Parameter slot(const std::string &name);
  std::string prefix;
  Tensor finite;
  /// Where `parameter` stands for this rank's share of several.
  const Bucket *bucket = nullptr;
};

/// Parameters of one rule, whose elements stand one after another, padded with zeros, in equal
/// shares: one for each rank of a world.
struct Bucket {
  std::vector<Parameter> parameters;
  int64_t share = 0, world = 1;
};

/// The gradients of some parameters.
struct Gradients {
  std::vector<Parameter> parameters;
  std::vector<Tensor> values;
  /// Where they are split over the ranks of a world there are no `parameters`: `values` are this
  /// rank's shares of these.
  std::vector<Bucket> buckets = {};
};

/// A rule for updates, its learning rate, and other rules for parameters of certain names.
class Optimizer {
public:
  Optimizer(std::string name, Rate rate, std::function<Tensor(Update &)> next);

  /// Parameters whose name matches the pattern (`*` any characters, `?` one) go to another
  /// optimiser; the first pattern that matches decides.
  Optimizer &group(std::string pattern, Optimizer other) {
    return group(std::vector{std::move(pattern)}, std::move(other));
  }
  /// The same for any of several patterns.
  Optimizer &group(std::vector<std::string> patterns, Optimizer other);
  /// Assigns the parameters' new values. Where `finite` (a 0-d bool) is there and false, everything
  /// stays as it was.
  void apply(const Gradients &gradients, const Tensor &finite = {}) const;
  /// The gradients split over a world of so many ranks, averaged over these unless they are
  /// `averaged`: apply() then keeps this rank's share of the optimiser's memory, updates its share
  /// of the parameters, and gathers them. For rules that treat each element by itself.
  Gradients sharded(const Gradients &gradients, int64_t world, bool averaged = false) const;
  /// The schedules by the names of the program's inputs that they are to fill: `lr`, and `lr.1`, …
  /// for the groups.
  std::map<std::string, Schedule> schedules() const;

private:
  /// Which group's rule a parameter has; groups.size(): this one's own.
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

// PyTorch's, with its formulas and defaults.
struct SgdOptions {
  Rate lr = 1e-3;
  double momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false, maximize = false;
};
Optimizer sgd(const SgdOptions &options = {});

struct AdamOptions {
  Rate lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  /// adam adds it to the gradient; adamw shrinks the parameter by it.
  double weightDecay = 0;
  /// The second moment never shrinks; the loss is to grow.
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

/// For groups of parameters that stay as they are.
Optimizer frozen();

/// The gradients of a loss in all parameters that it depends on.
Gradients gradients(const Operand &loss);
/// The Euclidean norm of all of them together.
Tensor globalNorm(const Gradients &gradients);
/// Scales all of them so that this norm is at most `limit`.
Gradients clipByNorm(const Gradients &gradients, double limit);
/// Cuts each element to -limit … limit.
Gradients clipByValue(const Gradients &gradients, double limit);

struct MinimizeOptions {
  /// 0: no limit.
  double clipNorm = 0, clipValue = 0;
};
void minimize(const Operand &loss, const Optimizer &optimizer, const MinimizeOptions &options = {});

} // namespace dlc::optim

#endif // DLC_OPTIM_HPP
