//===- RecurrentLayers.cpp - LSTM, GRU: PyTorch's parameters, dlc's gates ---===//
#include "frontend/trace/State.h"

#include <cstring>

namespace dlc::nn {

using trace::Call;
using trace::RecurrentResult;
using trace::State;

namespace {
/// One recurrent layer's parameters: per direction the weights of x and of h, and the two biases
/// (or none).
std::vector<Parameter> layerParameters(const std::vector<Parameter> &all,
                                       const RecurrentOptions &options, int64_t layer,
                                       size_t which) {
  size_t each = options.bias ? 4 : 2, directions = options.bidirectional ? 2 : 1;
  std::vector<Parameter> found;
  for (size_t d = 0; d < directions; ++d)
    found.push_back(all[(size_t(layer) * directions + d) * each + which]);
  return found;
}

std::vector<std::pair<std::string, Shape>> namedShapes(int64_t in, int64_t hidden, int64_t gates,
                                                       const RecurrentOptions &options) {
  if (in < 1 || hidden < 1 || options.layers < 1)
    throw Error("LSTM, GRU: sizes and the number of layers must be 1 or more; found " +
                std::to_string(in) + ", " + std::to_string(hidden) + " and " +
                std::to_string(options.layers));
  std::vector<std::pair<std::string, Shape>> shapes;
  int64_t directions = options.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < options.layers; ++layer)
    for (int64_t d = 0; d < directions; ++d) {
      std::string end = "_l" + std::to_string(layer) + (d ? "_reverse" : "");
      shapes.push_back({"weight_ih" + end, {gates * hidden, layer ? hidden * directions : in}});
      shapes.push_back({"weight_hh" + end, {gates * hidden, hidden}});
      if (options.bias) {
        shapes.push_back({"bias_ih" + end, {gates * hidden}});
        shapes.push_back({"bias_hh" + end, {gates * hidden}});
      }
    }
  return shapes;
}

/// Puts parameters [G*H, ..] into one array [D, parts*G*H, ..] with the gates in the dialect's
/// order. `from` holds the parts of the first direction, then of the second.
Array reordered(llvm::ArrayRef<Array> from, size_t directions, llvm::ArrayRef<int64_t> order) {
  Shape shape = from[0].shape;
  size_t parts = from.size() / directions, block = from[0].bytes() / order.size();
  shape[0] *= int64_t(parts);
  shape.insert(shape.begin(), int64_t(directions));
  void *memory;
  Array array = Array::zeros(from[0].dtype, shape, &memory);
  char *to = static_cast<char *>(memory);
  for (const Array &each : from)
    for (int64_t gate : order) {
      std::memcpy(to, each.as<char>() + size_t(gate) * block, block);
      to += block;
    }
  return array;
}

/// The same as operations, where parameters are arguments.
Tensor reorderedInside(const std::vector<Parameter> &from, size_t directions,
                       llvm::ArrayRef<int64_t> order) {
  size_t parts = from.size() / directions;
  int64_t hidden = from[0].shape()[0] / int64_t(order.size());
  std::vector<Tensor> rows;
  for (size_t d = 0; d < directions; ++d) {
    std::vector<Tensor> blocks;
    for (size_t p = 0; p < parts; ++p)
      for (int64_t gate : order)
        blocks.push_back(trace::narrow(from[d * parts + p], 0, gate * hidden, hidden));
    rows.push_back(trace::unsqueeze(trace::cat(blocks, 0), 0));
  }
  return trace::cat(rows, 0);
}

Tensor gates(Call &call, const std::vector<Parameter> &from, size_t directions,
             llvm::ArrayRef<int64_t> order) {
  State &state = call.state();
  if (state.parametersAsArguments)
    return reorderedInside(from, directions, order);
  return state.tensor(state.derived(from, ".gates", [&](llvm::ArrayRef<Array> arrays) {
    return reordered(arrays, directions, order);
  }));
}

/// Runs all layers; `cell` runs one on x, w, r, b, h0 and c0.
template <typename Cell>
RecurrentResult stacked(const char *name, const Operand &given, const Tensor &h0, const Tensor &c0,
                        const std::vector<Parameter> &weights, const RecurrentOptions &options,
                        int64_t hidden, llvm::ArrayRef<int64_t> order, Cell cell) {
  Call call(name, {&given});
  Tensor x = call.tensor(call.value(given));
  if (x.rank() != 3)
    call.fail("x must be ", options.batchFirst ? "[N, T, I]" : "[T, N, I]", "; found ",
              call.type(given));
  call.wantStatic(call.type(given), "in a recurrent layer");
  int64_t wanted = weights[0].shape()[1];
  if (x.dim(2) != wanted)
    call.fail("the last dimension of x must be the layer's ", wanted, " input features; found ",
              call.type(given));
  if (options.batchFirst)
    x = transpose(x, 0, 1);
  size_t directions = options.bidirectional ? 2 : 1;
  int64_t d = int64_t(directions), n = x.dim(1);
  std::vector<Tensor> lastH, lastC;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    Tensor w = gates(call, layerParameters(weights, options, layer, 0), directions, order);
    Tensor r = gates(call, layerParameters(weights, options, layer, 1), directions, order);
    Tensor b;
    if (options.bias) {
      std::vector<Parameter> ofX = layerParameters(weights, options, layer, 2);
      std::vector<Parameter> ofH = layerParameters(weights, options, layer, 3), both;
      for (size_t i = 0; i < directions; ++i)
        both.insert(both.end(), {ofX[i], ofH[i]});
      b = gates(call, both, directions, order);
    } else {
      b = trace::zeros({d, 2 * int64_t(order.size()) * hidden}, x.dtype());
    }
    auto start = [&](const Tensor &states) {
      return states ? trace::narrow(states, 0, layer * d, d)
                    : trace::zeros({d, n, hidden}, x.dtype());
    };
    RecurrentResult result = cell(x, w, r, b, start(h0), c0);
    lastH.push_back(result.h);
    if (result.c)
      lastC.push_back(result.c);
    // [T, D, N, H] to [T, N, D * H].
    x = d == 1 ? squeeze(result.y, 1)
               : reshape(permute(result.y, {0, 2, 1, 3}), {x.dim(0), n, d * hidden});
  }
  if (options.batchFirst)
    x = transpose(x, 0, 1);
  return {x, cat(lastH, 0), lastC.empty() ? Tensor() : cat(lastC, 0)};
}

