//===- Conv.cpp - inference and index maps of convolutions ----------------===//
#include "ir/dlc/IndexMap.h"
#include "ir/dlc/Infer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Conv.cpp.inc"

void DlcDialect::registerConv() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Conv.cpp.inc"
      >();
}

namespace {
/// Checks the constraints that conv and conv_transpose share: ranks (C1), attribute sizes (C2) and
/// one device for all operands (C4).
template <typename Adaptor>
LogicalResult checkConvOperands(const InferenceSite &site, Adaptor adaptor,
                                FailureOr<OnAttr> &device) {
  NamedOperand x{"x", adaptor.getX()}, w{"w", adaptor.getW()}, bias{"bias", adaptor.getBias()};
  int64_t rank = x.type().getRank();
  if (rank < 3 || rank > 5)
    return site.fail("C1: 'x' must be [N, C, spatial..] with 1 to 3 spatial dimensions; found ",
                     shapeText(x.type().getShape()), "; reshape it");
  if (w.type().getRank() != rank)
    return site.fail("C1: both ranks must agree; 'x' has rank ", rank, ", 'w' rank ",
                     w.type().getRank(), "; reshape one");
  size_t spatial = rank - 2;
  if (failed(checkEntries(site, "C2", "strides", adaptor.getStrides(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "dilations", adaptor.getDilations(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "low", adaptor.getLow(), spatial)) ||
      failed(checkEntries(site, "C2", "high", adaptor.getHigh(), spatial)))
    return failure();
  device = commonDevice(site, "C4", {x, w, bias});
  return device;
}

template <typename Adaptor> WindowedDim makeWindowedDim(Adaptor adaptor, size_t i) {
  return {tensorType(adaptor.getX()).getDimSize(i + 2),
          tensorType(adaptor.getW()).getDimSize(i + 2),
          adaptor.getStrides()[i],
          adaptor.getDilations()[i],
          adaptor.getLow()[i],
          adaptor.getHigh()[i]};
}

LogicalResult wrongChannels(const InferenceSite &site, int64_t channels, ArrayRef<int64_t> weights,
                            int64_t groups) {
  return site.fail("C3: channels must agree under `groups`, which divides both; found ",
                   dimText(channels), " channels in 'x', weights ", shapeText(weights),
                   " and groups ", groups, "; correct the groups or a shape");
}

bool divides(int64_t groups, int64_t dim) {
  return ShapedType::isDynamic(dim) || dim % groups == 0;
}
} // namespace

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  FailureOr<OnAttr> device;
  if (failed(checkConvOperands(site, adaptor, device)))
    return failure();
  RankedTensorType x = tensorType(adaptor.getX());
  ArrayRef<int64_t> w = tensorType(adaptor.getW()).getShape();
  int64_t groups = adaptor.getGroups(), channels = x.getDimSize(1);
  if (groups < 1 || !divides(groups, channels) || !divides(groups, w[0]) ||
      (!ShapedType::isDynamic(channels) && !areDimsCompatible(channels / groups, w[1])))
    return wrongChannels(site, channels, w, groups);
  NamedOperand zeroX{"x_zero_point", adaptor.getXZeroPoint()},
      zeroW{"w_zero_point", adaptor.getWZeroPoint()};
  FailureOr<Type> element =
      contractionElement(site, "C4", "C7", {"x", adaptor.getX()}, {"w", adaptor.getW()},
                         {"bias", adaptor.getBias()}, zeroX, zeroW);
  if (failed(element) ||
      failed(checkShape(site, "C6", {"bias", adaptor.getBias()}, w[0], "[output channels]")))
    return failure();
  if (zeroX.value && zeroX.type().getRank() != 0)
    return site.fail("C8: 'x_zero_point' must have rank 0; found ",
                     shapeText(zeroX.type().getShape()), "; reshape it");
  if (zeroW.value && zeroW.type().getRank() != 0 &&
      failed(checkShape(site, "C8", zeroW, w[0], "[output channels], or have rank 0")))
    return failure();
  Shape shape{x.getDimSize(0), w[0]};
  for (int64_t i = 0; i < x.getRank() - 2; ++i) {
    FailureOr<int64_t> dim = windowedDim(site, "C5", i, makeWindowedDim(adaptor, i));
    if (failed(dim))
      return failure();
    shape.push_back(*dim);
  }
  return addResult(site, types, shape, *element, *device);
}

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  FailureOr<OnAttr> device;
  if (failed(checkConvOperands(site, adaptor, device)) ||
      failed(sameElementType(
          site, "C4", {{"x", adaptor.getX()}, {"w", adaptor.getW()}, {"bias", adaptor.getBias()}})))
    return failure();
  RankedTensorType x = tensorType(adaptor.getX());
  ArrayRef<int64_t> w = tensorType(adaptor.getW()).getShape();
  size_t spatial = x.getRank() - 2;
  if (failed(checkEntries(site, "C2", "extra", adaptor.getExtra(), spatial, 0)))
    return failure();
  int64_t groups = adaptor.getGroups(), channels = x.getDimSize(1);
  if (groups < 1 || !areDimsCompatible(channels, w[0]) ||
      !divides(groups, mergeDims(channels, w[0])))
    return wrongChannels(site, channels, w, groups);
  int64_t outputs = ShapedType::isDynamic(w[1]) ? w[1] : 0;
  if (!ShapedType::isDynamic(w[1]) && llvm::MulOverflow(w[1], groups, outputs))
    return wrongChannels(site, channels, w, groups);
  if (failed(checkShape(site, "C6", {"bias", adaptor.getBias()}, outputs, "[output channels]")))
    return failure();
  Shape shape{x.getDimSize(0), outputs};
  for (size_t i = 0; i < spatial; ++i) {
    FailureOr<int64_t> dim =
        transposedDim(site, "C5", i, makeWindowedDim(adaptor, i), adaptor.getExtra()[i]);
    if (failed(dim))
      return failure();
    shape.push_back(*dim);
  }
  return addResult(site, types, shape, x.getElementType(), *device);
}

