//===- CustomGradient.cpp - verifiers of model-defined gradients ----------===//
#include "ir/dlc/CustomGradient.h"

#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/CustomGradient.cpp.inc"

void dlc::registerCustomGradients(DlcDialect &dialect) {
  RegisteredOperationName::insert<CotangentOp>(dialect);
  RegisteredOperationName::insert<CustomGradientOp>(dialect);
}

LogicalResult CotangentOp::verify() {
  RankedTensorType type = tensorType(getY());
  if (!isa<FloatType>(type.getElementType()))
    return emitOpError() << "C1: y must be floating-point; found " << type
                         << "; remove the cotangent, or cast y";
  if (getDy().getType() != type)
    return emitOpError() << "C2: the result must have the type of y, here " << type << "; found "
                         << getDy().getType() << "; change the result type";
  return success();
}

/// Checks that the values in `given` have the same types as the values in `wanted`, index by index.
static LogicalResult checkTypes(CustomGradientOp op, StringRef constraint, StringRef givenName,
                                ValueRange given, StringRef wantedName, ValueRange wanted) {
  if (given.size() != wanted.size())
    return op.emitOpError() << constraint << ": required: one of " << givenName << " for each of "
                            << wantedName << "; found " << given.size() << " for " << wanted.size()
                            << "; add or remove some";
  for (auto [i, one, other] : llvm::enumerate(given, wanted))
    if (one.getType() != other.getType())
      return op.emitOpError() << constraint << ": " << givenName << "[" << i
                              << "] must have the type of " << wantedName << "[" << i << "], here "
                              << other.getType() << "; found " << one.getType() << "; cast it";
  return success();
}

LogicalResult CustomGradientOp::verify() {
  if (failed(checkTypes(*this, "C1", "cotangents", getCotangents(), "ys", getYs())) ||
      failed(checkTypes(*this, "C2", "dxs", getDxs(), "xs", getXs())) ||
      failed(checkTypes(*this, "C4", "results", getZs(), "ys", getYs())))
    return failure();
  for (auto [i, each] : llvm::enumerate(getCotangents()))
    if (!each.getDefiningOp<CotangentOp>())
      return emitOpError() << "C1: each cotangent must be a result of dlc.cotangent; cotangents["
                           << i << "] is not; create one for the y";
  for (auto [i, x] : llvm::enumerate(getXs()))
    if (!isa<FloatType>(tensorType(x).getElementType()))
      return emitOpError() << "C3: xs must be floating-point; xs[" << i << "] is " << x.getType()
                           << "; leave it out";
  return success();
}
