//===- trace.hpp - traces C++ functions on symbolic tensors into programs --===//
//
// A function that is called once on symbolic tensors becomes a program of the dlc dialect. Each
// operation records the source line of its call. Numbers can be mixed with tensors, shapes
// broadcast as in NumPy, and negative dimensions count from the end. An invalid operand throws a
// dlc::Error at the call; the message says what is required, what was found and how to fix it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_TRACE_HPP
#define DLC_TRACE_HPP

#include "dlc/trace_tensor.hpp"

#include <functional>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace dlc::trace {

// Elementwise operations, which broadcast their operands as in NumPy.
Tensor operator+(const Operand &a, const Operand &b);
Tensor operator-(const Operand &a, const Operand &b);
Tensor operator*(const Operand &a, const Operand &b);
Tensor operator/(const Operand &a, const Operand &b);
/// Remainder of the division, with the sign of the divisor b.
Tensor operator%(const Operand &a, const Operand &b);
Tensor operator-(const Operand &x);
/// Negation: logical for bool, bitwise for integers.
Tensor logical_not(const Operand &x);
Tensor operator~(const Operand &x);
/// And, or, exclusive or: bitwise for integers, logical for bool.
Tensor operator&(const Operand &a, const Operand &b);
Tensor operator|(const Operand &a, const Operand &b);
Tensor operator^(const Operand &a, const Operand &b);
Tensor operator<<(const Operand &a, const Operand &b);
Tensor operator>>(const Operand &a, const Operand &b);
Tensor operator==(const Operand &a, const Operand &b);
Tensor operator!=(const Operand &a, const Operand &b);
Tensor operator<(const Operand &a, const Operand &b);
Tensor operator<=(const Operand &a, const Operand &b);
Tensor operator>(const Operand &a, const Operand &b);
Tensor operator>=(const Operand &a, const Operand &b);
Tensor pow(const Operand &a, const Operand &b);
/// Angle of the point (x, y) = (b, a) in radians, in the correct quadrant (as std::atan2).
Tensor atan2(const Operand &a, const Operand &b);
/// Remainder of the division, with the sign of the dividend a (as std::fmod).
Tensor fmod(const Operand &a, const Operand &b);
Tensor maximum(const Operand &a, const Operand &b);
Tensor minimum(const Operand &a, const Operand &b);
Tensor where(const Operand &condition, const Operand &a, const Operand &b);
Tensor clamp(const Operand &x, double low, double high);
Tensor cast(const Operand &x, DType dtype);

Tensor abs(const Operand &x);
Tensor sign(const Operand &x);
Tensor exp(const Operand &x);
Tensor expm1(const Operand &x);
Tensor log(const Operand &x);
Tensor log1p(const Operand &x);
Tensor sqrt(const Operand &x);
Tensor rsqrt(const Operand &x);
Tensor sin(const Operand &x);
Tensor cos(const Operand &x);
Tensor tan(const Operand &x);
Tensor asin(const Operand &x);
Tensor acos(const Operand &x);
Tensor atan(const Operand &x);
Tensor sinh(const Operand &x);
Tensor cosh(const Operand &x);
Tensor tanh(const Operand &x);
Tensor asinh(const Operand &x);
Tensor acosh(const Operand &x);
Tensor atanh(const Operand &x);
Tensor erf(const Operand &x);
Tensor erfc(const Operand &x);
Tensor erfinv(const Operand &x);
Tensor ceil(const Operand &x);
Tensor floor(const Operand &x);
Tensor round(const Operand &x);
Tensor is_nan(const Operand &x);
Tensor is_inf(const Operand &x);
Tensor square(const Operand &x);
Tensor reciprocal(const Operand &x);

Tensor relu(const Operand &x);
Tensor relu6(const Operand &x);
Tensor leaky_relu(const Operand &x, double slope = 0.01);
Tensor elu(const Operand &x, double alpha = 1);
Tensor sigmoid(const Operand &x);
Tensor silu(const Operand &x);
Tensor hardsigmoid(const Operand &x);
Tensor hardswish(const Operand &x);
Tensor softplus(const Operand &x);
Tensor gelu(const Operand &x, bool approximate = false);