LogicalResult ConvWeightGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand x{"x", adaptor.getX()}, dy{"dy", adaptor.getDy()};
  ArrayRef<int64_t> image = x.type().getShape(), result = dy.type().getShape();
  if (image.size() < 3 || image.size() > 5 || result.size() != image.size() ||
      !areDimsCompatible(image[0], result[0]))
    return site.fail(
        "C1: 'x' and 'dy' must be [N, channels, spatial..] of one rank, 3 to 5, and one N; found ",
        shapeText(image), " and ", shapeText(result), "; reshape one");
  const size_t spatial = image.size() - 2;
  if (failed(checkEntries(site, "C2", "window", adaptor.getWindow(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "strides", adaptor.getStrides(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "dilations", adaptor.getDilations(), spatial, 1)) ||
      failed(checkEntries(site, "C2", "low", adaptor.getLow(), spatial)) ||
      failed(checkEntries(site, "C2", "high", adaptor.getHigh(), spatial)))
    return failure();
  const int64_t groups = adaptor.getGroups();
  if (groups < 1 || !divides(groups, image[1]) || !divides(groups, result[1]))
    return site.fail("C3: `groups` must divide the channels of both; found ", dimText(image[1]),
                     " in 'x', ", dimText(result[1]), " in 'dy' and groups ", groups,
                     "; correct the groups or a shape");
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C4", {x, dy})) ||
      failed(device = commonDevice(site, "C4", {x, dy})))
    return failure();
  Shape forward(result.take_front(2));
  for (size_t i = 0; i < spatial; ++i) {
    FailureOr<int64_t> dim =
        windowedDim(site, "C5", i,
                    {image[i + 2], adaptor.getWindow()[i], adaptor.getStrides()[i],
                     adaptor.getDilations()[i], adaptor.getLow()[i], adaptor.getHigh()[i]});
    if (failed(dim))
      return failure();
    forward.push_back(*dim);
  }
  if (failed(checkShape(site, "C5", dy, forward, "what conv gives")))
    return failure();
  const int64_t channels = ShapedType::isDynamic(image[1]) ? image[1] : image[1] / groups;
  Shape shape{result[1], channels};
  llvm::append_range(shape, adaptor.getWindow());
  return addResult(site, types, shape, x.type().getElementType(), *device);
}

