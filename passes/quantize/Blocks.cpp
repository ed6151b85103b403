//===- Blocks.cpp - matmuls by weights that are quantized in blocks --------===//
//
//   x·dequantize(Q, s, z)  ->  x·((cast(Q) - z) * s), which one kernel computes from the few bits
//                          ->  Σ over blocks (x·cast(Q - z)) * s, for few rows without that kernel
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Blocks.h"

#include "ir/dlc/Infer.h"
#include "passes/ScaledBlocks.h"
#include "passes/precision/Names.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dlc::quantize {
namespace {

/// Returns the width, 4 or 8, that holds all of the integers.
int64_t bitsOf(const ref::Tensor &numbers) {
  ArrayRef all(reinterpret_cast<const int8_t *>(numbers.data()), size_t(numbers.size()));
  return llvm::all_of(all, [](int8_t x) { return x >= -8 && x <= 7; }) ? 4 : 8;
}

std::optional<int64_t> bitsOf(Value numbers) {
  auto tensor = isOfConstants(numbers) ? evaluated(numbers) : std::nullopt;
  return tensor ? std::optional(bitsOf(*tensor)) : std::nullopt;
}

/// Returns the zero points as the f32 constant that kernels read, or a null value if all are 0.
/// Returns nothing if one of them is not an integer of the width of the values.
std::optional<Value> zeroOf(TensorBuilder &b, const ScaledBlocks &from) {
  auto numbers = from.zero ? evaluated(from.zero) : std::nullopt;
  if (!numbers)
    return from.zero ? std::nullopt : std::optional(Value());
  auto each = ref::Tensor::empty(typeOf(from.zero).clone(typeOf(from.scale).getElementType()));
  bool isZero = true;
  double most = *bitsOf(from.numbers) == 4 ? 8 : 128;
  for (int64_t i = 0; i < each.size(); ++i) {
    double zero = numbers->getDouble(i);
    if (zero != std::rint(zero) || zero < -most || zero >= most)
      return std::nullopt;
    isZero &= zero == 0;
    each.setDouble(i, zero);
  }
  return isZero ? Value() : b.make<ConstantOp>(each.toAttr());
}

/// Builds the weights [n, k] in f32 in the form that keptBlocksOf() matches.
Value kept(TensorBuilder &b, const ScaledBlocks &from, Value zero) {
  Type f32 = typeOf(from.scale).getElementType();
  Value all = b.make<CastOp>(from.numbers, f32);
  if (zero)
    all = b.make<SubOp>(all, zero);
  int64_t n = from.n(), wide = from.blocks() * from.depth();
  all = b.make<ReshapeOp>(typeOf(all).clone({n, wide}), b.make<MulOp>(all, from.scale));
  if (wide == from.k)
    return all;
  return b.make<SliceOp>(all, ArrayRef<int64_t>{0, 0}, ArrayRef<int64_t>{n, from.k},
                         ArrayRef<int64_t>{1, 1});
}

/// Returns the matmul in the form of a blocks kernel; null if that does not support the zero
/// points.
Value productOf(TensorBuilder &b, MatmulOp product, const ScaledBlocks &weights) {
  auto zero = zeroOf(b, weights);
  if (!zero)
    return {};
  auto y = b.make<MatmulOp>(product.getA(), kept(b, weights, *zero), product.getTransposeA(), true)
               .getDefiningOp<MatmulOp>();
  y->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  y->setAttr(kBlocksAttr, UnitAttr::get(y.getContext()));
  y->setAttr(precision::kPrecisionAttr, StringAttr::get(y.getContext(), "f32"));
  return y.getY();
}

/// Multiplies x by each block, scales the results and sums them over the blocks. For many rows the
/// intermediate results would be larger than the weights.
Value byBlocks(TensorBuilder &b, Value x, const ScaledBlocks &w, ArrayRef<int64_t> result) {
  Type f32 = typeOf(w.scale).getElementType(), i8 = typeOf(w.numbers).getElementType();
  int64_t rows = typeOf(x).getNumElements() / w.k, n = w.n();
  Value numbers = w.numbers;
  if (w.zero)
    numbers = b.cast(b.make<SubOp>(b.cast(numbers, typeOf(w.zero).getElementType()), w.zero), i8);
  auto turned = [&](Value v, ArrayRef<int64_t> order) { return b.make<TransposeOp>(v, order); };
  numbers = turned(numbers, {1, 2, 0});
  Value left = turned(b.reshape(x, {rows, w.blocks(), w.depth()}), {1, 0, 2});
  Value each = b.make<MatmulOp>(left, b.cast(numbers, f32), false, false);
  Value scale = b.reshape(turned(b.reshape(w.scale, {n, w.blocks()}), {1, 0}), {w.blocks(), 1, n});
  return b.reshape(b.reduce(ReduceKind::sum, b.make<MulOp>(each, scale), {0}), result);
}

/// Rearranges a constant [n, k] ([k, n] for `isAcross`) as [n, blocks, depth], minus `shift`.
/// Padding of the last block is 0.
ref::Tensor inBlocks(const ref::Tensor &plain, bool isAcross, int64_t depth, int64_t shift,
                     Type element) {
  const int64_t n = plain.getShape()[isAcross], k = plain.getShape()[!isAcross],
                blocks = llvm::divideCeil(k, depth), rowStep = isAcross ? 1 : k,
                step = isAcross ? n : 1;
  auto made = ref::Tensor::empty(RankedTensorType::get({n, blocks, depth}, element));
  const bool isFloat = isa<FloatType>(element);
  for (int64_t row = 0; row < n; ++row)
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = row * blocks * depth + i, from = row * rowStep + i * step;
      if (isFloat)
        made.setDouble(to, plain.getDouble(from) - double(shift));
      else
        made.setInt(to, plain.getInt(from) - shift);
    }
  return made;
}