// Constants.
Tensor full(Shape shape, double value, DType dtype = DType::F32,
            Location location = Location::current());
Tensor zeros(Shape shape, DType dtype = DType::F32, Location location = Location::current());
Tensor ones(Shape shape, DType dtype = DType::F32, Location location = Location::current());
/// Returns a vector of the integers 0, 1, ..., size - 1.
Tensor arange(int64_t size, DType dtype = DType::I64, Location location = Location::current());
Tensor constant(Array value, std::string_view name = "constant",
                Location location = Location::current());

// Operations that move elements. One size of a reshape may be -1; it is inferred from the others.
Tensor reshape(const Operand &x, Shape shape);
Tensor flatten(const Operand &x, int64_t start = 0, int64_t end = -1);
Tensor squeeze(const Operand &x, int64_t dim);
Tensor unsqueeze(const Operand &x, int64_t dim);
Tensor transpose(const Operand &x, int64_t a, int64_t b);
Tensor permute(const Operand &x, Dims permutation);
Tensor broadcast_to(const Operand &x, Shape shape);
Tensor cat(const Operands &xs, int64_t dim = 0);
Tensor stack(const Operands &xs, int64_t dim = 0);
/// Slices x along one dimension: the elements start, start + step, ... before stop. Negative
/// indices count from the end.
Tensor slice(const Operand &x, int64_t dim, int64_t start,
             int64_t stop = std::numeric_limits<int64_t>::max(), int64_t step = 1);
Tensor narrow(const Operand &x, int64_t dim, int64_t start, int64_t length);
/// Selects one index of x along a dimension and removes the dimension.
Tensor select(const Operand &x, int64_t dim, int64_t index);
std::vector<Tensor> chunk(const Operand &x, int64_t chunks, int64_t dim = 0);
Tensor flip(const Operand &x, int64_t dim);
enum class PadMode { Constant, Reflect, Edge, Wrap };
/// Pads x by `low` elements at the start and `high` elements at the end of each dimension. Negative
/// padding removes elements.
Tensor pad(const Operand &x, Dims low, Dims high, const Operand &value = 0,
           PadMode mode = PadMode::Constant);

// Gather and scatter operations.
Tensor index_select(const Operand &x, int64_t dim, const Operand &indices);
Tensor embedding(const Operand &indices, const Operand &table);
Tensor gather(const Operand &x, int64_t dim, const Operand &indices);
Tensor gather_nd(const Operand &x, const Operand &indices, int64_t batchDims = 0);
enum class ScatterMode { Set, Add, Mul, Max, Min };
Tensor scatter(const Operand &x, int64_t dim, const Operand &indices, const Operand &updates,
               ScatterMode mode = ScatterMode::Set);
Tensor scatter_nd(const Operand &x, const Operand &indices, const Operand &updates,
                  ScatterMode mode = ScatterMode::Set);

// Reductions over the dimensions `dims`. An empty list means all dimensions.
Tensor sum(const Operand &x, Dims dims = {}, bool keepdims = false);
Tensor mean(const Operand &x, Dims dims = {}, bool keepdims = false);
Tensor max(const Operand &x, Dims dims = {}, bool keepdims = false);
Tensor min(const Operand &x, Dims dims = {}, bool keepdims = false);
Tensor prod(const Operand &x, Dims dims = {}, bool keepdims = false);
/// Population variance: the sum of squared deviations is divided by the number of elements.
Tensor variance(const Operand &x, Dims dims = {}, bool keepdims = false);
Tensor argmax(const Operand &x, int64_t dim, bool keepdims = false);
Tensor argmin(const Operand &x, int64_t dim, bool keepdims = false);
Tensor cumsum(const Operand &x, int64_t dim);
Tensor cumprod(const Operand &x, int64_t dim);
struct TopK {
  Tensor values, indices;
};
TopK topk(const Operand &x, int64_t k, int64_t dim = -1, bool largest = true);

