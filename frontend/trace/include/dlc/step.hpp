//===- step.hpp - a whole training step as one traced program -------------===//
//
// (batch, state) -> (loss, metrics, new state): forward pass, loss, gradients and update in one
// program. dlc/train.hpp compiles and runs it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_STEP_HPP
#define DLC_STEP_HPP

#include "dlc/loss.hpp"
#include "dlc/optim.hpp"

namespace dlc {

/// A function of several tensors that gives one, and how many it takes.
class TensorFunction {
public:
  using Function = std::function<trace::Tensor(const std::vector<trace::Tensor> &)>;

  TensorFunction(size_t arity, Function function) : arity(arity), function(std::move(function)) {}
  /// Any callable of up to 16 tensors.
  template <typename F>
  requires(!std::derived_from<std::remove_cvref_t<F>, nn::Module> &&
           !std::derived_from<std::remove_cvref_t<F>, TensorFunction> &&
           trace::detail::tensorArity<std::remove_cvref_t<F>>() <= 16) TensorFunction(F callable)
      : arity(trace::detail::tensorArity<F>()) {
    function = [callable](const std::vector<trace::Tensor> &xs) mutable {
      return [&]<size_t... I>(std::index_sequence<I...>)->trace::Tensor {
        return callable(xs[I]...);
      }
      (std::make_index_sequence<trace::detail::tensorArity<F>()>());
    };
  }
  /// A function of two operands, such as dlc::loss::cross_entropy.
  TensorFunction(trace::Tensor (*callable)(const trace::Operand &, const trace::Operand &))
      : arity(2), function([callable](const std::vector<trace::Tensor> &xs) {
          return callable(xs[0], xs[1]);
        }) {}

  size_t arity;
  Function function;
};

/// What is trained: a module (copied, which shares its parameters), or any function of tensors that
/// uses parameters.
class Network : public TensorFunction {
public:
  using TensorFunction::TensorFunction;
  /// What StepOptions::dataParallel is.
  bool overProcesses = false;
  template <std::derived_from<nn::Module> M>
  requires(!std::same_as<M, nn::Module>) Network(M module)
      : TensorFunction(
            1, [module](const std::vector<trace::Tensor> &xs) mutable { return module(xs[0]); }) {}
  template <std::derived_from<nn::Module> M>
  Network(std::shared_ptr<M> module)
      : TensorFunction(
            1, [module](const std::vector<trace::Tensor> &xs) { return (*module)(xs[0]); }) {}
};

/// The network in every process of the world, each with a batch of its own: a step of it is data
/// parallel. (Over devices of one process: dlc/parallel.hpp.)
inline Network data_parallel(Network network) {
  network.overProcesses = true;
  return network;
}

/// One more number of each step, from the network's result and what the loss takes beside it.
struct Metric {
  std::string name;
  TensorFunction value;
};

/// The loss is multiplied before its gradients are taken, so that small ones are numbers in f16
/// too, and the gradients are divided again. A step in which one of them is no finite number
/// changes nothing but the scale: neither parameters nor running statistics nor the optimiser's
/// memory and its count of updates. (`step` counts runs, and goes on.) Metrics: `scale`, with which
/// the step was made, and `skipped`, 1 or 0.
struct LossScale {
  double start = 65536;
  /// The scale times `growth` after so many steps without a skip, times `shrink` after each skip.
  double growth = 2, shrink = 0.5;
  int64_t interval = 2000;
  /// Bounds of it, so that it stays a number where gradients never overflow, or always do.
  double least = 0x1p-24, largest = 0x1p24;
};

struct StepOptions {
  /// Limits of the gradients' norm and elements; 0: none.
  double clipNorm = 0, clipValue = 0;
  /// The batch is taken in so many parts, one after another, of which the gradients are averaged:
  /// memory for activations shrinks, the code grows.
  int64_t microBatches = 1;
  std::vector<Metric> metrics = {};
  /// The batch is this process's, of a world of any size (dlc/collective.hpp): gradients, the loss
  /// and the metrics are averaged over the processes before anything is made of them (unscaling,
  /// clipping, the update), so that with a loss that is a mean over the batch, and batches of one
  /// size, all get what one process would with all of their batches. Statistics of batch norm are
  /// each process's own, and dropout draws other numbers in each.
  bool dataParallel = false;
  /// Batch norm has the mean and the variance of all processes' batches, with the gradient of that,
  /// and running statistics are the same everywhere: those of one process with all batches. With
  /// micro-batches they are those of all processes' micro-batches of one number, with chunks those
  /// of all chunks.
  bool syncBatchNorm = false;
  /// What gradients travel in between processes: f32, or bf16, in which they take half the bytes
  /// and have 8 significant bits. Sums are rounded to it at each process that adds to them; what
  /// follows (unscaling, clipping, the update) is of f32 again.
  DType gradients = DType::F32;
  /// The size of the world that the step is for, where what follows asks for one; 0: any.
  int64_t world = 0;
  /// Each rank keeps its share of the optimiser's memory, and updates its share of the parameters
  /// (optim::Optimizer::sharded).
  bool shardOptimizer = false;
  /// 0: what ranks add up depends on how many they are, by a rounding. Else the batches of all
  /// ranks together are so many chunks, of which each rank computes its own one by one
  /// (micro-batches that are not added before), and all are added in one order: worlds of every
  /// size that divides the chunks get the same bits.
  int64_t chunks = 0;
  /// For f16.
  std::optional<LossScale> lossScale = {};
  /// 0: losses and metrics are results of each step. Else they stay on the device, in a log of so
  /// many steps (the state `log`), and are fetched when it is full.
  int64_t log = 0;
  /// Of dropout's random numbers.
  uint64_t seed = 0;
  /// Of inputs and other things that nobody put anywhere, where devices are named.
  Device device = {};
  /// The program has the parameters' values with it (TraceOptions::starts).
  bool starts = true;
};

/// The parts in which a rank takes its batch.
int64_t partsOf(const StepOptions &options);
/// Why these options cannot be together; empty where they can.
std::string mistakeIn(const StepOptions &options);

/// What a step gives: `loss`, the metrics, and what loss scaling adds.
std::vector<std::string> figureNames(const StepOptions &options);

/// Traces the step. The network takes the first inputs, as many as its arity says; the loss (and
/// each metric) the network's result and the other inputs. Results are `loss` and the metrics'
/// names.
trace::Graph traceStep(const Network &network, const TensorFunction &loss,
                       const optim::Optimizer &optimizer, const std::vector<trace::Spec> &inputs,
                       const StepOptions &options = {},
                       trace::Location location = trace::Location::current());

} // namespace dlc

#endif // DLC_STEP_HPP