//===----------------------------------------------------------------------===//
// Index maps: each result element is a sum of products of elements of the first two operands
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ConvOp::foldedExtents() {
  return SmallVector<int64_t>(getW().getType().getShape().drop_front());
}

void ConvOp::mapIndices(IndexMap &map) {
  ArrayRef<int64_t> x = getX().getType().getShape(), w = getW().getType().getShape();
  IndexExpr group = map.x.divide(map.at[1], w[0] / int64_t(getGroups()));
  OperandRead &image = map.read(0, {map.at[0], map.x.add(group * w[1], map.over[0])});
  SlidingWindow{getStrides(), getDilations(), getLow()}.from(
      map.at.drop_front(2), map.over.drop_front(), x.drop_front(2), image);
  OperandRead &weight = map.read(1, {map.at[1]});
  llvm::append_range(weight.at, map.over);
}

SmallVector<int64_t> ConvTransposeOp::foldedExtents() {
  ArrayRef<int64_t> w = getW().getType().getShape();
  SmallVector<int64_t> extents{w[0] / int64_t(getGroups())};
  llvm::append_range(extents, w.drop_front(2));
  return extents;
}

void ConvTransposeOp::mapIndices(IndexMap &map) {
  ArrayRef<int64_t> x = getX().getType().getShape(), w = getW().getType().getShape();
  IndexExpr group = map.x.divide(map.at[1], w[1]);
  IndexExpr channel = map.x.add(group * (w[0] / int64_t(getGroups())), map.over[0]);
  OperandRead &image = map.read(0, {map.at[0], channel});
  SlidingWindow{getStrides(), getDilations(), getLow()}.back(
      map.at.drop_front(2), map.over.drop_front(), x.drop_front(2), map.x, image);
  OperandRead &weight = map.read(1, {channel, map.x.remainder(map.at[1], w[1])});
  llvm::append_range(weight.at, map.over.drop_front());
}

SmallVector<int64_t> ConvWeightGradOp::foldedExtents() {
  ArrayRef<int64_t> dy = getDy().getType().getShape();
  SmallVector<int64_t> extents{dy[0]};
  llvm::append_range(extents, dy.drop_front(2));
  return extents;
}

void ConvWeightGradOp::mapIndices(IndexMap &map) {
  ArrayRef<int64_t> x = getX().getType().getShape(), dy = getDy().getType().getShape();
  IndexExpr group = map.x.divide(map.at[0], dy[1] / int64_t(getGroups()));
  OperandRead &image =
      map.read(0, {map.over[0], map.x.add(group * (x[1] / int64_t(getGroups())), map.at[1])});
  SlidingWindow{getStrides(), getDilations(), getLow()}.from(
      map.over.drop_front(), map.at.drop_front(2), x.drop_front(2), image);
  OperandRead &gradient = map.read(1, {map.over[0], map.at[0]});
  llvm::append_range(gradient.at, map.over.drop_front());
}

llvm::ArrayRef<int64_t> ConvOp::getWindowSizes() {
  return cast<RankedTensorType>(getW().getType()).getShape().drop_front(2);
}

llvm::ArrayRef<int64_t> ConvTransposeOp::getWindowSizes() {
  return cast<RankedTensorType>(getW().getType()).getShape().drop_front(2);
}
