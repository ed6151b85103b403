//===- Gradient.cpp - verifier of the gradient operation ------------------===//
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Gradient.cpp.inc"

void DlcDialect::registerGradient() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Gradient.cpp.inc"
      >();
}

namespace {
LogicalResult checkFloats(Operation *op, StringRef name, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values))
    if (Type element = tensorType(value).getElementType(); !isa<FloatType>(element))
      return op->emitOpError() << "C2: ys, seeds and xs must be floating-point; " << name << "["
                               << i << "] has " << element << "; cast it, or leave it out";
  return success();
}
} // namespace

LogicalResult GradientOp::verify() {
  ValueRange ys = getYs(), seeds = getSeeds(), xs = getXs();
  if (!seeds.empty() && seeds.size() != ys.size())
    return emitOpError() << "C1: required: no seed, or one for each y; found " << seeds.size()
                         << " for " << ys.size() << " ys; add or remove some";
  for (size_t i = 0; i < ys.size(); ++i) {
    RankedTensorType type = tensorType(ys[i]);
    if (!seeds.empty() && seeds[i].getType() != type)
      return emitOpError() << "C1: a seed must have its y's type, here " << type << "; seeds[" << i
                           << "] is " << seeds[i].getType() << "; cast, reshape or broadcast it";
    if (seeds.empty() && type.hasStaticShape() && type.getNumElements() != 1)
      return emitOpError() << "C1: without seeds each y must have one element; ys[" << i << "] is "
                           << type << "; sum it up, or give a seed";
  }
  if (failed(checkFloats(*this, "ys", ys)) || failed(checkFloats(*this, "seeds", seeds)) ||
      failed(checkFloats(*this, "xs", xs)))
    return failure();
  if (getDxs().size() != xs.size())
    return emitOpError() << "C3: required: one result for each x; found " << getDxs().size()
                         << " for " << xs.size() << "; correct the result types";
  for (auto [i, result, x] : llvm::enumerate(getDxs(), xs))
    if (result.getType() != x.getType())
      return emitOpError() << "C3: the results must have the types of xs; result " << i << " is "
                           << result.getType() << ", xs[" << i << "] " << x.getType()
                           << "; correct the result type";
  return success();
}
