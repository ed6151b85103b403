//===- Contract.td - matrix products --------------------------------------===//
#ifndef DLC_IR_CONTRACT_TD
#define DLC_IR_CONTRACT_TD
include "ir/dlc/Base.td"

def Dlc_MatmulOp : Dlc_PureOp<"matmul", [Dlc_Contraction, Dlc_ElementLoop]> {
  let numericClass = "Product";
  let summary = "matrix product over the last two dimensions; the others are batch dimensions and broadcast";
  let description = [{
    `transpose_a` reads a as [.., k, m], `transpose_b` reads b as [.., n, k]. Sums of 16-bit floats are kept in f32;
    integers wrap.
    - (C1) both ranks are 2 or more.
    - (C2) the contracted dimensions agree.
    - (C3) the batch dimensions broadcast together.
    - (C4) element types agree, and both are on one device.
  }];
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict `:` functional-type(operands, results)";
}
#endif
