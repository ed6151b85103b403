//===- Blocks.cpp - weights quantised in blocks of few bits ---------------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// What the attributes say of a tensor whose bytes hold numbers of `bits` each, the lowest first.
struct Packing {
  int64_t bits, block;
  int64_t perByte() const { return 8 / bits; }
  /// The zero point where there is none.
  double middle() const { return double(int64_t(1) << (bits - 1)); }
};

std::optional<Packing> packingOf(Node &n, Build &b, int64_t otherwise) {
  Packing p{n.integer("bits", 4), n.integer("block_size", otherwise)};
  if (p.bits != 2 && p.bits != 4 && p.bits != 8) {
    n.unsupported("bits", Twine(p.bits), "2, 4, 8");
    return std::nullopt;
  }
  if (!b.require(Build::isSane(p.block, 16) && (p.block & (p.block - 1)) == 0,
                 "attribute 'block_size' must be a power of two from 16 on, and is " +
                     Twine(p.block)))
    return std::nullopt;
  return p;
}

/// Bytes [.., n] as numbers [.., n * 8 / bits], in u8.
Value unpack(Build &b, Value bytes, const Packing &p) {
  if (p.bits == 8)
    return bytes;
  std::vector<Value> parts;
  Value mask = b.scalarInt(b.elem(bytes), (1 << p.bits) - 1);
  for (int64_t i = 0; i < p.perByte(); ++i) {
    Value shifted = i ? b.op<ShiftRightOp>({bytes, b.scalarInt(b.elem(bytes), i * p.bits)}) : bytes;
    parts.push_back(b.both(shifted, mask));
  }
  Dims shape = b.dims(bytes);
  if (shape.empty())
    return b.error("packed numbers need a dimension");
  shape.back() *= p.perByte();
  return b.reshape(b.stack(parts, b.rank(bytes)), shape);
}

bool isBytes(Build &b, Value v) { return b.elem(v) == b.b.getIntegerType(8, false); }

/// The zero points of [rows, blocks]: packed in bytes, in the scales' type, or none.
Value zeroPoints(Build &b, Value given, Value scales, int64_t rows, int64_t blocks,
                 const Packing &p) {
  if (!given)
    return b.like(scales, p.middle());
  if (!isBytes(b, given)) {
    bool fits = b.elem(given) == b.elem(scales) && b.count(given) == rows * blocks;
    return b.require(fits, "zero_points must be bytes, or " + Twine(rows * blocks) +
                               " numbers of the scales' type; there are " + Twine(b.count(given)))
               ? b.reshape(given, {rows, blocks})
               : Value();
  }
  int64_t bytes = (blocks + p.perByte() - 1) / p.perByte();
  if (!b.require(b.count(given) == rows * bytes, "zero_points must have " + Twine(rows * bytes) +
                                                     " bytes, and have " + Twine(b.count(given))))
    return {};
  Value all = unpack(b, b.reshape(given, {rows, bytes}), p);
  return b.cast(b.sliceAxis(all, 1, 0, blocks), b.elem(scales));
}

/// The product of few rows by constant weights: of each block by its numbers, which stay 8 bits in
/// memory, then the sum of those by their scales. With many rows the blocks' products would be more
/// than the weights. Null where that is so.
Value byBlocks(Build &b, Value x, Value w, Value scale, Value zero, const Packing &p) {
  constexpr int64_t kMostRows = 4, kFewest = 4096;
  int64_t N = b.dim(scale, 0), blocks = b.dim(scale, 1), rows = b.count(x) / b.dim(x, -1);
  bool isKnown = w.getDefiningOp<ConstantOp>() && (!zero || zero.getDefiningOp<ConstantOp>());
  // Numbers of eight bits less a zero point of their own may have nine.
  bool fits = p.bits < 8 || !zero;
  if (!isKnown || !fits || b.elem(x) != b.f32 || b.elem(scale) != b.f32 || rows > kMostRows ||
      b.count(w) * p.perByte() < kFewest || b.dim(x, -1) != blocks * p.block)
    return {};
  Value centre = b.scalarInt(b.i32, int64_t(p.middle()));
  if (zero) {
    zero = unpack(b, b.reshape(zero, {N, b.count(zero) / N}), p);
    centre = b.expandDims(b.cast(b.sliceAxis(zero, 1, 0, blocks), b.i32), 2);
  }
  w = unpack(b, b.reshape(w, {N, blocks, p.block / p.perByte()}), p);
  Value numbers = b.cast(b.sub(b.cast(w, b.i32), centre), b.b.getIntegerType(8));
  numbers = b.transpose(numbers, {1, 2, 0});
  Value left = b.transpose(b.reshape(x, {rows, blocks, p.block}), {1, 0, 2});
  Value each = b.matmul(left, b.cast(numbers, b.f32));
  each = b.mul(each, b.expandDims(b.transpose(scale, {1, 0}), 1));
  Dims shape = b.dims(x);
  shape.back() = N;
  return b.reshape(b.reduce(ReduceKind::sum, each, {0}, false), shape);
}

