//===- Weights.cpp - constant weights in fewer bits -----------------------===//
//
//   f32:  x·W  ->  x·cast(W in bf16 or f16), for few rows, if 16 bits represent W exactly
//   bf16: x·W  ->  x·cast(W in bf16)
//   int8: x·W  ->  (x·cast(Q)) * s, with Q = round(W / s), s = max |W| of each column / 127
//
// The IR defines the result: matmuls are computed in f32, and kernels read the narrow weights. This
// is faster if a matmul is bound by weight bandwidth, as with one row of x.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/precision/Names.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace dlc {
namespace {

/// Minimum number of elements of weights that are converted. Smaller constants stay unchanged,
/// because reading them takes no significant time.
constexpr int64_t kMin = 4096;

uint16_t roundToBF16(float x) {
  uint32_t bits = llvm::bit_cast<uint32_t>(x);
  if (std::isnan(x))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float widened(uint16_t x) { return llvm::bit_cast<float>(uint32_t(x) << 16); }

/// Return the bits of the number in bf16 (f16), or nullopt if the type does not represent the
/// number exactly.
std::optional<uint16_t> toExactBF16(float x) {
  auto bits = llvm::bit_cast<uint32_t>(x);
  return std::isfinite(x) && !(bits & 0xffff) ? std::optional(uint16_t(bits >> 16)) : std::nullopt;
}
std::optional<uint16_t> toExactF16(float x) {
  constexpr float kNormal = 0x1p-14f, kUnit = 0x1p-24f, kLargest = 65504;
  constexpr uint32_t kDropped = 13, kBias = 127 - 15, kSign = 0x8000;
  auto bits = llvm::bit_cast<uint32_t>(x);
  uint32_t sign = bits >> 16 & kSign;
  float size = std::abs(x);
  if (size < kNormal) {
    float units = size / kUnit;
    return units == std::trunc(units) ? std::optional(uint16_t(sign | uint32_t(units)))
                                      : std::nullopt;
  }
  if (!(size <= kLargest) || bits & ((1u << kDropped) - 1))
    return std::nullopt;
  return uint16_t(sign | (((bits & 0x7fffffff) >> kDropped) - (kBias << (23 - kDropped))));
}

/// Weights in fewer bits, and the scale of each column if the weights are int8.
struct NarrowWeights {
  Value bits, scales;
};

/// Statistics of the rounding error over all converted weights.
struct RoundingErrors {
  int64_t tensors = 0, elements = 0, bytes = 0;
  /// Sum of squared errors, sum of squared weights, and the largest error relative to the largest
  /// weight of its column (for bf16: of its tensor).
  double differences = 0, squares = 0, largest = 0;

  void count(double weight, double kept, double unit) {
    differences += (weight - kept) * (weight - kept);
    squares += weight * weight;
    if (unit > 0)
      largest = std::max(largest, std::abs(weight - kept) / unit);
  }
};

/// Sizes and strides of one or several matrices, whose columns are those of the matmul's right
/// operand after its transpose flag is applied.
struct WeightColumns {
  int64_t matrices, columns, rows, columnStep, rowStep;

  WeightColumns(ArrayRef<int64_t> shape, bool transposed) {
    size_t rank = shape.size();
    columns = shape[transposed ? rank - 2 : rank - 1];
    rows = shape[transposed ? rank - 1 : rank - 2];
    columnStep = transposed ? rows : 1;
    rowStep = transposed ? 1 : columns;
    matrices = 1;
    for (int64_t size : shape.drop_back(2))
      matrices *= size;
  }
};

enum class WeightType { Exact, BF16, Int8 };

class WeightNarrower {
public:
  WeightNarrower(WeightType form, RoundingErrors &losses) : form(form), losses(losses) {}

  void keep(MatmulOp op) {
    auto constant = op.getB().getDefiningOp<ConstantOp>();
    if (!constant || !isWeight(constant) ||
        typeOf(op.getA()).getElementType() != typeOf(op.getB()).getElementType())
      return;
    auto [found, isNew] = known.try_emplace(constant, NarrowWeights());
    if (isNew)
      found->second = made(constant, op.getTransposeB());
    if (!found->second.bits)
      return;
    OpBuilder builder(op);
    TensorBuilder b(builder, op.getLoc());
    Type f32 = typeOf(op.getB()).getElementType();
    op.getBMutable().assign(b.cast(found->second.bits, f32));
    if (!found->second.scales)
      return;
    builder.setInsertionPointAfter(op);
    Value product = op.getY(), scaled = b.make<MulOp>(product, found->second.scales);
    product.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  }

private:
  /// Returns whether all users of the constant are matmuls that read it as their right operand,
  /// with equal transpose flags. For inexact types, none of them may have strict accuracy. For
  /// exact conversion, all of them must be bound by weight bandwidth.
  bool isWeight(ConstantOp constant) const {
    auto type = typeOf(constant.getResult());
    if (!type.getElementType().isF32() || type.getRank() < 2 || staticElements(type) < kMin)
      return false;
    std::optional<bool> transposed;
    for (OpOperand &use : constant->getUses()) {
      auto product = dyn_cast<MatmulOp>(use.getOwner());
      if (!product || use.getOperandNumber() != 1)
        return false;
      if ((form == WeightType::Exact ? !isWeightBandwidthBound(product)
                                     : precision::isStrictAccuracy(product)) ||
          transposed.value_or(product.getTransposeB()) != product.getTransposeB())
        return false;
      transposed = product.getTransposeB();
    }
    return true;
  }

  NarrowWeights made(ConstantOp constant, bool transposed) {
    auto plain = ref::Tensor::fromAttr(constant.getValue());
    if (failed(plain))
      return {};
    const float *from = reinterpret_cast<const float *>(plain->data());
    if (form == WeightType::Exact)
      return exactly(constant, ArrayRef(from, plain->size()));
    if (!llvm::all_of(ArrayRef(from, plain->size()), [](float x) { return std::isfinite(x); }))
      return {};
    ++losses.tensors;
    losses.elements += plain->size();
    OpBuilder builder(constant);
    TensorBuilder b(builder, constant.getLoc());
    auto type = typeOf(constant.getResult());
    WeightColumns columns(staticShape(type), transposed);
    return form == WeightType::Int8 ? inBytes(b, type, from, columns)
                                    : inHalves(b, type, from, columns);
  }

  static NarrowWeights exactly(ConstantOp constant, ArrayRef<float> from) {
    auto type = typeOf(constant.getResult());
    auto held = [&](Type element, auto &&exact) -> Value {
      if (!llvm::all_of(from, [&](float x) { return exact(x).has_value(); }))
        return {};
      ref::Tensor halves = ref::Tensor::empty(type.clone(element));
      auto *to = reinterpret_cast<uint16_t *>(halves.mutableData());
      for (auto [i, x] : llvm::enumerate(from))
        to[i] = *exact(x);
      OpBuilder builder(constant);
      return TensorBuilder(builder, constant.getLoc()).make<ConstantOp>(halves.toAttr());
    };
    Value bits = held(BFloat16Type::get(type.getContext()), toExactBF16);
    return {bits ? bits : held(Float16Type::get(type.getContext()), toExactF16), {}};
  }

  NarrowWeights inHalves(TensorBuilder &b, RankedTensorType type, const float *from,
                         const WeightColumns &) {
    ref::Tensor halves = ref::Tensor::empty(type.clone(BFloat16Type::get(type.getContext())));
    auto *to = reinterpret_cast<uint16_t *>(halves.mutableData());
    double most = 0;
    for (int64_t i = 0; i < staticElements(type); ++i)
      most = std::max(most, double(std::abs(from[i])));
    for (int64_t i = 0; i < staticElements(type); ++i) {
      to[i] = roundToBF16(from[i]);
      losses.count(from[i], widened(to[i]), most);
    }
    losses.bytes += halves.bytes();
    return {b.make<ConstantOp>(halves.toAttr()), {}};
  }

  NarrowWeights inBytes(TensorBuilder &b, RankedTensorType type, const float *from,
                        const WeightColumns &c) {
    SmallVector<int64_t> shape(staticShape(type).drop_back(2));
    if (!shape.empty())
      shape.push_back(1);
    shape.push_back(c.columns);
    ref::Tensor bytes = ref::Tensor::empty(type.clone(IntegerType::get(type.getContext(), 8))),
                scales = ref::Tensor::empty(type.clone(shape));
    auto *to = reinterpret_cast<int8_t *>(bytes.mutableData());
    auto *scale = reinterpret_cast<float *>(scales.mutableData());
    std::vector<float> most(c.columns);
    for (int64_t matrix = 0; matrix < c.matrices; ++matrix) {
      int64_t start = matrix * c.rows * c.columns;
      // Calls visit(index, column) for all weights of a matrix in memory order. Either the rows or
      // the columns of the matrix are contiguous.
      auto each = [&](auto &&visit) {
        int64_t outer = c.columnStep == 1 ? c.rows : c.columns,
                inner = c.columnStep == 1 ? c.columns : c.rows;
        for (int64_t i = 0, at = start; i < outer; ++i)
          for (int64_t j = 0; j < inner; ++j, ++at)
            visit(at, c.columnStep == 1 ? j : i);
      };
      std::fill(most.begin(), most.end(), 0.f);
      each([&](int64_t at, int64_t column) {
        most[column] = std::max(most[column], std::abs(from[at]));
      });
      float *factors = scale + matrix * c.columns;
      for (int64_t column = 0; column < c.columns; ++column)
        factors[column] = most[column] > 0 ? most[column] / 127 : 1;
      each([&](int64_t at, int64_t column) {
        to[at] = int8_t(std::clamp(std::nearbyint(from[at] / factors[column]), -127.f, 127.f));
        losses.count(from[at], double(to[at]) * double(factors[column]), most[column]);
      });
    }
    losses.bytes += bytes.bytes() + scales.bytes();
    return {b.make<ConstantOp>(bytes.toAttr()), b.make<ConstantOp>(scales.toAttr())};
  }

  WeightType form;
  RoundingErrors &losses;
  std::map<Operation *, NarrowWeights> known;
};

/// Returns whether the weights of matmuls with few rows together exceed the caches of a core.
bool exceedCaches(ArrayRef<MatmulOp> products) {
  constexpr int64_t kBytes = 8 << 20;
  int64_t bytes = 0;
  for (MatmulOp product : products)
    if (isWeightBandwidthBound(product) && product.getB().getDefiningOp<ConstantOp>())
      bytes += staticElements(typeOf(product.getB())) * int64_t(sizeof(float));
  return bytes >= kBytes;
}

struct WeightsPass : OptionPass<WeightsPass> {
  explicit WeightsPass(const ModelOptions &options)
      : OptionPass("dlc-weights", "stores constant matmul weights in bf16 or int8",
                   {"weights", "device", "place"}, options) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    const std::string &weights = options.weights;
    SmallVector<MatmulOp> products;
    module.walk([&](MatmulOp op) { products.push_back(op); });
    bool isExact = weights == "f32";
    if (isExact && (!options.place.empty() || can(options.device, DLC_DEVICE_GPU_CODE) ||
                    !exceedCaches(products)))
      return success();
    RoundingErrors losses;
    WeightNarrower narrower(isExact             ? WeightType::Exact
                            : weights == "int8" ? WeightType::Int8
                                                : WeightType::BF16,
                            losses);
    for (MatmulOp op : products)
      narrower.keep(op);
    if (isExact)
      return success();
    module.emitRemark(
        llvm::formatv("{0} weights are stored in {1}: {2:F1} MiB instead of {3:F1}; error relative "
                      "to a {5}'s largest value: {4:e1} at most, {6:e1} root mean square",
                      losses.tensors, weights, double(losses.bytes) / (1 << 20),
                      double(losses.elements) * 4 / (1 << 20), losses.largest,
                      weights == "int8" ? "column" : "tensor",
                      losses.squares > 0 ? std::sqrt(losses.differences / losses.squares) : 0.0)
            .str());
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createWeightsPass(const ModelOptions &options) {
  return std::make_unique<WeightsPass>(options);
}

} // namespace dlc
