//===- Recurrent.cpp - inference of LSTM, GRU and plain recurrent layers ---===//
#include "ir/dlc/Infer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Recurrent.cpp.inc"

void DlcDialect::registerRecurrent() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Recurrent.cpp.inc"
      >();
}

namespace {
/// Infers the results of lstm, gru and rnn, which differ in the number of gates per unit and in
/// whether they have a cell state.
LogicalResult inferLayer(const InferenceSite &site, ArrayRef<NamedOperand> operands, int64_t gates,
                         Direction direction, Types &types) {
  NamedOperand x = operands[0], w = operands[1], r = operands[2], b = operands[3];
  ArrayRef<NamedOperand> states = operands.drop_front(4);
  int64_t directions = direction == Direction::both ? 2 : 1;
  auto rankIs = [&](NamedOperand operand, int64_t rank, StringRef meaning) -> LogicalResult {
    if (operand.type().getRank() == rank)
      return success();
    return site.fail("C1: '", operand.name, "' must be ", meaning, "; found ",
                     shapeText(operand.type().getShape()), "; reshape it");
  };
  if (failed(rankIs(x, 3, "[T, N, I]")) || failed(rankIs(r, 3, "[D, G*H, H]")))
    return failure();
  constexpr int64_t dynamic = ShapedType::kDynamic;
  int64_t steps = x.type().getDimSize(0), batch = x.type().getDimSize(1),
          inputs = x.type().getDimSize(2);
  int64_t hidden = r.type().getDimSize(2), gated = dynamic, biases = dynamic;
  if (hidden != dynamic &&
      (llvm::MulOverflow(hidden, gates, gated) || llvm::MulOverflow(gated, int64_t(2), biases)))
    return site.fail("C1: the hidden size ", hidden,
                     " is beyond all memory; correct the shape of 'r'");
  if (failed(checkShape(site, "C1", w, {directions, gated, inputs}, "[D, G*H, I]")) ||
      failed(checkShape(site, "C1", r, {directions, gated, hidden}, "[D, G*H, H]")) ||
      failed(checkShape(site, "C1", b, {directions, biases}, "[D, 2*G*H]")))
    return failure();
  for (const NamedOperand &state : states)
    if (failed(checkShape(site, "C1", state, {directions, batch, hidden}, "[D, N, H]")))
      return failure();
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C2", operands)) ||
      failed(device = commonDevice(site, "C2", operands)))
    return failure();
  Type element = x.type().getElementType();
  if (failed(addResult(site, types, {steps, directions, batch, hidden}, element, *device)))
    return failure();
  for (size_t i = 0; i < states.size(); ++i)
    if (failed(addResult(site, types, {directions, batch, hidden}, element, *device)))
      return failure();
  return success();
}
} // namespace

LogicalResult LstmOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  return inferLayer({location, getOperationName()},
                    {{"x", adaptor.getX()},
                     {"w", adaptor.getW()},
                     {"r", adaptor.getR()},
                     {"b", adaptor.getB()},
                     {"h0", adaptor.getH0()},
                     {"c0", adaptor.getC0()}},
                    4, adaptor.getDirection(), types);
}

LogicalResult GruOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  return inferLayer({location, getOperationName()},
                    {{"x", adaptor.getX()},
                     {"w", adaptor.getW()},
                     {"r", adaptor.getR()},
                     {"b", adaptor.getB()},
                     {"h0", adaptor.getH0()}},
                    3, adaptor.getDirection(), types);
}

LogicalResult RnnOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  return inferLayer({location, getOperationName()},
                    {{"x", adaptor.getX()},
                     {"w", adaptor.getW()},
                     {"r", adaptor.getR()},
                     {"b", adaptor.getB()},
                     {"h0", adaptor.getH0()}},
                    1, adaptor.getDirection(), types);
}
