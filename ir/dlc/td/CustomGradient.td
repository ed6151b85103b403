//===- CustomGradient.td - gradients that the model defines itself --------===//
#ifndef DLC_IR_CUSTOMGRADIENT_TD
#define DLC_IR_CUSTOMGRADIENT_TD
include "ir/dlc/td/Base.td"

def Dlc_CotangentOp : Dlc_Op<"cotangent", [Pure, Dlc_NoGradient]> {
  let summary = "placeholder for the gradient of a result of `dlc.custom_gradient`";
  let description = [{
    Has no value of its own. Where a `dlc.custom_gradient` names the placeholder, the grad phase replaces it by the gradient that has reached
    that operation's result. The operand gives the type only.
    - (C1) y is floating-point.
    - (C2) the result has the type of y.
  }];
  let arguments = (ins Dlc_Tensor:$y);
  let results = (outs Dlc_Tensor:$dy);
  let hasVerifier = 1;
  let assemblyFormat = "$y attr-dict `:` functional-type(operands, results)";
}

def Dlc_CustomGradientOp : Dlc_Op<"custom_gradient", [Pure, AttrSizedOperandSegments]> {
  let summary = "`ys` with a gradient that the model defines, such as the backward function of a torch.autograd.Function";
  let description = [{
    The results are ys. In reverse mode, dx[i] += dxs[i], where each `cotangents[j]` in the computation of dxs is the gradient of result j. No
    other gradient reaches what ys are computed from. The grad phase spells the operation out; nothing after it knows the operation.
    - (C1) there is a cotangent, made by `dlc.cotangent`, of each y's type.
    - (C2) there is a value of dxs of each x's type.
    - (C3) xs are floating-point.
    - (C4) the results have the types of ys.
  }];
  let arguments = (ins Variadic<Dlc_Tensor>:$ys, Variadic<Dlc_Tensor>:$cotangents, Variadic<Dlc_Tensor>:$xs, Variadic<Dlc_Tensor>:$dxs);
  let results = (outs Variadic<Dlc_Tensor>:$zs);
  let hasVerifier = 1;
  let assemblyFormat = [{`(` $ys `)` `of` `(` $cotangents `)` `in` `(` $xs `)` `is` `(` $dxs `)` attr-dict
    `:` functional-type(operands, results)}];
}

#endif