// Contractions. `linear` is x w^T + bias with w [out, in], as in PyTorch.
Tensor matmul(const Operand &a, const Operand &b, bool transposeA = false, bool transposeB = false);
Tensor linear(const Operand &x, const Operand &weight, const Operand &bias = Tensor());

/// Options of convolutions, with one entry per spatial dimension; a single number applies to all of
/// them. `padding` is added on both sides, unless `high` sets the padding at the end.
struct ConvOptions {
  Dims stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  Dims high = {};
};
/// Convolution of x [N, C, spatial..] with weights [O, C/groups, window..], for 1 to 3 spatial
/// dimensions.
Tensor conv(const Operand &x, const Operand &weight, const Operand &bias = Tensor(),
            const ConvOptions &options = {});
Tensor conv2d(const Operand &x, const Operand &weight, const Operand &bias = Tensor(),
              const ConvOptions &options = {});
/// Transposed convolution with weights [C, O/groups, window..]. `extra` lengthens the result at the
/// end (`output_padding`).
Tensor conv_transpose(const Operand &x, const Operand &weight, const Operand &bias = Tensor(),
                      const ConvOptions &options = {}, Dims extra = 0);

struct PoolOptions {
  /// Strides of the window. The default is the window size.
  Dims stride = {};
  Dims padding = 0, dilation = 1;
  /// Padding at the end. The default is `padding`, which applies to both sides.
  Dims high = {};
  /// Whether the result size is rounded up instead of down (`ceil_mode`).
  bool ceilMode = false;
  /// Whether average pooling counts padding as elements (`count_include_pad`).
  bool countPadding = true;
};
Tensor max_pool(const Operand &x, Dims window, const PoolOptions &options = {});
Tensor avg_pool(const Operand &x, Dims window, const PoolOptions &options = {});
Tensor max_pool2d(const Operand &x, Dims window, const PoolOptions &options = {});
Tensor avg_pool2d(const Operand &x, Dims window, const PoolOptions &options = {});
/// Adaptive average pooling to the given result size, which must divide the input size.
Tensor adaptive_avg_pool2d(const Operand &x, Dims size);

// Normalization and attention.
Tensor softmax(const Operand &x, int64_t dim = -1);
Tensor log_softmax(const Operand &x, int64_t dim = -1);
/// Layer normalization over the last `dims` dimensions.
Tensor layer_norm(const Operand &x, const Operand &scale = Tensor(), const Operand &bias = Tensor(),
                  double eps = 1e-5, int64_t dims = 1);
Tensor rms_norm(const Operand &x, const Operand &scale = Tensor(), double eps = 1e-5,
                int64_t dims = 1);
Tensor batch_norm(const Operand &x, const Operand &scale, const Operand &bias, const Operand &mean,
                  const Operand &variance, double eps = 1e-5);
/// Batch norm with the batch's own mean and population variance, which are also returned.
struct BatchNormResult {
  Tensor y, mean, variance;
};
BatchNormResult batch_norm_train(const Operand &x, const Operand &scale, const Operand &bias,
                                 double eps = 1e-5);
Tensor group_norm(const Operand &x, int64_t groups, const Operand &scale = Tensor(),
                  const Operand &bias = Tensor(), double eps = 1e-5);
Tensor local_response_norm(const Operand &x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double k = 1);
/// Scaled dot-product attention: softmax(scale q k^T + mask) v for q [.., T, D], k [.., S, D] and v
/// [.., S, E]. A scale of 0 means 1 / sqrt(D).
Tensor attention(const Operand &q, const Operand &k, const Operand &v,
                 const Operand &mask = Tensor(), bool causal = false, double scale = 0);

/// Outputs y and final states h and c of one recurrent layer. Its operands have the dialect's
/// layouts: x [T, N, I], w [D, G*H, I], r [D, G*H, H], b [D, 2*G*H], h0 (and c0) [D, N, H]. LSTM
/// gates are in the order i o f c, GRU gates in the order z r h.
struct RecurrentResult {
  Tensor y, h, c;
};
enum class Direction { Forward, Reverse, Both };
RecurrentResult lstm(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                     const Operand &h0, const Operand &c0,
                     Direction direction = Direction::Forward);