/// Reads a dequantization of constant 4- or 8-bit weights [n, k] ([k, n] for `isAcross`) in blocks
/// along k. Returns nothing for other operands, or unless there is one scale for each block.
std::optional<ScaledBlocks> blocksOf(DequantizeOp op, bool isAcross, OpBuilder &builder) {
  constexpr int64_t kUnit = 16;
  auto constantOf = [](Value v) { return v && isOfConstants(v) ? evaluated(v) : std::nullopt; };
  auto x = constantOf(op.getX()), scale = constantOf(op.getScale()),
       zero = constantOf(op.getZeroPoint());
  if (!op.getBlockSize() || *op.getBlockSize() % kUnit || !x || x->getRank() != 2 ||
      int64_t(*op.getAxis()) != !isAcross || !isNarrowInteger(x->getElementType()) || !scale ||
      scale->getRank() != 2 || !typeOf(op.getY()).getElementType().isF32() ||
      (op.getZeroPoint() && !zero))
    return std::nullopt;
  const int64_t depth = int64_t(*op.getBlockSize()), n = x->getShape()[isAcross],
                k = x->getShape()[!isAcross], blocks = llvm::divideCeil(k, depth);
  auto isOfBlocks = [&](const ref::Tensor &each) {
    return each.getRank() == 2 && each.getShape()[isAcross] == n &&
           each.getShape()[!isAcross] == blocks;
  };
  if (!isOfBlocks(*scale) || (zero && zero->size() != 1 && !isOfBlocks(*zero)))
    return std::nullopt;
  // Subtract half of the range from unsigned values, so that they fit i8.
  auto type = cast<IntegerType>(x->getElementType());
  const int64_t middle = type.isUnsigned() ? int64_t(1) << (type.getWidth() - 1) : 0;
  Type centre = zero && isa<FloatType>(zero->getElementType()) ? Type(builder.getF32Type())
                                                               : builder.getI32Type();
  ScaledBlocks found;
  found.k = k;
  auto constant = [&](const ref::Tensor &tensor) {
    RankedTensorType plain = tensor.getType();
    return makeConstant(builder, op.getLoc(), tensor,
                        RankedTensorType::get(plain.getShape(), plain.getElementType(),
                                              deviceOf(op.getX().getType())));
  };
  found.numbers = constant(inBlocks(*x, isAcross, depth, middle, builder.getI8Type()));
  found.scale = constant(inBlocks(*scale, isAcross, 1, 0, builder.getF32Type()));
  if (zero && zero->size() != 1) {
    found.zero = constant(inBlocks(*zero, isAcross, 1, middle, centre));
  } else if (double one = (zero ? zero->getDouble(0) : 0) - double(middle); one != 0) {
    auto each = ref::Tensor::empty(RankedTensorType::get({n, blocks, 1}, centre));
    for (int64_t i = 0; i < each.size(); ++i)
      each.setDouble(i, one);
    found.zero = constant(each);
  }
  return found;
}

} // namespace

