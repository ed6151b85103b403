//===- Transfer.cpp - between devices and layouts; random numbers ---------===//
#include "ir/dlc/Infer.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Transfer.cpp.inc"

void DlcDialect::registerTransfer() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Transfer.cpp.inc"
      >();
}

namespace {
LogicalResult verifySameTensor(Operation *op, RankedTensorType x, RankedTensorType y) {
  if (x.getElementType() != y.getElementType())
    return op->emitOpError() << "C1: the element type must not change; found " << x.getElementType()
                             << " to " << y.getElementType() << "; convert with dlc.cast";
  bool same = x.getRank() == y.getRank() &&
              llvm::all_of(llvm::zip_equal(x.getShape(), y.getShape()), [](auto dims) {
                return areDimsCompatible(std::get<0>(dims), std::get<1>(dims));
              });
  if (!same)
    return op->emitOpError() << "C1: the shape must not change; found " << shapeText(x.getShape())
                             << " to " << shapeText(y.getShape()) << "; reshape before or after";
  return success();
}

/// Folds a transfer or reorder that does not change the type to its operand, and two in sequence,
/// f(f(x)), to one.
template <typename Op> OpFoldResult foldChain(Op op) {
  if (op.getX().getType() == op.getType())
    return op.getX();
  auto inner = op.getX().template getDefiningOp<Op>();
  if (!inner)
    return {};
  if (inner.getX().getType() == op.getType())
    return inner.getX();
  op->setOperand(0, inner.getX());
  return op.getResult();
}
} // namespace

LogicalResult TransferOp::verify() {
  RankedTensorType x = getX().getType(), y = getType();
  if (failed(verifySameTensor(*this, x, y)))
    return failure();
  if (getPlace(x) && getPlace(y))
    return success();
  return emitOpError() << "C1: both types must have a device; found " << x << " to " << y
                       << "; give each a device, as in tensor<4xf32, #dlc.on<cpu>>";
}

/// Folds transfer(constant) to a constant on the other device. It has the same elements, or shares
/// the same resource blob.
static OpFoldResult foldConstant(ElementsAttr value, RankedTensorType type) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!dense || dense.getType().getShape() != type.getShape())
    return {};
  return dense.reshape(type);
}

OpFoldResult TransferOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto constant = foldConstant(dyn_cast_or_null<ElementsAttr>(adaptor.getX()), getType()))
    return constant;
  // A transfer to another device and back may change the layout. A single transfer cannot express
  // that, so such a chain is not folded.
  if (auto inner = getX().getDefiningOp<TransferOp>())
    if (OnAttr first = getPlace(inner.getX().getType());
        first.sameDevice(getPlace(getType())) && inner.getX().getType() != getType())
      return {};
  return foldChain(*this);
}

LogicalResult ReorderOp::verify() {
  RankedTensorType x = getX().getType(), y = getType();
  if (failed(verifySameTensor(*this, x, y)))
    return failure();
  OnAttr from = getPlace(x), to = getPlace(y);
  if (bool(from) == bool(to) && (!from || from.sameDevice(to)))
    return success();
  return emitOpError() << "C1: the device must not change; found "
                       << (from ? from.getDeviceName() : "unplaced") << " to "
                       << (to ? to.getDeviceName() : "unplaced") << "; move with dlc.transfer";
}

OpFoldResult ReorderOp::fold(FoldAdaptor) { return foldChain(*this); }

LogicalResult TransposedViewOp::verify() {
  RankedTensorType x = getX().getType(), y = getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (int64_t(sorted.size()) != x.getRank() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, x.getRank())))
    return emitOpError() << "C1: `permutation` must hold each of the " << x.getRank()
                         << " dimensions once; found " << shapeText(permutation) << "; correct it";
  SmallVector<int64_t> shape;
  for (int64_t d : permutation)
    shape.push_back(x.getDimSize(d));
  OnAttr from = getPlace(x), to = getPlace(y);
  bool samePlace = bool(from) == bool(to) && (!from || from.sameDevice(to));
  if (ArrayRef(shape) == y.getShape() && x.getElementType() == y.getElementType() && samePlace)
    return success();
  return emitOpError() << "C2: the result must be " << shapeText(shape) << " of "
                       << x.getElementType() << " on the operand's device; found " << y
                       << "; correct the type";
}

OpFoldResult TransposedViewOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<TransposedViewOp>();
  if (!inner || inner.getX().getType() != getType())
    return {};
  // The permutations must be checked too: the types may be equal although the permutations are not
  // inverse, for example for square tensors.
  for (auto [d, from] : llvm::enumerate(getPermutation()))
    if (inner.getPermutation()[from] != int64_t(d))
      return {};
  return inner.getX();
}

LogicalResult RandomOp::verify() {
  RankedTensorType counter = getCounter().getType();
  if (counter.getRank() == 0 && counter.getElementType().isSignlessInteger(64))
    return success();
  return emitOpError() << "C1: the counter must be a 0-d i64; found " << counter
                       << "; reshape or cast it";
}
