//===- RecurrentLayers.cpp - LSTM, GRU: PyTorch's parameters, dlc's gates ---===//
#include "frontend/trace/State.h"

#include <cstring>

namespace dlc::nn {

using trace::ApiCall;
using trace::RecurrentResult;
using trace::State;

namespace {
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

/// Concatenates parameters [G*H, ..] into one array [1, parts*G*H, ..] and reorders the gates from
/// PyTorch's to the dialect's order.
Array reorderGates(llvm::ArrayRef<Array> parts, llvm::ArrayRef<int64_t> order) {
  Shape shape = parts[0].shape;
  size_t block = parts[0].bytes() / order.size();
  shape[0] *= int64_t(parts.size());
  shape.insert(shape.begin(), 1);
  void *memory;
  Array array = Array::zeros(parts[0].dtype, shape, &memory);
  char *to = static_cast<char *>(memory);
  for (const Array &part : parts)
    for (int64_t gate : order) {
      std::memcpy(to, part.as<char>() + size_t(gate) * block, block);
      to += block;
    }
  return array;
}

/// Concatenates parameters and reorders their gates by traced operations. Used if parameters are
/// function arguments, whose elements are not known when the function is traced.
Tensor traceGateReorder(llvm::ArrayRef<Parameter> parts, llvm::ArrayRef<int64_t> order) {
  int64_t hidden = parts[0].shape()[0] / int64_t(order.size());
  std::vector<Tensor> blocks;
  for (const Parameter &part : parts)
    for (int64_t gate : order)
      blocks.push_back(trace::narrow(part, 0, gate * hidden, hidden));
  return trace::unsqueeze(trace::cat(blocks, 0), 0);
}

Tensor stackGateParameters(ApiCall &call, llvm::ArrayRef<Parameter> parts,
                           llvm::ArrayRef<int64_t> order) {
  State &state = call.state();
  if (state.parametersAsArguments)
    return traceGateReorder(parts, order);
  return state.tensor(state.derived(
      parts, ".gates", [&](llvm::ArrayRef<Array> arrays) { return reorderGates(arrays, order); }));
}

/// Builds all layers of a recurrent network. `cell` builds one layer in one direction from x, w, r,
/// b, h0 and c0 (which only an LSTM uses). The results of both directions of a bidirectional layer
/// are concatenated along the features.
template <typename Cell>
RecurrentResult stacked(const char *name, const Operand &given, const Tensor &h0, const Tensor &c0,
                        const std::vector<Parameter> &weights, const RecurrentOptions &options,
                        int64_t hidden, llvm::ArrayRef<int64_t> order, bool training, Cell cell) {
  ApiCall call(name, {&given});
  Tensor x = call.tensor(call.value(given));
  if (x.rank() != 3)
    call.fail("x must be ", options.batchFirst ? "[N, T, I]" : "[T, N, I]", "; found ",
              call.type(given));
  call.requireStatic(call.type(given), "in a recurrent layer");
  int64_t wanted = weights[0].shape()[1];
  if (x.dim(2) != wanted)
    call.fail("the last dimension of x must be the layer's ", wanted, " input features; found ",
              call.type(given));
  if (options.batchFirst)
    x = transpose(x, 0, 1);
  int64_t directions = options.bidirectional ? 2 : 1, n = x.dim(1), index = 0;
  for (const Tensor *states : {&h0, &c0})
    if (*states && states->shape() != Shape{options.layers * directions, n, hidden})
      call.fail("states must be [layers * directions, N, H], here ",
                trace::shapeText({options.layers * directions, n, hidden}), "; found ",
                trace::shapeText(states->shape()));
  size_t each = options.bias ? 4 : 2;
  std::vector<Tensor> lastH, lastC;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    std::vector<Tensor> results;
    for (int64_t d = 0; d < directions; ++d, ++index) {
      const Parameter *at = &weights[size_t(index) * each];
      Tensor w = stackGateParameters(call, at[0], order),
             r = stackGateParameters(call, at[1], order);
      Tensor b = options.bias ? stackGateParameters(call, llvm::ArrayRef(at + 2, 2), order)
                              : trace::zeros({1, 2 * int64_t(order.size()) * hidden}, x.dtype());
      auto start = [&](const Tensor &states) {
        return states ? trace::narrow(states, 0, index, 1)
                      : trace::zeros({1, n, hidden}, x.dtype());
      };
      RecurrentResult result = cell(x, w, r, b, start(h0), start(c0),
                                    d ? trace::Direction::Reverse : trace::Direction::Forward);
      lastH.push_back(result.h);
      if (result.c)
        lastC.push_back(result.c);
      results.push_back(squeeze(result.y, 1));
    }
    x = cat(results, 2);
    if (training && layer + 1 < options.layers)
      x = trace::dropout(x, options.dropout);
  }
  if (options.batchFirst)
    x = transpose(x, 0, 1);
  return {x, cat(lastH, 0), lastC.empty() ? Tensor() : cat(lastC, 0)};
}

// Index in PyTorch's gate order of each gate in the dialect's order. LSTM: i o f c (dialect) in i f
// c o (PyTorch). GRU: z r h (dialect) in r z h (PyTorch).
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
  return stacked("LSTM", x, h0, c0, weights, options, hidden, lstmOrder, isTraining(),
                 [](const Tensor &in, const Tensor &w, const Tensor &r, const Tensor &b,
                    const Tensor &h, const Tensor &c, trace::Direction direction) {
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
  return stacked("GRU", x, h0, {}, weights, options, hidden, gruOrder, isTraining(),
                 [](const Tensor &in, const Tensor &w, const Tensor &r, const Tensor &b,
                    const Tensor &h, const Tensor &,
                    trace::Direction direction) { return trace::gru(in, w, r, b, h, direction); });
}
Tensor GRU::forward(Tensor x) { return run(x).y; }

} // namespace dlc::nn
