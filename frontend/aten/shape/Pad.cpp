//===- Pad.cpp - padding --------------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

struct PaddingSizes {
  Dims low, high;
};

/// Reads PyTorch's padding list, which has pairs of low and high padding, starting with the last
/// dimension.
PaddingSizes readPadding(Node &n, Build &b, StringRef argument, int64_t rank) {
  Dims given = n.ints(argument);
  int64_t padded = int64_t(given.size()) / 2;
  PaddingSizes sides{Dims(size_t(rank), 0), Dims(size_t(rank), 0)};
  if (!b.require(given.size() % 2 == 0 && padded <= rank,
                 "argument '" + argument +
                     "': required: two entries for each dimension, starting with the last"))
    return sides;
  for (int64_t i = 0; i < padded; ++i) {
    sides.low[size_t(rank - 1 - i)] = given[size_t(2 * i)];
    sides.high[size_t(rank - 1 - i)] = given[size_t(2 * i + 1)];
  }
  return sides;
}

void pad(Node &n, Build &b, PadMode mode, StringRef argument) {
  Value x = n.tensor("self");
  PaddingSizes sides = readPadding(n, b, argument, b.rank(x));
  if (!b.ok())
    return;
  Value value = n.has("value") ? n.operand("value", b.elem(x)) : b.scalarInt(b.elem(x), 0);
  n.set(b.pad(x, value, mode, sides.low, sides.high));
}

void constantPad(Node &n, Build &b) { pad(n, b, PadMode::constant, "pad"); }
template <PadMode mode> void modePad(Node &n, Build &b) { pad(n, b, mode, "padding"); }

/// Gradient of replication padding: each edge element receives the sum of the gradients of its
/// copies.
void edgePadGradient(Node &n, Build &b) {
  Value dx = n.tensor("grad_output"), x = n.tensor("self");
  PaddingSizes sides = readPadding(n, b, "padding", b.rank(x));
  for (int64_t i = 0; b.ok() && i < b.rank(x); ++i) {
    int64_t low = sides.low[size_t(i)], high = sides.high[size_t(i)], size = b.dim(x, i);
    if (!b.require(low >= 0 && high >= 0 && size > 0, "argument 'padding': required: 0 or more") ||
        low + high == 0)
      continue;
    auto edge = [&](int64_t from, int64_t count, int64_t to) {
      Value sum = b.reduce(ReduceKind::sum, b.sliceAxis(dx, i, from, count), {i}, true);
      Dims before(size_t(b.rank(x)), 0), after = before;
      before[size_t(i)] = to, after[size_t(i)] = size - 1 - to;
      return b.padZero(sum, before, after);
    };
    Value sum = b.sliceAxis(dx, i, low, size);
    if (low)
      sum = b.add(sum, edge(0, low, 0));
    if (high)
      sum = b.add(sum, edge(low + size, high, size - 1));
    dx = sum;
  }
  n.set(dx);
}

const Operator table[] = {
    {"constant_pad_nd.default", constantPad},
    {"reflection_pad1d.default", modePad<PadMode::reflect>},
    {"reflection_pad2d.default", modePad<PadMode::reflect>},
    {"reflection_pad3d.default", modePad<PadMode::reflect>},
    {"replication_pad1d.default", modePad<PadMode::edge>},
    {"replication_pad2d.default", modePad<PadMode::edge>},
    {"replication_pad3d.default", modePad<PadMode::edge>},
    {"replication_pad1d_backward.default", edgePadGradient},
    {"replication_pad2d_backward.default", edgePadGradient},
    {"replication_pad3d_backward.default", edgePadGradient},
};

} // namespace

ArrayRef<Operator> padOperators() { return table; }

} // namespace dlc::aten
