//===- Depthwise.cpp - depthwise convolutions and pools in two dimensions ----===//
#include "ir/dlc/Contraction.h"
#include "ir/dlc/Shape.h"
#include "passes/layout/Alternatives.h"

using namespace mlir;

namespace dlc {

namespace {

using Shape = SmallVector<int64_t>;

Shape insertUnitHeight(ArrayRef<int64_t> shape) {
  Shape result(shape);
  result.insert(result.end() - 1, 1);
  return result;
}

} // namespace

int64_t getChannelMultiplier(ConvOp op) {
  int64_t channels = shapeOf(op.getX())[1], groups = op.getGroups();
  return groups == channels && groups > 1 ? shapeOf(op.getW())[0] / groups : 0;
}

bool isDepthwise(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return getChannelMultiplier(conv) == 1;
  int64_t channels = shapeOf(op->getOperand(0))[1];
  if (auto transposed = dyn_cast<ConvTransposeOp>(op))
    return channels > 1 && int64_t(transposed.getGroups()) == channels &&
           shapeOf(transposed.getY())[1] == channels;
  auto gradient = dyn_cast<ConvWeightGradOp>(op);
  return gradient && channels > 1 && int64_t(gradient.getGroups()) == channels &&
         shapeOf(gradient.getDy())[1] == channels;
}

std::optional<Alternative> expand1dTo2d(Operation *op, AlternativeBuilder &b) {
  bool isPool = op->hasTrait<Pooling>();
  if (!isPool && !isDepthwise(op))
    return std::nullopt;
  // A height dimension of size 1 is inserted into all operands with spatial dimensions: all
  // operands of a pool, and the first two operands of a convolution or its gradient, but not the
  // bias.
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : MutableArrayRef(operands).take_front(isPool ? operands.size() : 2))
    operand = b.reshape(operand, insertUnitHeight(shapeOf(operand)));
  Operation *flat = b.builder.clone(*op);
  flat->setOperands(operands);
  for (NamedAttribute attribute : op->getAttrs())
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue())) {
      StringRef name = attribute.getName().getValue();
      bool isPadding = name.ends_with("low") || name.ends_with("high") || name == "extra";
      Shape values{isPadding ? 0 : 1};
      values.append(list.asArrayRef().begin(), list.asArrayRef().end());
      flat->setAttr(attribute.getName(), b.builder.getDenseI64ArrayAttr(values));
    }
  Alternative alternative;
  for (auto [before, after] : llvm::zip(op->getResults(), flat->getResults())) {
    auto type = typeOf(before);
    after.setType(type.clone(insertUnitHeight(staticShape(type))));
    alternative.results.push_back(b.reshape(after, staticShape(type)));
  }
  alternative.work = {flat};
  return alternative;
}

std::optional<Alternative> decompose3dDepthwiseConv(ConvOp op, AlternativeBuilder &b) {
  if (getChannelMultiplier(op) != 1)
    return std::nullopt;
  auto tail = [](ArrayRef<int64_t> list) { return Shape(list.drop_front()); };
  ArrayRef<int64_t> x = shapeOf(op.getX()), w = shapeOf(op.getW()), y = shapeOf(op.getY());
  // Each plane of a volume becomes an image of its own: [N, depth, C, H, W].
  Value planes = b.make<TransposeOp>(op.getX(), Shape{0, 2, 1, 3, 4});
  if (op.getLow()[0] != 0 || op.getHigh()[0] != 0)
    planes = b.make<PadOp>(planes, b.zero(planes), PadMode::constant,
                           Shape{0, op.getLow()[0], 0, 0, 0}, Shape{0, op.getHigh()[0], 0, 0, 0});
  Alternative alternative;
  Value sum;
  for (int64_t k = 0; k < w[2]; ++k) {
    Value part =
        b.make<SliceOp>(planes, Shape{0, k * op.getDilations()[0], 0, 0, 0},
                        Shape{x[0], y[2], x[1], x[3], x[4]}, Shape{1, op.getStrides()[0], 1, 1, 1});
    Value weights = b.make<SliceOp>(op.getW(), Shape{0, 0, k, 0, 0},
                                    Shape{w[0], w[1], 1, w[3], w[4]}, Shape(5, 1));
    Value plane = b.make<ConvOp>(b.reshape(part, {x[0] * y[2], x[1], x[3], x[4]}),
                                 b.reshape(weights, {w[0], w[1], w[3], w[4]}),
                                 k == 0 ? op.getBias() : Value(), tail(op.getStrides()),
                                 tail(op.getDilations()), tail(op.getLow()), tail(op.getHigh()),
                                 op.getGroups());
    alternative.work.push_back(plane.getDefiningOp());
    sum = sum ? b.make<AddOp>(plane, sum) : plane;
  }
  alternative.results = {
      b.make<TransposeOp>(b.reshape(sum, {y[0], y[2], y[1], y[3], y[4]}), Shape{0, 2, 1, 3, 4})};
  alternative.moved = {op.getX(), op.getY()};
  return alternative;
}

std::optional<Alternative> repeatDepthwiseChannels(ConvOp op, AlternativeBuilder &b) {
  int64_t times = getChannelMultiplier(op);
  if (times < 2)
    return std::nullopt;
  Shape each(shapeOf(op.getX())), all(each);
  each.insert(each.begin() + 2, 1);
  Shape repeated(each);
  repeated[2] = times;
  all[1] *= times;
  Value x = b.reshape(b.broadcast(b.reshape(op.getX(), each), repeated), all);
  Value y = b.make<ConvOp>(x, op.getW(), op.getBias(), op.getStrides(), op.getDilations(),
                           op.getLow(), op.getHigh(), op.getGroups() * times);
  setZeroPoints(y.getDefiningOp(), op.getXZeroPoint(), op.getWZeroPoint());
  return Alternative{{y}, {y.getDefiningOp()}, {x}};
}

} // namespace dlc