/// A times the transposed weights [N, blocks, bytes of a block], each block with its own scale.
void matMulNBits(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1), scales = n.in(2);
  int64_t K = n.integer("K", 0), N = n.integer("N", 0);
  auto p = packingOf(n, b, 0);
  if (!p ||
      !b.require(Build::isSane(K, 1) && Build::isSane(N, 1),
                 "attributes 'K' and 'N' are required, and must be positive") ||
      !b.require(!n.has(4), "input 'g_idx' is not supported; export the model without it") ||
      !b.require(n.integer("weight_prepacked", 0) == 0,
                 "attribute 'weight_prepacked' must be 0: other weights fit one device only") ||
      !b.require(isBytes(b, w), "B must be of type ui8"))
    return;
  int64_t blocks = (K + p->block - 1) / p->block, bytes = p->block / p->perByte();
  if (!b.require(b.rank(x) >= 2 && b.dim(x, -1) == K,
                 "A must have rank 2 or more, and its last dimension be K, " + Twine(K)) ||
      !b.require(b.count(w) == N * blocks * bytes, "B must be [" + Twine(N) + ", " + Twine(blocks) +
                                                       ", " + Twine(bytes) + "], and has " +
                                                       Twine(b.count(w)) + " elements") ||
      !b.require(b.count(scales) == N * blocks && b.isFloat(scales),
                 "there must be " + Twine(N * blocks) + " scales, and there are " +
                     Twine(b.count(scales))))
    return;
  Value scale = b.reshape(scales, {N, blocks});
  bool isFloatZero = n.has(3) && !isBytes(b, n.in(3));
  int64_t zeroBytes = N * ((blocks + p->perByte() - 1) / p->perByte());
  if (!isFloatZero && (!n.has(3) || b.count(n.in(3)) == zeroBytes))
    if (Value y = byBlocks(b, x, w, scale, n.in(3), *p))
      return n.set(0, n.has(5) ? b.add(y, n.in(5)) : y);
  Value zero = zeroPoints(b, n.in(3), scale, N, blocks, *p);
  if (b.rank(zero) == 2)
    zero = b.expandDims(zero, 2);
  Value all = b.cast(unpack(b, b.reshape(w, {N, blocks, bytes}), *p), b.elem(scale));
  all = b.mul(b.sub(all, zero), b.expandDims(scale, 2));
  all = b.sliceAxis(b.reshape(all, {N, blocks * p->block}), 1, 0, K);
  Value y = b.matmul(x, b.cast(all, b.elem(x)), false, true);
  if (n.has(5))
    y = b.add(y, n.in(5));
  n.set(0, y);
}

/// Rows of a table whose numbers are packed along the last axis. An index out of range gives zeros.
void gatherBlockQuantized(Node &n, Build &b) {
  Value data = n.in(0), indices = n.in(1), scales = n.in(2);
  auto p = packingOf(n, b, 128);
  // A table of four-bit numbers comes unpacked, with 0 in its middle.
  bool apart = n.isFourBits(0);
  double middle = p && !apart ? p->middle() : 0;
  if (p && apart)
    p->bits = 8;
  int64_t rank = b.rank(data), axis = b.axis(n.integer("gather_axis", 0), rank, "gather_axis"),
          along = b.axis(n.integer("quantize_axis", 1), rank, "quantize_axis");
  if (!p || !b.ok() ||
      !b.require(isBytes(b, data) || apart, "data must be of type ui8, or a constant of 4 bits") ||
      !b.require(axis != along && along == rank - 1,
                 "quantize_axis must be the last, along which numbers are packed, and gather_axis "
                 "another"))
    return;
  int64_t extent = b.dim(data, axis),
          blocks = (b.dim(data, along) * p->perByte() + p->block - 1) / p->block;
  Dims shape = b.dims(data);
  shape[along] = blocks;
  if (!b.require(b.shape(scales) == ArrayRef(shape) && b.isFloat(scales),
                 "scales must have data's shape with " + Twine(blocks) + " in the last dimension"))
    return;
  shape[along] = (blocks + p->perByte() - 1) / p->perByte();
  Value zero = n.in(3);
  if (!b.require(!zero || (b.elem(zero) == b.elem(data) && b.shape(zero) == ArrayRef(shape)),
                 "zero_points must have data's type and shape with " + Twine(shape[along]) +
                     " in the last dimension"))
    return;
  indices = b.cast(indices, b.i64);
  Value low = b.scalarInt(b.i64, -extent), high = b.scalarInt(b.i64, extent);
  Value inside =
      b.both(b.compare(Predicate::ge, indices, low), b.compare(Predicate::lt, indices, high));
  indices = b.select(inside, indices, b.scalarInt(b.i64, 0));
  auto rows = [&](Value table) { return b.gather(table, indices, axis); };
  Value y = b.cast(unpack(b, rows(data), *p), b.elem(scales)), scale = rows(scales);
  int64_t last = b.rank(y) - 1;
  if (zero) {
    zero = b.cast(b.sliceAxis(unpack(b, rows(zero), *p), last, 0, blocks), b.elem(scales));
    y = b.sub(y, besides(b, zero, y, last, p->block));
  } else {
    y = b.sub(y, middle);
  }
  y = b.mul(y, besides(b, scale, y, last, p->block));
  // [.., indices.., ..]: what lies behind the indices broadcasts.
  Dims beside = b.dims(indices);
  beside.resize(beside.size() + size_t(rank - 1 - axis), 1);
  n.set(0, b.select(b.reshape(inside, beside), y, b.like(y, 0)));
}

const Operator table[] = {
    {"MatMulNBits", 3, matMulNBits, "K N accuracy_level bits block_size weight_prepacked"},
    {"GatherBlockQuantized", 3, gatherBlockQuantized, "bits block_size gather_axis quantize_axis"},
};

} // namespace

ArrayRef<Operator> blockOperators() { return table; }

} // namespace dlc::onnxfront