// Where PyTorch keeps the gates that the dialect wants: i o f c of i f c o, and z r h of r z h.
constexpr int64_t lstmOrder[] = {0, 3, 1, 2};
constexpr int64_t gruOrder[] = {1, 0, 2};
} // namespace

LSTM::LSTM(int64_t in, int64_t hidden, RecurrentOptions options)
    : hidden(hidden), options(options) {
  markLayer();
  for (auto &[name, shape] : namedShapes(in, hidden, 4, options))
    weights.push_back(parameter(name, shape, Init::fanIn(hidden)));
}

RecurrentResult LSTM::run(const Operand &x, const Tensor &h0, const Tensor &c0) {
  Scope scope(*this, x);
  trace::Direction direction =
      options.bidirectional ? trace::Direction::Both : trace::Direction::Forward;
  int64_t layer = 0, d = options.bidirectional ? 2 : 1;
  return stacked("LSTM", x, h0, c0, weights, options, hidden, lstmOrder,
                 [&](const Tensor &in, const Tensor &w, const Tensor &r, const Tensor &b,
                     const Tensor &h, const Tensor &states) {
                   Tensor c = states ? trace::narrow(states, 0, layer * d, d) : h;
                   // Both states start from zeros unless given.
                   if (!states && h0)
                     c = trace::zeros(h.shape(), h.dtype());
                   ++layer;
                   return trace::lstm(in, w, r, b, h, c, direction);
                 });
}
Tensor LSTM::forward(Tensor x) { return run(x).y; }

GRU::GRU(int64_t in, int64_t hidden, RecurrentOptions options) : hidden(hidden), options(options) {
  markLayer();
  for (auto &[name, shape] : namedShapes(in, hidden, 3, options))
    weights.push_back(parameter(name, shape, Init::fanIn(hidden)));
}

RecurrentResult GRU::run(const Operand &x, const Tensor &h0) {
  Scope scope(*this, x);
  trace::Direction direction =
      options.bidirectional ? trace::Direction::Both : trace::Direction::Forward;
  return stacked("GRU", x, h0, {}, weights, options, hidden, gruOrder,
                 [&](const Tensor &in, const Tensor &w, const Tensor &r, const Tensor &b,
                     const Tensor &h,
                     const Tensor &) { return trace::gru(in, w, r, b, h, direction); });
}
Tensor GRU::forward(Tensor x) { return run(x).y; }

} // namespace dlc::nn