RecurrentResult gru(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                    const Operand &h0, Direction direction = Direction::Forward,
                    bool linearBeforeReset = true);
RecurrentResult rnn(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                    const Operand &h0, Direction direction = Direction::Forward,
                    bool useRelu = false);

/// If-then-else on a condition known only at run time. Both functions must return the same number
/// of tensors with the same types, and may use any tensor of the enclosing trace.
std::vector<Tensor> cond(const Operand &condition, const std::function<std::vector<Tensor>()> &then,
                         const std::function<std::vector<Tensor>()> &otherwise);
/// Loop that runs the body `trips` times. body(iteration, carried) returns the carried tensors of
/// the next iteration, which must have the same types.
std::vector<Tensor>
repeat(const Operand &trips, const Operands &carried,
       const std::function<std::vector<Tensor>(Tensor, std::vector<Tensor>)> &body);

/// Name, shape and type of an input of the program.
struct Spec {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  /// Device of the input; the trace's default device if absent.
  std::optional<Device> device = {};
};
/// Adds one input to the program, after the inputs that were passed to trace().
Tensor input(const Spec &spec, Location location = Location::current());

/// Gradients of a one-element loss with respect to the tensors or parameters `xs`. If the loss does
/// not depend on one of them, its gradient is zeros if `allowUnused` is set; otherwise that is an
/// error.
std::vector<Tensor> grad(const Operand &loss, const Operands &xs, bool allowUnused = false);
/// Gradients with respect to `xs` as a sum of vector-Jacobian products: the tensors ys may have any
/// shape, and each has a seed of the same shape.
std::vector<Tensor> grad(const Operands &ys, const Operands &seeds, const Operands &xs,
                         bool allowUnused = false);
/// Returns the parameters (without buffers) that a value depends on, in the order of their first
/// use.
std::vector<Parameter> parametersOf(const Operand &value);

/// Scope in which traced operations, and their gradients, are computed in the given type (F32, BF16
/// or F16). It overrides the precision with which the program is compiled.
class Precision {
public:
  explicit Precision(DType dtype, Location location = Location::current());
  ~Precision();
  Precision(const Precision &) = delete;
  Precision &operator=(const Precision &) = delete;

private:
  State *state;
};

// State: values that a program retains from one run to the next (TraceOptions::state).
/// Sets the parameter's value after this run. Later reads in the trace return the new value.
void assign(const Parameter &parameter, const Operand &value);
/// Returns a state variable that belongs to no module and whose elements have the initial value
/// `start`. Equal names denote the same variable.
Parameter variable(const std::string &name, Shape shape, DType dtype = DType::F32, double start = 0,
                   Location location = Location::current());
/// Returns the number of earlier runs of the program as a 0-d i64. The program increments this
/// state, named `step`, in each run.
Tensor step_count(Location location = Location::current());

// Random numbers. Equal seeds and counters give the same bits on every machine.
/// Uniform random numbers in [0, 1). The counter is a 0-d i64.
Tensor random_uniform(Shape shape, const Operand &counter, int64_t seed, DType dtype = DType::F32);
/// Random numbers of the standard normal distribution. The counter is a 0-d i64.
Tensor random_normal(Shape shape, const Operand &counter, int64_t seed, DType dtype = DType::F32);
/// Sets each element of x to 0 with the given probability and divides the others by 1 -
/// probability. Each run and each call draws a different mask.
Tensor dropout(const Operand &x, double probability);

