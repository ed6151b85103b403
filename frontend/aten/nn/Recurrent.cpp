//===- Recurrent.cpp - LSTM, GRU and plain recurrent layers ------------------===//
#include "frontend/aten/Gradient.h"
#include "frontend/aten/nn/Random.h"

using namespace mlir;

namespace dlc::aten {
namespace {

enum class Cell { Lstm, Gru, Tanh, Relu };

/// Returns, for each gate in dlc's order, its index in PyTorch's order: i f g o (PyTorch) becomes i
/// o f c for an LSTM, and r z n becomes z r h for a GRU.
ArrayRef<int64_t> gateOrder(Cell cell) {
  static const int64_t lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2}, plain[] = {0};
  switch (cell) {
  case Cell::Lstm:
    return lstm;
  case Cell::Gru:
    return gru;
  default:
    return plain;
  }
}

/// Reorders the gates, which are blocks along the first dimension, from PyTorch's to dlc's order.
Value reorderGates(Build &b, Value v, Cell cell) {
  ArrayRef<int64_t> gates = gateOrder(cell);
  if (gates.size() == 1)
    return v;
  int64_t size = b.dim(v, 0) / int64_t(gates.size());
  SmallVector<Value> parts;
  for (int64_t gate : gates)
    parts.push_back(b.sliceAxis(v, 0, gate * size, size));
  return b.concat(parts, 0);
}

struct LayerWeights {
  Value w, r, bias;
};

/// Stacks the weights of the directions of one layer, in dlc's layout: w [D, G*H, I], r [D, G*H,
/// H], bias [D, 2*G*H].
LayerWeights stackDirections(Build &b, ArrayRef<Value> weights, Cell cell, bool biased,
                             int64_t directions) {
  SmallVector<Value> ws, rs, biases;
  size_t each = biased ? 4 : 2;
  for (int64_t d = 0; d < directions; ++d) {
    ArrayRef<Value> here = weights.slice(size_t(d) * each, each);
    Value w = reorderGates(b, here[0], cell), r = reorderGates(b, here[1], cell);
    ws.push_back(w);
    rs.push_back(r);
    biases.push_back(
        biased ? b.concat({reorderGates(b, here[2], cell), reorderGates(b, here[3], cell)}, 0)
               : b.splat(b.elem(w), {2 * b.dim(w, 0)}, 0));
  }
  return {b.stack(ws, 0), b.stack(rs, 0), b.stack(biases, 0)};
}

std::vector<Value> run(Build &b, Cell cell, Value x, const LayerWeights &l, Value h0, Value c0,
                       int64_t directions) {
  SmallVector<NamedAttribute> attributes{b.attr(
      "direction",
      DirectionAttr::get(b.context, directions == 2 ? Direction::both : Direction::forward))};
  if (cell == Cell::Lstm)
    return b.ops<LstmOp>({x, l.w, l.r, l.bias, h0, c0}, attributes);
  if (cell == Cell::Gru) {
    attributes.push_back(b.attrUnit("linear_before_reset"));
    return b.ops<GruOp>({x, l.w, l.r, l.bias, h0}, attributes);
  }
  if (cell == Cell::Relu)
    attributes.push_back(b.attrUnit("relu"));
  return b.ops<RnnOp>({x, l.w, l.r, l.bias, h0}, attributes);
}

struct RecurrentNetwork {
  Cell cell;
  Value x;
  std::vector<Value> weights, starts;
  bool biased, batchFirst;
  int64_t layers, directions;
  double dropout; ///< dropout probability between layers, in training
};

RecurrentNetwork readNetwork(Node &n, Cell cell, std::vector<Value> starts) {
  return {cell,
          n.tensor("input"),
          n.tensors("params"),
          std::move(starts),
          n.flag("has_biases"),
          n.flag("batch_first"),
          n.integer("num_layers"),
          n.flag("bidirectional") ? 2 : 1,
          n.flag("train") ? n.real("dropout") : 0};
}

/// Builds all layers of a recurrent network and returns the outputs of each time step and the final
/// states.
std::vector<Value> buildLayers(Build &b, const RecurrentNetwork &net) {
  bool hasCells = net.cell == Cell::Lstm;
  size_t each = size_t(net.directions) * (net.biased ? 4 : 2);
  if (!b.require(b.rank(net.x) == 3, "required: an input of rank 3, with a batch") ||
      !b.require(net.starts.size() == (hasCells ? 2 : 1) &&
                     net.weights.size() == size_t(net.layers) * each,
                 "required: the same kinds of weights for all layers, without projections"))
    return {};
  auto swapped = [&](Value v) { return b.transpose(v, {1, 0, 2}); };
  Value x = net.batchFirst ? swapped(net.x) : net.x;
  SmallVector<Value> hs, cs;
  for (int64_t i = 0; i < net.layers && b.ok(); ++i) {
    auto start = [&](size_t which) {
      return b.sliceAxis(net.starts[which], 0, i * net.directions, net.directions);
    };
    LayerWeights layer =
        stackDirections(b, ArrayRef<Value>(net.weights).slice(size_t(i) * each, each), net.cell,
                        net.biased, net.directions);
    std::vector<Value> made =
        run(b, net.cell, x, layer, start(0), hasCells ? start(1) : Value(), net.directions);
    if (made.empty())
      return {};
    // Moves the directions to the features: [T, D, N, H] becomes [T, N, D * H].
    Value y = made[0];
    x = b.reshape(b.transpose(y, {0, 2, 1, 3}),
                  {b.dim(y, 0), b.dim(y, 2), net.directions * b.dim(y, 3)});
    if (net.dropout > 0 && i + 1 < net.layers)
      x = buildDropout(b, x, net.dropout, nullptr, std::to_string(i));
    hs.push_back(made[1]);
    if (hasCells)
      cs.push_back(made[2]);
  }
  if (!b.ok())
    return {};
  std::vector<Value> results{net.batchFirst ? swapped(x) : x, b.concat(hs, 0)};
  if (hasCells)
    results.push_back(b.concat(cs, 0));
  return results;
}

template <Cell cell> void recurrent(Node &n, Build &b) {
  n.setAll(buildLayers(
      b, readNetwork(n, cell, cell == Cell::Lstm ? n.tensors("hx") : std::vector{n.tensor("hx")})));
}

/// Reads the arguments of dlc's own recurrent operators, which name the cell in the argument `cell`
/// (tools/python/dlc/_torch/call_replacements.py).
RecurrentNetwork readNetworkWithCellName(Node &n, Build &b) {
  std::string name = n.text("cell");
  Cell cell = name == "lstm"       ? Cell::Lstm
              : name == "gru"      ? Cell::Gru
              : name == "rnn_tanh" ? Cell::Tanh
                                   : Cell::Relu;
  b.require(cell != Cell::Relu || name == "rnn_relu",
            "argument 'cell': required: lstm, gru, rnn_tanh or rnn_relu");
  return readNetwork(n, cell, n.tensors("hx"));
}

void whole(Node &n, Build &b) { n.setAll(buildLayers(b, readNetworkWithCellName(n, b))); }

/// Gradient of a recurrent network: sets the gradients of the input, the initial states and the
/// weights.
void recurrentGradient(Node &n, Build &b) {
  RecurrentNetwork net = readNetworkWithCellName(n, b);
  std::vector<Value> ys = buildLayers(b, net), xs{net.x};
  llvm::append_range(xs, net.starts);
  llvm::append_range(xs, net.weights);
  setGradients(n, b, ys, n.tensors("grads"), xs);
}

const Operator table[] = {
    {"lstm.input", recurrent<Cell::Lstm>},
    {"gru.input", recurrent<Cell::Gru>},
    {"rnn_tanh.input", recurrent<Cell::Tanh>},
    {"rnn_relu.input", recurrent<Cell::Relu>},
    {"dlc::recurrent.default", whole},
    {"dlc::recurrent_backward.default", recurrentGradient},
};

} // namespace

ArrayRef<Operator> recurrentOperators() { return table; }

} // namespace dlc::aten
