//===- Norm.cpp - inference of normalization operations -------------------===//
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Norm.cpp.inc"

void DlcDialect::registerNorm() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Norm.cpp.inc"
      >();
}

namespace {
LogicalResult inferSameShape(const InferenceSite &site, NamedOperand x, OnAttr device,
                             Types &types) {
  return addResult(site, types, x.type().getShape(), x.type().getElementType(), device);
}

LogicalResult inferSoftmax(const InferenceSite &site, Value value, int64_t axis, Types &types) {
  NamedOperand x{"x", value};
  if (failed(checkAxis(site, "C1", axis, x)))
    return failure();
  // The softmax result has no blocked layout, because `axis` may be the blocked dimension.
  return inferSameShape(site, x, *commonDevice(site, "", x), types);
}

/// Infers layer_norm and rms_norm. Their parameters broadcast to x's dimensions from `axis` on.
LogicalResult inferTrailingNorm(const InferenceSite &site, ArrayRef<NamedOperand> operands,
                                int64_t axis, Types &types) {
  NamedOperand x = operands[0];
  if (failed(checkAxis(site, "C1", axis, x)))
    return failure();
  ArrayRef<int64_t> normalised = x.type().getShape().drop_front(axis);
  for (const NamedOperand &parameter : operands.drop_front())
    if (parameter.value && !broadcastsTo(parameter.type().getShape(), normalised))
      return site.fail("C2: '", parameter.name,
                       "' must broadcast to x's dimensions from the axis on, ",
                       shapeText(normalised), "; found ", shapeText(parameter.type().getShape()),
                       "; correct the shape");
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C3", operands)) ||
      failed(device = commonDevice(site, "C3", operands)))
    return failure();
  return inferSameShape(site, x, *device, types);
}

/// Checks constraints C1 to C3 of batch_norm and similar operations: the first operand is x with
/// rank 2 or more, the other operands are [C], and all are on one device.
FailureOr<OnAttr> inferPerChannel(const InferenceSite &site, ArrayRef<NamedOperand> operands) {
  RankedTensorType x = operands.front().type();
  if (x.getRank() < 2)
    return site.fail("C1: x's rank must be 2 or more; found ", x.getRank(),
                     "; reshape it to [N, C, ..]");
  for (const NamedOperand &parameter : operands.drop_front())
    if (parameter.value && failed(checkShape(site, "C2", parameter, x.getDimSize(1), "[C]")))
      return failure();
  return commonDevice(site, "C3", operands);
}

/// Appends two result types of shape [channels]: for the mean and for the variance.
LogicalResult addStatistics(const InferenceSite &site, int64_t channels, NamedOperand like,
                            OnAttr device, Types &types) {
  Type element = like.type().getElementType();
  if (failed(addResult(site, types, channels, element, device)))
    return failure();
  return addResult(site, types, channels, element, device);
}
} // namespace

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  return inferSoftmax({location, getOperationName()}, adaptor.getX(), adaptor.getAxis(), types);
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, Types &types) {
  return inferSoftmax({location, getOperationName()}, adaptor.getX(), adaptor.getAxis(), types);
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  return inferTrailingNorm(
      {location, getOperationName()},
      {{"x", adaptor.getX()}, {"scale", adaptor.getScale()}, {"bias", adaptor.getBias()}},
      adaptor.getAxis(), types);
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  return inferTrailingNorm({location, getOperationName()},
                           {{"x", adaptor.getX()}, {"scale", adaptor.getScale()}},
                           adaptor.getAxis(), types);
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  SmallVector<NamedOperand> operands{x, {"scale", adaptor.getScale()}, {"bias", adaptor.getBias()}};
  FailureOr<OnAttr> device = inferPerChannel(site, operands);
  if (failed(device) || failed(sameElementType(site, "C3", operands)))
    return failure();
  int64_t groups = adaptor.getGroups(), channels = x.type().getDimSize(1);
  if (groups < 1 || (!ShapedType::isDynamic(channels) && channels % groups != 0))
    return site.fail("C4: groups must be 1 or more and divide the channels; found ", groups,
                     " groups of ", dimText(channels), " channels; correct one of them");
  return inferSameShape(site, x, *device, types);
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  FailureOr<OnAttr> device = inferPerChannel(site, {{"x", adaptor.getX()},
                                                    {"scale", adaptor.getScale()},
                                                    {"bias", adaptor.getBias()},
                                                    {"mean", adaptor.getMean()},
                                                    {"variance", adaptor.getVariance()}});
  if (failed(device))
    return failure();
  return inferSameShape(site, {"x", adaptor.getX()}, *device, types);
}

LogicalResult BatchNormTrainOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, scale{"scale", adaptor.getScale()},
      bias{"bias", adaptor.getBias()};
  FailureOr<OnAttr> device = inferPerChannel(site, {x, scale, bias});
  if (failed(device))
    return failure();
  ArrayRef<int64_t> shape = x.type().getShape();
  Shape others(shape);
  others.erase(others.begin() + 1);
  if (shape[1] != 0 && llvm::is_contained(others, 0))
    return site.fail("C4: a channel must have at least one element; found ", shapeText(shape),
                     "; give a batch that is not empty");
  if (failed(inferSameShape(site, x, *device, types)))
    return failure();
  return addStatistics(site, shape[1], scale, *device, types);
}

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, dy{"dy", adaptor.getDy()},
      scale{"scale", adaptor.getScale()};
  NamedOperand mean{"mean", adaptor.getMean()}, variance{"variance", adaptor.getVariance()};
  FailureOr<OnAttr> device = inferPerChannel(site, {x, scale, mean, variance});
  if (failed(device) || failed(checkShape(site, "C1", dy, x.type().getShape(), "of x's shape")) ||
      failed(sameElementType(site, "C1", {x, dy})) || failed(commonDevice(site, "C3", {x, dy})) ||
      failed(inferSameShape(site, x, *device, types)))
    return failure();
  return addStatistics(site, x.type().getDimSize(1), scale, *device, types);
}

LogicalResult LrnOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()};
  int64_t size = adaptor.getSize();
  if (x.type().getRank() < 2 || size < 1)
    return site.fail("C1: x's rank must be 2 or more and size 1 or more; found rank ",
                     x.type().getRank(), " and size ", size, "; correct them");
  return inferSameShape(site, x, *commonDevice(site, "", x), types);
}
