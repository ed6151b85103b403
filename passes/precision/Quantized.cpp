//===- Quantized.cpp - which products of 8-bit integers are sums of integers ===//
//
//   x·w of dequantised operands  ->  (x's integers · w's integers) * scales
//   x·w of i32, without a kernel ->  the same in f32, in parts that f32 holds exactly
//
// The first where a library has a kernel for it. The second where it has none: on processors
// without VNNI, on GPUs, for windows that it lacks.
//
//===----------------------------------------------------------------------===//
#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/Widened.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

/// cast(integers) * scale.
struct Dequantized {
  Value integers; ///< i32
  Value scale;    ///< f32, broadcast to them
};

/// Whether only constants make it.
bool isOfConstants(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 &&
         (isa<ConstantOp>(op) ||
          (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), isOfConstants)));
}

/// The largest |x| of centred integers of 8 bits; nothing where `value` is none.
std::optional<double> boundOf(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    auto tensor = ref::Tensor::fromAttr(constant.getValue());
    if (failed(tensor) || !isInt32(value.getType()))
      return std::nullopt;
    double largest = 0;
    for (int64_t i = 0; i < tensor->size(); ++i)
      largest = std::max(largest, std::abs(double(tensor->getInt(i))));
    return largest <= 255 ? std::optional(largest) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1)
    return boundOf(op->getOperand(0));
  if (auto sub = value.getDefiningOp<SubOp>(); sub && typeOf(sub.getB()).getNumElements() != 1) {
    // Weights with a zero point for each channel.
    auto cast = sub.getA().getDefiningOp<CastOp>();
    if (!cast || !isInt8(cast.getX().getType()) || !isOfConstants(sub.getB()))
      return std::nullopt;
    bool isCentred =
        isSplatOf(sub.getB(), 0) && !typeOf(cast.getX()).getElementType().isUnsignedInteger();
    return isCentred ? 128.0 : 255.0;
  }
  auto widened = matchWidened(value);
  if (!widened)
    return std::nullopt;
  bool isCentred = !widened->zeroPoint || isSplatOf(widened->zeroPoint, 0);
  return isCentred && !typeOf(widened->x).getElementType().isUnsignedInteger() ? 128.0 : 255.0;
}

std::optional<Dequantized> dequantized(Value value, OpBuilder &builder) {
  // Views of what has one scale are views of its integers.
  if (Operation *op = value.getDefiningOp();
      op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1) {
    auto inner = dequantized(op->getOperand(0), builder);
    if (!inner || typeOf(inner->scale).getNumElements() != 1)
      return std::nullopt;
    Operation *view = builder.clone(*op);
    view->setOperand(0, inner->integers);
    view->getResult(0).setType(typeOf(value).clone(builder.getI32Type()));
    return Dequantized{view->getResult(0), inner->scale};
  }
  auto mul = value.getDefiningOp<MulOp>();
  auto cast = mul ? mul.getA().getDefiningOp<CastOp>() : CastOp();
  if (!cast || !typeOf(value).getElementType().isF32() || !isInt32(cast.getX().getType()) ||
      shapeOf(cast.getX()) != shapeOf(value) || !boundOf(cast.getX()))
    return std::nullopt;
  return Dequantized{cast.getX(), mul.getB()};
}

class Rewriter {
public:
  /// `isHost`: everything stands where processors' kernels run.
  Rewriter(ModuleOp module, Costs &costs, bool isHost)
      : builder(module.getContext()), costs(costs), isHost(isHost) {
    module.walk([&](GradientOp) { isTraining = true; });
  }

  void rewrite(Operation *op) {
    builder.setInsertionPoint(op);
    Type element = typeOf(op->getResult(0)).getElementType();
    if (!typeOf(op->getResult(0)).hasStaticShape())
      return;
    if (element.isF32() && isHost && !isTraining)
      asIntegers(op);
    else if (element.isInteger(32) && !hasKernel(op))
      asFloats(op);
  }

private:
  /// Of a contraction in i32.
  bool hasKernel(Operation *op) {
    auto weights = matchWidened(op->getOpOperand(1));
    bool isWeight =
        isOfConstants(op->getOperand(1)) ||
        (isa<MatmulOp>(op) && weights && !typeOf(weights->x).getElementType().isUnsignedInteger());
    return isHost && isWeight && costs.sumsIntegers(op);
  }

