//===- Recurrent.cpp - LSTM, GRU and plain recurrent layers ------------------===//
#include "frontend/aten/Random.h"

using namespace mlir;

namespace dlc::aten {
namespace {

enum class Cell { Lstm, Gru, Tanh, Relu };

/// Which gate of PyTorch's stands where in dlc's operation: i f g o as i o f c, r z n as z r h.
ArrayRef<int64_t> order(Cell cell) {
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

/// The gates along the first dimension, in dlc's order.
Value reordered(Build &b, Value v, Cell cell) {
  ArrayRef<int64_t> gates = order(cell);
  if (gates.size() == 1)
    return v;
  int64_t size = b.dim(v, 0) / int64_t(gates.size());
  SmallVector<Value> parts;
  for (int64_t gate : gates)
    parts.push_back(b.sliceAxis(v, 0, gate * size, size));
  return b.concat(parts, 0);
}

struct Layer {
  Value w, r, bias;
};

/// One layer's directions together: w [D, G*H, I], r [D, G*H, H], bias [D, 2*G*H].
Layer layerOf(Build &b, ArrayRef<Value> weights, Cell cell, bool biased, int64_t directions) {
  SmallVector<Value> ws, rs, biases;
  size_t each = biased ? 4 : 2;
  for (int64_t d = 0; d < directions; ++d) {
    ArrayRef<Value> here = weights.slice(size_t(d) * each, each);
    Value w = reordered(b, here[0], cell), r = reordered(b, here[1], cell);
    ws.push_back(w);
    rs.push_back(r);
    biases.push_back(biased
                         ? b.concat({reordered(b, here[2], cell), reordered(b, here[3], cell)}, 0)
                         : b.splat(b.elem(w), {2 * b.dim(w, 0)}, 0));
  }
  return {b.stack(ws, 0), b.stack(rs, 0), b.stack(biases, 0)};
}

std::vector<Value> run(Build &b, Cell cell, Value x, const Layer &l, Value h0, Value c0,
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

/// Layers one after the other, with dropout between them in training.
template <Cell cell> void recurrent(Node &n, Build &b) {
  Value x = n.tensor("input");
  std::vector<Value> weights = n.tensors("params"),
                     starts = cell == Cell::Lstm ? n.tensors("hx") : std::vector{n.tensor("hx")};
  bool biased = n.flag("has_biases"), batchFirst = n.flag("batch_first");
  int64_t layers = n.integer("num_layers"), directions = n.flag("bidirectional") ? 2 : 1;
  double probability = n.flag("train") ? n.real("dropout") : 0;
  size_t each = size_t(directions) * (biased ? 4 : 2);
  if (!b.require(b.rank(x) == 3, "required: an input of rank 3, with a batch") ||
      !b.require(starts.size() == (cell == Cell::Lstm ? 2 : 1) &&
                     weights.size() == size_t(layers) * each,
                 "required: weights of the same kind for all layers (no projections)"))
    return;
  auto swapped = [&](Value v) { return b.transpose(v, {1, 0, 2}); };
  if (batchFirst)
    x = swapped(x);
  SmallVector<Value> hs, cs;
  for (int64_t i = 0; i < layers && b.ok(); ++i) {
    auto start = [&](size_t which) {
      return b.sliceAxis(starts[which], 0, i * directions, directions);
    };
    Layer layer = layerOf(b, ArrayRef<Value>(weights).slice(size_t(i) * each, each), cell, biased,
                          directions);
    std::vector<Value> made =
        run(b, cell, x, layer, start(0), cell == Cell::Lstm ? start(1) : Value(), directions);
    if (made.empty())
      return;
    // [T, D, N, H] to [T, N, D * H].
    Value y = made[0];
    x = b.reshape(b.transpose(y, {0, 2, 1, 3}),
                  {b.dim(y, 0), b.dim(y, 2), directions * b.dim(y, 3)});
    if (probability > 0 && i + 1 < layers)
      x = dropout(b, x, probability, nullptr, std::to_string(i));
    hs.push_back(made[1]);
    if (cell == Cell::Lstm)
      cs.push_back(made[2]);
  }
  if (!b.ok())
    return;
  n.set(0, batchFirst ? swapped(x) : x);
  n.set(1, b.concat(hs, 0));
  if (cell == Cell::Lstm)
    n.set(2, b.concat(cs, 0));
}

const Operator table[] = {
    {"lstm.input", recurrent<Cell::Lstm>},
    {"gru.input", recurrent<Cell::Gru>},
    {"rnn_tanh.input", recurrent<Cell::Tanh>},
    {"rnn_relu.input", recurrent<Cell::Relu>},
};

} // namespace

ArrayRef<Operator> recurrentOperators() { return table; }

} // namespace dlc::aten
