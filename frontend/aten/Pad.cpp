//===- Pad.cpp - padding --------------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// PyTorch counts from the last dimension: low and high of it, then of the one before.
void pad(Node &n, Build &b, PadMode mode, StringRef argument) {
  Value x = n.tensor("self");
  Dims sides = n.ints(argument);
  int64_t rank = b.rank(x), padded = int64_t(sides.size()) / 2;
  if (!b.require(sides.size() % 2 == 0 && padded <= rank,
                 "argument '" + argument +
                     "': required: two entries a dimension, from the last on"))
    return;
  Dims low(size_t(rank), 0), high(size_t(rank), 0);
  for (int64_t i = 0; i < padded; ++i) {
    low[size_t(rank - 1 - i)] = sides[size_t(2 * i)];
    high[size_t(rank - 1 - i)] = sides[size_t(2 * i + 1)];
  }
  Value value = n.has("value") ? n.operand("value", b.elem(x)) : b.scalarInt(b.elem(x), 0);
  n.set(b.pad(x, value, mode, low, high));
}

void constantPad(Node &n, Build &b) { pad(n, b, PadMode::constant, "pad"); }
template <PadMode mode> void modePad(Node &n, Build &b) { pad(n, b, mode, "padding"); }

const Operator table[] = {
    {"constant_pad_nd.default", constantPad},
    {"reflection_pad1d.default", modePad<PadMode::reflect>},
    {"reflection_pad2d.default", modePad<PadMode::reflect>},
    {"reflection_pad3d.default", modePad<PadMode::reflect>},
    {"replication_pad1d.default", modePad<PadMode::edge>},
    {"replication_pad2d.default", modePad<PadMode::edge>},
    {"replication_pad3d.default", modePad<PadMode::edge>},
};

} // namespace

ArrayRef<Operator> padOperators() { return table; }

} // namespace dlc::aten
