//===- Sizes.cpp - verifier and folder of dlc.size ---------------------------===//
#include "ir/dlc/Sizes.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Sizes.cpp.inc"

void dlc::registerSizes(DlcDialect &dialect) { RegisteredOperationName::insert<SizeOp>(dialect); }

LogicalResult SizeOp::verify() {
  RankedTensorType type = getType();
  if (type.getRank() == 0 && type.getElementType().isSignlessInteger(64))
    return success();
  return emitOpError() << "C1: the result must be an i64 tensor of rank 0; found " << type
                       << "; write tensor<i64>";
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  std::optional<int64_t> number = getSize().getSize().constant();
  return number ? DenseElementsAttr::get(getType(), *number) : OpFoldResult();
}