  void asIntegers(Operation *op) {
    auto x = dequantized(op->getOperand(0), builder), w = dequantized(op->getOperand(1), builder);
    if (!x || !w || typeOf(x->scale).getNumElements() != 1)
      return;
    auto factors = perChannel(op, w->scale);
    if (!factors)
      return;
    Operation *sums = builder.clone(*op);
    sums->setOperands({x->integers, w->integers});
    sums->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getI32Type()));
    if (!hasKernel(sums))
      return sums->erase();
    TensorBuilder b(builder, op->getLoc());
    Value scale = typeOf(x->scale).getRank() ? b.reshape(x->scale, {}) : x->scale;
    Value y = b.make<MulOp>(b.cast(sums->getResult(0), builder.getF32Type()),
                            b.make<MulOp>(*factors, scale));
    if (op->getNumOperands() > 2)
      y = b.make<AddOp>(y, b.reshape(op->getOperand(2), channelShape(op)));
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }

  /// One per channel of the result, to be broadcast to it.
  static SmallVector<int64_t> channelShape(Operation *op) {
    auto type = typeOf(op->getResult(0));
    if (isa<MatmulOp>(op))
      return {type.getShape().back()};
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    return shape;
  }

  /// The scales of weights beside the result; nothing where they are not one for each channel.
  std::optional<Value> perChannel(Operation *op, Value scale) {
    TensorBuilder b(builder, op->getLoc());
    auto type = typeOf(scale);
    if (type.getNumElements() == 1)
      return type.getRank() ? b.reshape(scale, {}) : scale;
    // Of weights [O, I, ..], [K, N], or [N, K] where they lie turned.
    int64_t rank = typeOf(op->getOperand(1)).getRank(), axis = 0;
    if (auto product = dyn_cast<MatmulOp>(op))
      axis = product.getTransposeB() ? rank - 2 : rank - 1;
    if (type.getRank() != rank || type.getNumElements() != type.getDimSize(axis))
      return std::nullopt;
    return b.reshape(scale, channelShape(op));
  }

  /// Exact where no sum passes 2^24.
  void asFloats(Operation *op) {
    auto x = boundOf(op->getOperand(0)), w = boundOf(op->getOperand(1));
    if (!x || !w)
      return;
    constexpr double kExact = 1 << 24;
    double most = kExact / std::max(*x * *w, 1.0);
    ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
    TensorBuilder b(builder, op->getLoc());
    auto part = [&](Value left, Value right) {
      Value operands[] = {b.cast(left, builder.getF32Type()), b.cast(right, builder.getF32Type())};
      Operation *sums = builder.clone(*op);
      sums->setOperands(operands);
      sums->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getF32Type()));
      return b.cast(sums->getResult(0), builder.getI32Type());
    };
    // Along this axis of both sums may be split; a step of it is so many products.
    auto product = dyn_cast<MatmulOp>(op);
    auto conv = dyn_cast<ConvOp>(op);
    int64_t left =
                product ? typeOf(product.getA()).getRank() - (product.getTransposeA() ? 2 : 1) : 1,
            right = product ? int64_t(weights.size()) - (product.getTransposeB() ? 1 : 2) : 1;
    int64_t depth = weights[right],
            each = product ? 1 : ShapedType::getNumElements(weights.drop_front(2));
    int64_t step = int64_t(most) / each;
    if (step > 64)
      step = step / 64 * 64;
    if (step < 1 || (step < depth && conv && conv.getGroups() != 1))
      return;
    Value sum;
    for (int64_t from = 0; from < depth; from += step) {
      int64_t size = std::min(step, depth - from);
      Value one = size == depth ? part(op->getOperand(0), op->getOperand(1))
                                : part(slice(b, op->getOperand(0), left, from, size),
                                       slice(b, op->getOperand(1), right, from, size));
      sum = sum ? b.make<AddOp>(sum, one) : one;
    }
    if (op->getNumOperands() > 2)
      sum = b.make<AddOp>(sum, b.reshape(op->getOperand(2), channelShape(op)));
    if (!sum)
      return;
    op->getResult(0).replaceAllUsesWith(sum);
    op->erase();
  }

  static Value slice(TensorBuilder &b, Value x, int64_t axis, int64_t from, int64_t size) {
    SmallVector<int64_t> start(typeOf(x).getRank(), 0), sizes(shapeOf(x)),
        stride(typeOf(x).getRank(), 1);
    start[axis] = from;
    sizes[axis] = size;
    return b.make<SliceOp>(x, start, sizes, stride);
  }

  OpBuilder builder;
  Costs &costs;
  const bool isHost;
  bool isTraining = false;
};

struct QuantizedPass : OptionPass<QuantizedPass> {
  QuantizedPass(const ModelOptions &options, CostsMaker kernels)
      : OptionPass("dlc-quantized",
                   "products of 8-bit integers as sums of integers where there are kernels",
                   {"device", "place", "threads"}, options),
        kernels(std::move(kernels)) {}
  QuantizedPass(const QuantizedPass &other) : OptionPass(other), kernels(other.kernels) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    std::unique_ptr<Costs> costs = makeCosts(which, kernels, options, module);
    if (!costs)
      return failure();
    bool isHost = options.place.empty() && !can(options.device, DLC_DEVICE_GPU_CODE);
    Rewriter rewriter(module, *costs, isHost);
    SmallVector<Operation *> contractions;
    module.walk([&](Operation *op) {
      if (isa<ConvOp, MatmulOp>(op))
        contractions.push_back(op);
    });
    for (Operation *op : contractions)
      rewriter.rewrite(op);
    return success();
  }

  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
  CostsMaker kernels;
};

} // namespace

std::unique_ptr<Pass> createQuantizedPass(const ModelOptions &options, CostsMaker kernels) {
  return std::make_unique<QuantizedPass>(options, std::move(kernels));
}

} // namespace dlc
