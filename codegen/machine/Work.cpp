//===- Work.cpp - features of an operation for estimates of its time ------===//
#include "codegen/machine/Work.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace dlc {

namespace {

RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

double getElementCount(Value value) {
  auto type = typeOf(value);
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}

double sizeOf(double n) { return std::log2(std::max(1.0, n)); }

/// Returns the main operation of a fusion: its contraction if it has one, else another operation
/// with a window, else null.
Operation *findMainOperation(Operation *op) {
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion)
    return op;
  Operation *heart = nullptr;
  for (Operation &inner : fusion.getBody().front())
    if (inner.hasTrait<Contraction>())
      return &inner;
    else if (isa<MaxPoolOp, AvgPoolOp, AttentionOp>(inner))
      heart = &inner;
  return heart;
}

void addMatmulSizes(MatmulOp matmul, std::vector<double> &sizes) {
  auto a = typeOf(matmul.getA()), y = typeOf(matmul->getResult(0));
  double m = y.getRank() > 1 ? double(y.getDimSize(y.getRank() - 2)) : 1;
  double n = double(y.getDimSize(y.getRank() - 1));
  double k = double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
  for (double size : {double(y.getNumElements()) / std::max(1.0, m * n), m, n, k})
    sizes.push_back(sizeOf(size));
}

void addConvolutionSizes(Operation *op, int64_t groups, std::vector<double> &sizes) {
  auto w = typeOf(op->getOperand(1)), y = typeOf(op->getResult(0));
  double taps = 1, pixels = 1;
  for (int64_t i = 2; i < w.getRank(); ++i)
    taps *= double(w.getDimSize(i));
  for (int64_t i = 2; i < y.getRank(); ++i)
    pixels *= double(y.getDimSize(i));
  double strided =
      getElementCount(op->getOperand(0)) / std::max(1.0, getElementCount(op->getResult(0)));
  for (double size : {double(y.getDimSize(0)), double(groups),
                      double(w.getNumElements()) / taps / double(groups), taps, pixels, strided})
    sizes.push_back(sizeOf(size));
}

} // namespace

WorkFeatures getWorkFeatures(Operation *op) {
  Operation *heart = findMainOperation(op);
  WorkFeatures work;
  auto result = typeOf(op->getNumResults() ? op->getResult(0) : Value());
  llvm::raw_string_ostream os(work.kind);
  os << (heart ? heart->getName().stripDialect() : "elements") << " ";
  if (heart && heart->getNumOperands() && typeOf(heart->getOperand(0)))
    os << typeOf(heart->getOperand(0)).getElementType();
  else if (result)
    os << result.getElementType();
  if (auto matmul = dyn_cast_if_present<MatmulOp>(heart)) {
    addMatmulSizes(matmul, work.sizes);
    // Constant weights have a separate kind because they are already packed and are streamed from
    // memory. Other operands are not.
    Value b = matmul.getB();
    if (auto argument = dyn_cast<BlockArgument>(b); argument && isa<FusionOp>(op))
      b = op->getOperand(argument.getArgNumber());
    os << (b.getDefiningOp<ConstantOp>() ? " weights" : "");
    return work;
  }
  if (auto conv = dyn_cast_if_present<ConvOp>(heart)) {
    addConvolutionSizes(conv, conv.getGroups(), work.sizes);
    return work;
  }
  double in = 0, out = 0;
  for (Value operand : op->getOperands())
    in += getElementCount(operand);
  for (Value each : op->getResults())
    out += getElementCount(each);
  work.sizes = {sizeOf(in), sizeOf(out)};
  if (heart && heart->hasTrait<Contraction>())
    work.sizes.push_back(sizeOf(getElementCount(heart->getOperand(1))));
  return work;
}

} // namespace dlc
