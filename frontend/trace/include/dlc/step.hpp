//===- step.hpp - a complete training step as one traced program ----------===//
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

/// A traceable function of tensors that returns one tensor. `arity` is the number of its operands.
class TensorFunction {
public:
  using Function = std::function<trace::Tensor(const std::vector<trace::Tensor> &)>;

  TensorFunction(size_t arity, Function function) : arity(arity), function(std::move(function)) {}
  /// Wraps a callable that takes up to 16 tensors.
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
  /// Wraps a function of two operands, such as dlc::loss::cross_entropy.
  TensorFunction(trace::Tensor (*callable)(const trace::Operand &, const trace::Operand &))
      : arity(2), function([callable](const std::vector<trace::Tensor> &xs) {
          return callable(xs[0], xs[1]);
        }) {}

  size_t arity;
  Function function;
};

/// The model to train: a module (the copy shares its parameters), or any function of tensors that
/// uses parameters.
class Network : public TensorFunction {
public:
  using TensorFunction::TensorFunction;
  /// Whether the training step is data parallel over processes; sets StepOptions::dataParallel.
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

/// Makes the training step data parallel over the processes of the world, each with its own batch.
/// (For several devices of one process see dlc/parallel.hpp.)
inline Network data_parallel(Network network) {
  network.overProcesses = true;
  return network;
}

/// A metric: an additional scalar result of each step, computed from the network's result and the
/// loss's other inputs.
struct Metric {
  std::string name;
  TensorFunction value;
};

/// Dynamic loss scaling. The loss is multiplied by a scale before its gradients are taken, so that
/// small gradients do not underflow in f16, and the gradients are divided by the scale afterwards.
/// A step with a non-finite gradient changes only the scale: parameters, running statistics, the
/// optimizer's state and its update count remain unchanged. (`step` counts runs and is
/// incremented.) Adds the metrics `scale`, the scale used in the step, and `skipped`, 1 or 0.
struct LossScale {
  double start = 65536;
  /// The scale is multiplied by `growth` after `interval` consecutive steps with finite gradients,
  /// and by `shrink` after each skipped step.
  double growth = 2, shrink = 0.5;
  int64_t interval = 2000;
  /// Bounds of the scale, which keep it finite and non-zero even if gradients never or always
  /// overflow.
  double least = 0x1p-24, largest = 0x1p24;
};

struct StepOptions {
  /// Gradient clipping: limits of the gradients' global norm and of each element. 0 means no limit.
  double clipNorm = 0, clipValue = 0;
  /// Number of micro-batches into which the batch is split. They run one after another and their
  /// gradients are averaged. More micro-batches need less memory for activations and produce more
  /// code.
  int64_t microBatches = 1;
  std::vector<Metric> metrics = {};
  /// The batch belongs to this process of a world of any size (dlc/collective.hpp). Gradients, the
  /// loss and the metrics are averaged over the processes before unscaling, clipping and the
  /// update. If the loss is a mean over the batch and all batches have one size, every process gets
  /// the result of a single process with the concatenated batches. Each process has its own
  /// batch-norm statistics (unless `syncBatchNorm` is set) and draws different random numbers for
  /// dropout.
  bool dataParallel = false;
  /// Synchronized batch norm: computes mean and variance over the batches of all processes, with
  /// the matching gradient. Running statistics are equal in all processes, as in one process with
  /// the concatenated batches. With micro-batches the statistics cover the micro-batches of all
  /// processes with the same index; with chunks they cover all chunks.
  bool syncBatchNorm = false;
  /// Element type of the gradients that processes exchange: f32 or bf16. bf16 halves the traffic
  /// and has 8 significant bits; each process that adds to a sum rounds it to bf16. The operations
  /// after the exchange (unscaling, clipping, the update) use f32.
  DType gradients = DType::F32;
  /// World size that the step is compiled for. Required by some of the options below; 0 means any
  /// size.
  int64_t world = 0;
  /// Shards the optimizer: each rank keeps its share of the optimizer state and updates its share
  /// of the parameters (optim::Optimizer::sharded).
  bool shardOptimizer = false;
  /// Number of chunks of the global batch. With 0 the rounding of sums over ranks depends on the
  /// number of ranks. Otherwise each rank computes its chunks one by one, without adding them up,
  /// and all chunks are added in a fixed order. Then all world sizes that divide the number of
  /// chunks produce the same bits.
  int64_t chunks = 0;
  /// Dynamic loss scaling for f16. Absent means that the loss is not scaled.
  std::optional<LossScale> lossScale = {};
  /// Number of steps in a log of losses and metrics (the state `log`), which is stored on the
  /// device and fetched when it is full. If 0, losses and metrics are results of each step instead.
  int64_t log = 0;
  /// Seed of dropout's random numbers.
  uint64_t seed = 0;
  /// Device of inputs and other values without an explicit device. Used only if the traced
  /// functions name devices.
  Device device = {};
  /// Whether the parameters' initial values are stored in the program (TraceOptions::starts).
  bool starts = true;
};

/// Returns the number of parts (micro-batches or chunks) into which a rank splits its batch.
int64_t partsOf(const StepOptions &options);
/// Returns an error message if the options cannot be combined; otherwise an empty string.
std::string mistakeIn(const StepOptions &options);

/// Returns the names of a step's scalar results: `loss`, the metrics, and the metrics of loss
/// scaling.
std::vector<std::string> figureNames(const StepOptions &options);

/// Traces a training step. The network takes the first of the inputs, as many as its arity. The
/// loss and each metric take the network's result and the remaining inputs. The results of the
/// program are `loss` and one per metric, with the metric's name.
trace::Graph traceStep(const Network &network, const TensorFunction &loss,
                       const optim::Optimizer &optimizer, const std::vector<trace::Spec> &inputs,
                       const StepOptions &options = {},
                       trace::Location location = trace::Location::current());

} // namespace dlc

#endif // DLC_STEP_HPP
