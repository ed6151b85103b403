//===- Contract.cpp - matmul and linear -----------------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

Tensor matmul(const Operand &a, const Operand &b, bool transposeA, bool transposeB) {
  ApiCall call("matmul", {&a, &b});
  MatmulOp::Adaptor::Properties properties{};
  properties.transpose_a = call.flag(transposeA);
  properties.transpose_b = call.flag(transposeB);
  return call.tensor(call.make<MatmulOp>({call.value(a), call.value(b)}, properties));
}

Tensor linear(const Operand &x, const Operand &weight, const Operand &bias) {
  ApiCall call("linear", {&x, &weight, &bias});
  RankedTensorType type = call.type(x), w = call.type(weight);
  if (w.getRank() != 2)
    call.fail("the weight must be [out, in]; found ", w);
  int64_t rank = type.getRank();
  if (rank < 1 || (type.getDimSize(rank - 1) != w.getDimSize(1) && !type.isDynamicDim(rank - 1)))
    call.fail("the last dimension of x must be the weight's ", w.getDimSize(1),
              " input features; found ", type,
              "; reshape x, or correct the number of input features");
  if (bias && call.type(bias).getShape() != ArrayRef<int64_t>{w.getDimSize(0)})
    call.fail("the bias must be [", w.getDimSize(0), "]; found ", call.type(bias));
  // A vector is treated as a matrix of one row.
  Tensor rows = rank == 1 ? unsqueeze(x, 0) : call.tensor(call.value(x));
  Tensor y = matmul(rows, weight, false, true);
  if (rank == 1)
    y = squeeze(y, 0);
  return bias ? y + bias : y;
}

} // namespace dlc::trace
