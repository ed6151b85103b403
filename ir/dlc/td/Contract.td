//===- Contract.td - matrix multiplications -------------------------------===//
#ifndef DLC_IR_CONTRACT_TD
#define DLC_IR_CONTRACT_TD
include "ir/dlc/td/Base.td"

def Dlc_MatmulOp : Dlc_PureOp<"matmul", [Dlc_Contraction, Dlc_ElementLoop, Dlc_SingleAccumulator, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "matrix product over the last two dimensions; the others are batch dimensions and broadcast";
  let description = [{
    `transpose_a` reads a as [.., k, m], `transpose_b` reads b as [.., n, k]. Sums of 16-bit floats are kept in f32;
    integers wrap. Integers of 4 or 8 bits, signed or not, are multiplied as they are and summed in i32; their zero points are subtracted
    first: y = (a - a_zero_point)(b - b_zero_point).
    - (C1) both ranks are 2 or more.
    - (C2) the contracted dimensions agree.
    - (C3) the batch dimensions broadcast together.
    - (C4) element types agree, or both are integers of 4 or 8 bits. All operands are on one device; 0-d zero points may be on any.
    - (C5) zero points belong to operands of 4 or 8 bits; they have their operand's element type, or i32.
    - (C6) a zero point has rank 0, or its operand's rank with size 1 in the contracted dimension.
  }];
  let arguments = (ins Dlc_PackedOrTensor:$a, Dlc_PackedOrTensor:$b, Optional<Dlc_IntTensor>:$a_zero_point, Optional<Dlc_IntTensor>:$b_zero_point,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Dlc_Tensor:$y);
  let builders = [OpBuilder<(ins "mlir::Value":$a, "mlir::Value":$b, CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b), [{
    build($_builder, $_state, a, b, mlir::Value(), mlir::Value(), transpose_a, transpose_b);
  }]>];
  let assemblyFormat = [{$a `,` $b (`a_zero_point` $a_zero_point^)? (`b_zero_point` $b_zero_point^)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` functional-type(operands, results)}];
}

def Dlc_GroupedMatmulOp : Dlc_PureOp<"grouped_matmul", [Dlc_OwnKernel, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "rows in groups, each times a matrix of its own: a [S, K], b [G, K, N], ends [G] -> y [S, N]";
  let description = [{
    y[s] = a[s] * b[g] for the rows s of group g. The first group begins at row 0, each other one where the one before it ends, and
    `ends` says behind which row that is: less than the end before it counts as that, more than S as S. Rows behind the last end
    are 0. `transpose_b` reads b as [G, N, K]. Sums of 16-bit floats are kept in f32.
    - (C1) a has rank 2, b rank 3, and ends rank 1.
    - (C2) the contracted dimensions agree.
    - (C3) b has a matrix for each end.
    - (C4) element types of a and b agree, and all are on one device.
  }];
  let arguments = (ins Dlc_FloatTensor:$a, Dlc_FloatTensor:$b, Dlc_IndexTensor:$ends, UnitAttr:$transpose_b);
  let results = (outs Dlc_FloatTensor:$y);
  let assemblyFormat = "$a `,` $b `ends` $ends (`transpose_b` $transpose_b^)? attr-dict `:` functional-type(operands, results)";
}

def Dlc_GroupedWeightGradOp : Dlc_PureOp<"grouped_weight_grad", [Dlc_OwnKernel, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "grouped_matmul's gradient in its matrices: a [S, K], dy [S, N], ends [G] -> db [G, K, N]";
  let description = [{
    db[g] = transpose(rows of group g of a) * rows of group g of dy, and 0 where the group has no rows; groups are as in grouped_matmul. With
    a and dy exchanged it is the gradient in transposed matrices. Sums of 16-bit floats are kept in f32.
    - (C1) a and dy have rank 2, and ends has rank 1.
    - (C2) a and dy have as many rows.
    - (C3) element types of a and dy agree, and all are on one device.
  }];
  let arguments = (ins Dlc_FloatTensor:$a, Dlc_FloatTensor:$dy, Dlc_IndexTensor:$ends);
  let results = (outs Dlc_FloatTensor:$db);
  let assemblyFormat = "$a `,` $dy `ends` $ends attr-dict `:` functional-type(operands, results)";
}
#endif
