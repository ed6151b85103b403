//===- Blocks.cpp - block-quantized low-bit weights -----------------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/contrib/Packed.h"
#include "ir/dlc/Attributes.h"

#include <array>

using namespace mlir;

namespace dlc::onnxfront {

Value unpackBits(Build &b, Value bytes, const Packing &p) {
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
    return b.error("packed integers need a dimension");
  shape.back() *= p.perByte();
  return b.reshape(b.stack(parts, b.rank(bytes)), shape);
}

bool isBytes(Build &b, Value v) { return b.elem(v) == b.b.getIntegerType(8, false); }

Value zeroPoints(Build &b, Value given, Value scales, int64_t rows, int64_t blocks,
                 const Packing &p) {
  if (!given)
    return b.like(scales, p.middle());
  if (!isBytes(b, given)) {
    bool fits = b.elem(given) == b.elem(scales) && b.count(given) == rows * blocks;
    return b.require(fits, "zero_points must be bytes, or " + Twine(rows * blocks) +
                               " elements of the scales' type; there are " + Twine(b.count(given)))
               ? b.reshape(given, {rows, blocks})
               : Value();
  }
  int64_t bytes = (blocks + p.perByte() - 1) / p.perByte();
  if (!b.require(b.count(given) == rows * bytes, "zero_points must have " + Twine(rows * bytes) +
                                                     " bytes, and have " + Twine(b.count(given))))
    return {};
  Value all = unpackBits(b, b.reshape(given, {rows, bytes}), p);
  return b.cast(b.sliceAxis(all, 1, 0, blocks), b.elem(scales));
}

namespace {

/// Reads the packing of quantized weights from the attributes `bits` and `block_size`. Returns
/// nothing after an error.
std::optional<Packing> readPacking(Node &n, Build &b, int64_t otherwise) {
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

/// Unpacks constant bytes to integers [rows, size] of 4 or 8 bits. In each row, blocks start at
/// whole bytes. Returns null if `bytes` is not a constant.
Value unpackConstant(Build &b, Value bytes, int64_t rows, int64_t size, const Packing &p) {
  auto stored = getConstantElements(bytes);
  if (!stored || !isBytes(b, bytes) || stored->size() % rows)
    return {};
  unsigned width = p.bits == 8 ? 8 : 4;
  auto type = RankedTensorType::get({rows, size}, b.b.getIntegerType(width, /*isSigned=*/false));
  auto values = ref::Tensor::empty(type);
  const auto *from = reinterpret_cast<const uint8_t *>(stored->data());
  const int64_t rowBytes = stored->size() / rows;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < size; ++i)
      values.setInt(row * size + i,
                    from[row * rowBytes + i / p.perByte()] >> (i % p.perByte() * p.bits) &
                        ((1 << p.bits) - 1));
  return b.constant(values);
}

/// Dequantizes weights [N, K] to f32. Each block of a row has its own scale and zero point.
Value dequantizeWeights(Build &b, Value w, Value scale, Value zero, int64_t K, const Packing &p) {
  int64_t N = b.dim(scale, 0), blocks = b.dim(scale, 1);
  Value values = unpackConstant(b, w, N, K, p);
  bool isConstant = bool(values);
  if (!isConstant)
    values = b.reshape(unpackBits(b, b.reshape(w, {N, blocks, p.block / p.perByte()}), p),
                       {N, blocks * p.block});
  Value each = isConstant && zero && isBytes(b, zero) &&
                       b.count(zero) == N * ((blocks + p.perByte() - 1) / p.perByte())
                   ? unpackConstant(b, zero, N, blocks, p)
                   : Value();
  if (!each && !zero)
    each = b.scalarInt(b.elem(values), int64_t(p.middle()));
  else if (!each)
    each = zeroPoints(b, zero, scale, N, blocks, p);
  if (!b.ok())
    return {};
  return b.sliceAxis(buildDequantize(b, values, {scale, each}, {1, p.block}), 1, 0, K);
}

/// MatMulNBits: multiplies A by the transpose of block-quantized weights [N, blocks, bytes per
/// block]. Each block has its own scale.
void matMulNBits(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1), scales = n.in(2);
  int64_t K = n.integer("K", 0), N = n.integer("N", 0);
  auto p = readPacking(n, b, 0);
  if (!p ||
      !b.require(Build::isSane(K, 1) && Build::isSane(N, 1),
                 "attributes 'K' and 'N' are required, and must be positive") ||
      !b.require(!n.has(4), "input 'g_idx' is not supported; export the model without it") ||
      !b.require(n.integer("weight_prepacked", 0) == 0,
                 "attribute 'weight_prepacked' must be 0, since prepacked weights are specific to "
                 "a device") ||
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
  Value scale = b.cast(b.reshape(scales, {N, blocks}), b.f32), zero = n.in(3);
  if (zero && b.isFloat(zero))
    zero = b.cast(zero, b.f32);
  Value y = b.matmul(b.cast(x, b.f32), dequantizeWeights(b, w, scale, zero, K, *p), false, true);
  // Value of `accuracy_level` that permits quantizing the left operand to 8 bits.
  constexpr int64_t kInt8 = 4;
  if (auto product = y ? y.getDefiningOp<MatmulOp>() : MatmulOp();
      product && n.integer("accuracy_level", 0) == kInt8)
    product->setAttr(kActivationsAttr, b.b.getStringAttr("int8"));
  y = b.cast(y, b.elem(x));
  if (n.has(5))
    y = b.add(y, n.in(5));
  n.set(0, y);
}

/// Values of the 16 codes of 4-bit weights: FP4 floats, or NF4 quantiles of a normal distribution.
constexpr std::array<double, 16> kFloats{
    0, 5.208333333e-3f,  0.66666667f,  1,  0.33333333f,  0.5,  0.16666667f,  0.25,
    0, -5.208333333e-3f, -0.66666667f, -1, -0.33333333f, -0.5, -0.16666667f, -0.25};
constexpr std::array<double, 16> kQuantiles{-1,
                                            -0.6961928009986877f,
                                            -0.5250730514526367f,
                                            -0.39491748809814453f,
                                            -0.28444138169288635f,
                                            -0.18477343022823334f,
                                            -0.09105003625154495f,
                                            0,
                                            0.07958029955625534f,
                                            0.16093020141124725f,
                                            0.24611230194568634f,
                                            0.33791524171829224f,
                                            0.44070982933044434f,
                                            0.5626170039176941f,
                                            0.7229568362236023f,
                                            1};

/// MatMulBnb4: multiplies A by the transpose of weights [N, K] in FP4 or NF4, scaled by the maximum
/// magnitude of each block. Of two elements in a byte, the first is in the upper half.
void matMulBnb4(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1), largest = n.in(2);
  int64_t K = n.integer("K", 0), N = n.integer("N", 0), block = n.integer("block_size", 0),
          kind = n.integer("quant_type", 1);
  if (!b.require(Build::isSane(K, 1) && Build::isSane(N, 1) && Build::isSane(block, 2) &&
                     block % 2 == 0,
                 "attributes 'K', 'N' and 'block_size' must be positive, and the last even"))
    return;
  if (n.integer("transB", 1) != 1)
    return n.unsupported("transB", Twine(n.integer("transB", 1)), "1");
  if (kind != 0 && kind != 1)
    return n.unsupported("quant_type", Twine(kind), "0 (FP4), 1 (NF4)");
  int64_t pairs = (N * K + 1) / 2, blocks = (N * K + block - 1) / block;
  if (!b.require(isBytes(b, w) && b.count(w) == pairs, "B must have " + Twine(pairs) + " bytes") ||
      !b.require(b.isFloat(largest) && b.count(largest) == blocks,
                 "absmax must have " + Twine(blocks) + " numbers") ||
      !b.require(b.rank(x) >= 1 && b.dim(x, -1) == K, "A's last dimension must be K, " + Twine(K)))
    return;
  // Swaps the two elements of each byte, because unpackBits() returns the lower half first.
  Value numbers = b.reverse(b.reshape(unpackBits(b, w, {4, block}), {pairs, 2}), 1);
  Value levels = b.floats(kind ? kQuantiles : kFloats, {16}, b.f32);
  Value each = b.gather(levels, b.cast(b.flatten(numbers), b.i32), 0);
  each = b.padZero(each, {0}, {blocks * block - 2 * pairs});
  each = b.mul(b.reshape(each, {blocks, block}), b.reshape(b.cast(largest, b.f32), {blocks, 1}));
  Value all = b.reshape(b.sliceAxis(b.flatten(each), 0, 0, N * K), {N, K});
  n.set(0, b.cast(b.matmul(b.cast(x, b.f32), all, false, true), b.elem(x)));
}

/// GatherBlockQuantized: gathers rows of an embedding table with quantized values that are packed
/// along the last axis, and dequantizes them. An index out of range gives zeros.
void gatherBlockQuantized(Node &n, Build &b) {
  Value data = n.in(0), indices = n.in(1), scales = n.in(2);
  auto p = readPacking(n, b, 128);
  // Tables with a 4-bit element type are not packed in bytes. Their default zero point is 0.
  bool apart = b.elem(data) && ref::isPackedElement(b.elem(data));
  double middle = p && !apart ? p->middle() : 0;
  if (p && apart)
    p->bits = 8;
  int64_t rank = b.rank(data), axis = b.axis(n.integer("gather_axis", 0), rank, "gather_axis"),
          along = b.axis(n.integer("quantize_axis", 1), rank, "quantize_axis");
  if (!p || !b.ok() ||
      !b.require(isBytes(b, data) || apart, "data must be of type ui8, i4 or ui4") ||
      !b.require(axis != along && along == rank - 1,
                 "quantize_axis must be the last, along which integers are packed, and gather_axis "
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
  Value values = unpackBits(b, rows(data), *p), scale = rows(scales);
  int64_t last = b.rank(values) - 1;
  if (zero)
    zero = b.sliceAxis(unpackBits(b, rows(zero), *p), last, 0, blocks);
  else if (middle)
    zero = b.scalarInt(b.elem(values), int64_t(middle));
  Value y = buildDequantize(b, values, {scale, zero}, {last, p->block});
  // Reshapes the mask of valid indices to [.., indices.., ..], so that it broadcasts over the
  // dimensions after the indices.
  Dims broadcastShape = b.dims(indices);
  broadcastShape.resize(broadcastShape.size() + size_t(rank - 1 - axis), 1);
  n.set(0, b.select(b.reshape(inside, broadcastShape), y, b.like(y, 0)));
}

const Operator table[] = {
    {"MatMulNBits", 3, matMulNBits, "K N accuracy_level bits block_size weight_prepacked"},
    {"MatMulBnb4", 3, matMulBnb4, "K N block_size quant_type training_mode transB"},
    {"GatherBlockQuantized", 3, gatherBlockQuantized, "bits block_size gather_axis quantize_axis"},
};

} // namespace

ArrayRef<Operator> blockOperators() { return table; }

} // namespace dlc::onnxfront
