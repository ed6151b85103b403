//===- nn_layers.hpp - standard neural-network layers ---------------------===//
#ifndef DLC_NN_LAYERS_HPP
#define DLC_NN_LAYERS_HPP

#include "dlc/nn.hpp"

namespace dlc::nn {

using trace::ConvOptions;
using trace::PoolOptions;

/// Linear layer: x weight^T + bias.
class Linear : public Module {
public:
  Linear(int64_t in, int64_t out, bool withBias = true);
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
};

/// Convolution with 1 to 3 spatial dimensions. `window` has one entry per spatial dimension.
class ConvNd : public Module {
public:
  ConvNd(int64_t rank, int64_t in, int64_t out, Dims window, ConvOptions options, bool withBias);
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
  ConvOptions options;
};
class Conv1d : public ConvNd {
public:
  Conv1d(int64_t in, int64_t out, Dims window, ConvOptions options = {}, bool withBias = true)
      : ConvNd(1, in, out, std::move(window), std::move(options), withBias) {}
};
class Conv2d : public ConvNd {
public:
  Conv2d(int64_t in, int64_t out, Dims window, ConvOptions options = {}, bool withBias = true)
      : ConvNd(2, in, out, std::move(window), std::move(options), withBias) {}
};
class Conv3d : public ConvNd {
public:
  Conv3d(int64_t in, int64_t out, Dims window, ConvOptions options = {}, bool withBias = true)
      : ConvNd(3, in, out, std::move(window), std::move(options), withBias) {}
};

class ConvTranspose2d : public Module {
public:
  ConvTranspose2d(int64_t in, int64_t out, Dims window, ConvOptions options = {},
                  Dims outputPadding = 0, bool withBias = true);
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
  ConvOptions options;
  Dims outputPadding;
};

/// Batch normalization. Training normalizes by the batch's statistics and updates the running
/// statistics with weight `momentum` (using the unbiased variance). Inference normalizes by the
/// running statistics.
class BatchNorm : public Module {
public:
  explicit BatchNorm(int64_t features, double eps = 1e-5, double momentum = 0.1);
  Tensor forward(Tensor x) override;
  Parameter weight, bias, runningMean, runningVar, batches;
  double eps, momentum;
};
class BatchNorm1d : public BatchNorm {
public:
  using BatchNorm::BatchNorm;
};
class BatchNorm2d : public BatchNorm {
public:
  using BatchNorm::BatchNorm;
};

/// Layer normalization over the last dimensions, whose sizes are given.
class LayerNorm : public Module {
public:
  explicit LayerNorm(Dims shape, double eps = 1e-5, bool affine = true);
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
  double eps;
  int64_t dims;
};
class RMSNorm : public Module {
public:
  explicit RMSNorm(Dims shape, double eps = 1e-5);
  Tensor forward(Tensor x) override;
  Parameter weight;
  double eps;
  int64_t dims;
};
class GroupNorm : public Module {
public:
  GroupNorm(int64_t groups, int64_t features, double eps = 1e-5);
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
  int64_t groups;
  double eps;
};

/// Looks up rows of a table by integer indices.
class Embedding : public Module {
public:
  Embedding(int64_t count, int64_t width);
  Tensor forward(Tensor indices) override;
  Parameter weight;
};

struct RecurrentOptions {
  int64_t layers = 1;
  bool bidirectional = false;
  /// Whether x is [N, T, I] instead of [T, N, I]. The result has the same layout as x.
  bool batchFirst = false;
  bool bias = true;
  /// Probability of the dropout between layers, in training.
  double dropout = 0;
};

/// Layers of long short-term memory (LSTM), with PyTorch's parameters and gate order. forward()
/// returns the last layer's outputs.
class LSTM : public Module {
public:
  LSTM(int64_t in, int64_t hidden, RecurrentOptions options = {});
  Tensor forward(Tensor x) override;
  /// Runs all layers on x and returns the outputs and final states. States are [layers *
  /// directions, N, H]; absent initial states are zeros.
  trace::RecurrentResult run(const Operand &x, const Tensor &h0 = {}, const Tensor &c0 = {});

private:
  int64_t hidden;
  RecurrentOptions options;
  std::vector<Parameter> weights;
};
class GRU : public Module {
public:
  GRU(int64_t in, int64_t hidden, RecurrentOptions options = {});
  Tensor forward(Tensor x) override;
  trace::RecurrentResult run(const Operand &x, const Tensor &h0 = {});

private:
  int64_t hidden;
  RecurrentOptions options;
  std::vector<Parameter> weights;
};

/// Multi-head attention on x [N, T, width] (PyTorch's `batch_first`). forward(x) is self-attention.
class MultiheadAttention : public Module {
public:
  MultiheadAttention(int64_t width, int64_t heads, bool withBias = true);
  Tensor forward(Tensor x) override;
  /// Attention with a mask that broadcasts to [N, heads, T, S]. A bool mask hides positions that
  /// are false; a float mask is added to the scores.
  Tensor attend(const Operand &query, const Operand &key, const Operand &value,
                const Tensor &mask = {}, bool causal = false);
  Parameter inProjWeight, inProjBias;
  Linear outProj;
  int64_t width, heads;
};

class MaxPool2d : public Module {
public:
  explicit MaxPool2d(Dims window, PoolOptions options = {});
  Tensor forward(Tensor x) override;
  Dims window;
  PoolOptions options;
};
class AvgPool2d : public Module {
public:
  explicit AvgPool2d(Dims window, PoolOptions options = {});
  Tensor forward(Tensor x) override;
  Dims window;
  PoolOptions options;
};
class AdaptiveAvgPool2d : public Module {
public:
  explicit AdaptiveAvgPool2d(Dims size = 1);
  Tensor forward(Tensor x) override;
  Dims size;
};

/// Dropout in training. Does nothing in inference.
class Dropout : public Module {
public:
  explicit Dropout(double probability = 0.5);
  Tensor forward(Tensor x) override;
  double probability;
};
class Flatten : public Module {
public:
  explicit Flatten(int64_t start = 1, int64_t end = -1);
  Tensor forward(Tensor x) override;
  int64_t start, end;
};
class Identity : public Module {
public:
  Tensor forward(Tensor x) override { return x; }
};

/// A module without parameters that applies a function of one tensor.
class Apply : public Module {
public:
  using Function = Tensor (*)(const Operand &);
  explicit Apply(Function function);
  Tensor forward(Tensor x) override;

private:
  Function function;
};
inline Apply ReLU() { return Apply(trace::relu); }
inline Apply ReLU6() { return Apply(trace::relu6); }
inline Apply Sigmoid() { return Apply(trace::sigmoid); }
inline Apply Tanh() { return Apply(trace::tanh); }
inline Apply SiLU() { return Apply(trace::silu); }
inline Apply Hardswish() { return Apply(trace::hardswish); }
/// GELU by its exact definition with erf, not the tanh approximation.
inline Apply GELU() {
  return Apply([](const Operand &x) { return trace::gelu(x); });
}

/// A sequence of modules, which are named 0, 1, ....
class Sequential : public Module {
public:
  Sequential() = default;
  template <std::derived_from<Module>... M>
  requires(sizeof...(M) > 0 && !(sizeof...(M) == 1 && (std::same_as<M, Sequential> &&
                                                       ...))) explicit Sequential(M... parts) {
    (append(std::move(parts)), ...);
  }
  template <std::derived_from<Module> M> void append(M part) {
    appendPart(std::make_shared<M>(std::move(part)));
  }
  Tensor forward(Tensor x) override;
  size_t size() const { return parts.size(); }
  Module &operator[](size_t index) { return *parts.at(index); }

private:
  void appendPart(std::shared_ptr<Module> part);
  std::vector<std::shared_ptr<Module>> parts;
};

} // namespace dlc::nn

#endif // DLC_NN_LAYERS_HPP