struct TraceOptions {
  /// Names of the results, in order. By default `y` for one result, or `y0`, `y1`, ... for several.
  std::vector<std::string> outputs = {};
  /// Whether parameters become arguments of @main, after the inputs and with their names in the
  /// attribute `dlc.parameter`. Otherwise parameters are constants that refer to the parameters'
  /// memory.
  bool parametersAsArguments = false;
  /// Whether parameters and variables become state: arguments of @main with the attribute
  /// `dlc.state` and their initial value in `dlc.init`. Each state that assign() changes has a
  /// result of the same name.
  bool state = false;
  /// Whether the initial values of the state are stored in the program. Not needed if another model
  /// provides the state.
  bool starts = true;
  /// Whether layers on which neither train() nor eval() was called are in training mode.
  bool training = false;
  /// Seed of dropout's random numbers.
  uint64_t seed = 0;
  /// Device of tensors and parameters without an explicit device, if the trace names devices. If
  /// the trace names no device, devices are assigned when it is compiled.
  Device device = {};
};

/// A traced program. To compile the program, move the graph into the compiling function.
class Graph {
public:
  struct Impl;
  explicit Graph(std::unique_ptr<Impl> impl);
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;
  ~Graph();

  /// Returns the program as MLIR text, optionally with source locations.
  std::string text(bool locations = false) const;
  /// Verifies the whole program. Throws a dlc::Error if the program is invalid.
  void verify() const;
  /// Returns the parameters that became arguments of @main, in the order of the arguments.
  std::vector<Parameter> parameters() const;
  Impl &getImpl() const { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

/// Calls the function once on symbolic tensors with the shapes and types of `inputs`, and returns
/// the traced program.
Graph traceFunction(const Function &function, const std::vector<Spec> &inputs,
                    const TraceOptions &options = {}, Location location = Location::current());

namespace detail {
template <typename F, typename Indices> struct TakesTensors;
template <typename F, size_t... I> struct TakesTensors<F, std::index_sequence<I...>> {
  template <size_t> using One = Tensor;
  static constexpr bool value = std::is_invocable_v<F &, One<I>...>;
};
/// Returns the number of tensors that a callable takes: the smallest valid count up to 16, or 17 if
/// there is none.
template <typename F, size_t N = 0> constexpr size_t tensorArity() {
  if constexpr (N > 16)
    return N;
  else if constexpr (TakesTensors<F, std::make_index_sequence<N>>::value)
    return N;
  else
    return tensorArity<F, N + 1>();
}
inline std::vector<Tensor> listOf(Tensor tensor) { return {std::move(tensor)}; }
inline std::vector<Tensor> listOf(std::vector<Tensor> tensors) { return tensors; }
template <typename... T> std::vector<Tensor> listOf(const std::tuple<T...> &tensors) {
  return std::apply([](const auto &...each) { return std::vector<Tensor>{each...}; }, tensors);
}
inline std::vector<Tensor> listOf(const std::pair<Tensor, Tensor> &tensors) {
  return {tensors.first, tensors.second};
}
[[noreturn]] void wrongArity(size_t takes, size_t inputs, Location location);
} // namespace detail

/// Traces any callable that takes up to 16 tensors (or one std::vector<Tensor>) and returns a
/// Tensor, or a pair, tuple or vector of tensors.
template <typename F>
Graph trace(F &&function, const std::vector<Spec> &inputs, const TraceOptions &options = {},
            Location location = Location::current()) {
  constexpr size_t arity = detail::tensorArity<F>();
  if constexpr (arity > 16) {
    static_assert(std::is_invocable_v<F &, const std::vector<Tensor> &>,
                  "trace() requires a callable with up to 16 dlc::trace::Tensor parameters, or one "
                  "std::vector of them");
    return traceFunction(
        [&](const std::vector<Tensor> &xs) { return detail::listOf(function(xs)); }, inputs,
        options, location);
  } else {
    if (inputs.size() != arity)
      detail::wrongArity(arity, inputs.size(), location);
    return traceFunction(
        [&](const std::vector<Tensor> &xs) {
          return [&]<size_t... I>(std::index_sequence<I...>) {
            return detail::listOf(function(xs[I]...));
          }
          (std::make_index_sequence<arity>());
        },
        inputs, options, location);
  }
}

} // namespace dlc::trace

#endif // DLC_TRACE_HPP