bool keepBlocks(MatmulOp product, Costs *costs) {
  constexpr int64_t kMostRows = 4, kFewest = 4096;
  Value x = product.getA(), w = product.getB();
  bool isTurned = product.getTransposeB();
  if (auto transpose = w.getDefiningOp<TransposeOp>(); transpose && typeOf(w).getRank() == 2) {
    isTurned ^= transpose.getPermutation()[0] == 1;
    w = transpose.getX();
  }
  OpBuilder builder(product);
  auto dequantize = w.getDefiningOp<DequantizeOp>();
  auto blocks =
      dequantize ? blocksOf(dequantize, !isTurned, builder) : std::optional<ScaledBlocks>();
  if (!blocks)
    return false;
  TensorBuilder b(builder, product.getLoc());
  auto bits = bitsOf(blocks->numbers);
  bool isMuch = bits && typeOf(w).getNumElements() >= kFewest;
  Value y;
  if (isMuch && costs && costs->rowsOfBlocks() > 0 && !precision::isStrict(product))
    y = productOf(b, product, *blocks);
  if (!y) {
    bool isWhole = blocks->k == blocks->blocks() * blocks->depth();
    // 8-bit values minus a zero point may need nine bits.
    if (!isMuch || !isWhole || product.getTransposeA() || (*bits == 8 && blocks->zero) ||
        typeOf(x).getNumElements() / blocks->k > kMostRows)
      return false;
    y = byBlocks(b, x, *blocks, shapeOf(product.getY()));
  }
  product.getY().replaceAllUsesWith(y);
  product.erase();
  return true;
}

Value keepChannels(MatmulOp product, const Channels &from, Costs &costs) {
  const ref::Tensor &numbers = from.numbers;
  if (numbers.getRank() != 2 || !isNarrowInteger(numbers.getElementType()) ||
      !costs.rowsOfBlocks() || precision::isStrict(product))
    return {};
  // Weights with one scale per column are split into blocks, too: kernels quantize the other
  // operand in blocks, and an outlier then costs precision in its block only.
  constexpr int64_t kDepth = 256, kUnit = 32, kFourBits = 15;
  int64_t n = numbers.getShape()[from.isTurned ? 0 : 1],
          k = numbers.getShape()[from.isTurned ? 1 : 0],
          depth = std::min<int64_t>(kDepth, llvm::divideCeil(k, kUnit) * kUnit),
          blocks = llvm::divideCeil(k, depth);
  Builder types(product.getContext());
  auto each =
           ref::Tensor::empty(RankedTensorType::get({n, blocks, depth}, types.getIntegerType(8))),
       factors = ref::Tensor::empty(RankedTensorType::get({n, blocks, 1}, types.getF32Type())),
       centres = ref::Tensor::empty(RankedTensorType::get({n, blocks, 1}, types.getI32Type()));
  auto within = [&](int64_t most) {
    return llvm::all_of(llvm::seq(numbers.size()),
                        [&](int64_t i) { return numbers.getInt(i) <= most; });
  };
  const auto *bytes = numbers.getElementType().isInteger(8)
                          ? reinterpret_cast<const uint8_t *>(numbers.data())
                          : nullptr;
  // Subtract half of the range from unsigned values.
  int64_t middle = !numbers.getElementType().isUnsignedInteger() ? 0 : within(kFourBits) ? 8 : 128;
  auto *to = reinterpret_cast<uint8_t *>(each.mutableData());
  const auto *scale = reinterpret_cast<const float *>(from.scales.data());
  bool isCentred = false;
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = from.isTurned ? column * k + i : i * n + column;
      to[column * blocks * depth + i] =
          uint8_t((bytes ? int64_t(bytes[at]) : numbers.getInt(at)) - middle);
    }
    auto *first = reinterpret_cast<float *>(factors.mutableData()) + column * blocks;
    std::fill_n(first, blocks, scale[from.scales.size() == 1 ? 0 : column]);
    int64_t zero = from.zeros ? from.zeros->getInt(from.zeros->size() == 1 ? 0 : column) : 0;
    isCentred |= zero != middle;
    for (int64_t i = 0; i < blocks; ++i)
      centres.setInt(column * blocks + i, zero - middle);
  }
  OpBuilder builder(product);
  TensorBuilder b(builder, product.getLoc());
  ScaledBlocks weights;
  weights.numbers = b.make<ConstantOp>(each.toAttr());
  weights.scale = b.make<ConstantOp>(factors.toAttr());
  if (isCentred)
    weights.zero = b.make<ConstantOp>(centres.toAttr());
  weights.k = k;
  return productOf(b, product, weights);
}

} // namespace dlc::quantize
