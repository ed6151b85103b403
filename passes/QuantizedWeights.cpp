//===- QuantizedWeights.cpp - matmuls whose kernels read quantized weights ===//
#include "passes/QuantizedWeights.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Infer.h"

#include <cmath>

using namespace mlir;

namespace dlc {

DequantizeOp getQuantizedWeights(Operation *op) {
  auto product = dyn_cast_or_null<MatmulOp>(op);
  return product && product->hasAttr(kQuantizedWeightsAttr)
             ? product.getB().getDefiningOp<DequantizeOp>()
             : DequantizeOp();
}

MatmulOp findQuantizedMatmul(FusionOp fusion) {
  for (auto product : fusion.getBody().front().getOps<MatmulOp>())
    if (getQuantizedWeights(product))
      return product;
  return {};
}

bool isQuantizedWeights(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return use.getOperandNumber() == 1 && getQuantizedWeights(use.getOwner());
  });
}

namespace {

/// Values of a scale or a zero point, one for each row of the weights and each block of the row.
struct BlockParameters {
  ref::Tensor tensor;
  /// Strides in `tensor` between two rows and two blocks; 0 if all have the same value.
  int64_t rowStep = 0, blockStep = 0;

  BlockParameters(const ref::Tensor &tensor, bool isTransposed) : tensor(tensor) {
    if (tensor.getRank() != 2)
      return;
    const int64_t rows = tensor.getShape()[!isTransposed], blocks = tensor.getShape()[isTransposed];
    rowStep = rows == 1 ? 0 : isTransposed ? blocks : 1;
    blockStep = blocks == 1 ? 0 : isTransposed ? 1 : rows;
  }
  double at(int64_t row, int64_t block) const {
    return tensor.getDouble(row * rowStep + block * blockStep);
  }
};

} // namespace

std::optional<QuantizedWeights> QuantizedWeights::read(MatmulOp product, Reader reader) {
  constexpr int64_t kUnit = 16, kDepth = 256, kDefaultUnit = 32;
  auto op = product.getB().getDefiningOp<DequantizeOp>();
  if (!op || typeOf(op.getY()).getRank() != 2 || !typeOf(op.getY()).getElementType().isF32() ||
      !isNarrowInteger(typeOf(op.getX()).getElementType()))
    return std::nullopt;
  auto scale = reader(op.getScale()),
       zero = op.getZeroPoint() ? reader(op.getZeroPoint()) : std::nullopt;
  QuantizedWeights w;
  w.stored = reader(op.getX());
  if (!w.stored || !scale || (op.getZeroPoint() && !zero))
    return std::nullopt;
  w.isTransposed = product.getTransposeB();
  w.n = w.stored->getShape()[!w.isTransposed];
  w.k = w.stored->getShape()[w.isTransposed];
  auto type = cast<IntegerType>(w.stored->getElementType());
  w.bits = type.getWidth();
  w.middle = type.isUnsigned() ? int64_t(1) << (w.bits - 1) : 0;

  const BlockParameters scaleOf(*scale, w.isTransposed);
  const auto zeroOf = zero ? std::optional(BlockParameters(*zero, w.isTransposed)) : std::nullopt;
  // Weights with one scale per row are split into blocks, too, because kernels quantize the left
  // operand in blocks: an outlier then reduces the precision of its block only.
  w.depth = std::min<int64_t>(kDepth, llvm::divideCeil(w.k, kDefaultUnit) * kDefaultUnit);
  if (scaleOf.blockStep || (zeroOf && zeroOf->blockStep)) {
    if (!op.getBlockSize() || int64_t(*op.getAxis()) != int64_t(w.isTransposed) ||
        *op.getBlockSize() % kUnit)
      return std::nullopt;
    w.depth = int64_t(*op.getBlockSize());
  } else if (op.getBlockSize() && int64_t(*op.getAxis()) != int64_t(w.isTransposed)) {
    return std::nullopt;
  }
  w.blocks = llvm::divideCeil(w.k, w.depth);

  w.scales.resize(size_t(w.n * w.blocks));
  w.zeros.resize(w.scales.size());
  const double most = double(int64_t(1) << (w.bits - 1));
  bool isZero = true;
  for (int64_t row = 0, at = 0; row < w.n; ++row)
    for (int64_t block = 0; block < w.blocks; ++block, ++at) {
      const double centre = (zeroOf ? zeroOf->at(row, block) : 0) - double(w.middle);
      if (centre != std::rint(centre) || centre < -most || centre >= most)
        return std::nullopt;
      w.scales[size_t(at)] = float(scaleOf.at(row, block));
      w.zeros[size_t(at)] = float(centre);
      isZero &= centre == 0;
    }
  if (isZero)
    w.zeros.clear();
  return w;
}

template <typename Visit> void QuantizedWeights::forEach(Visit visit) const {
  const int64_t outer = stored->getShape()[0], inner = stored->getShape()[1];
  const int64_t perByte = 8 / bits, rowBytes = llvm::divideCeil(inner, perByte);
  const auto *data = reinterpret_cast<const uint8_t *>(stored->data());
  const int shift = int(8 - bits);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j) {
      const int byte = data[i * rowBytes + j / perByte] >> (j % perByte * bits);
      // XOR with the highest bit subtracts half of the range of an unsigned type.
      const auto number = int8_t(int8_t((byte ^ middle) << shift) >> shift);
      isTransposed ? visit(i * inner + j, i, j, number) : visit(i * inner + j, j, i, number);
    }
}

std::vector<int8_t> QuantizedWeights::numbers() const {
  std::vector<int8_t> result(size_t(n * blocks * depth));
  forEach([&](int64_t, int64_t row, int64_t column, int8_t number) {
    result[size_t(row * blocks * depth + column)] = number;
  });
  return result;
}

ref::Tensor QuantizedWeights::dequantized() const {
  auto result = ref::Tensor::empty(
      RankedTensorType::get(stored->getShape(), Float32Type::get(stored->getType().getContext())));
  auto *to = reinterpret_cast<float *>(result.mutableData());
  forEach([&](int64_t at, int64_t row, int64_t column, int8_t number) {
    const auto block = size_t(row * blocks + column / depth);
    to[at] = (float(number) - (zeros.empty() ? 0 : zeros[block])) * scales[block];
  });
  return result;
}

} // namespace dlc
