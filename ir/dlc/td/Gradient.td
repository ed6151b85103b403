//===- Gradient.td - symbolic derivatives, which the grad phase expands ---===//
#ifndef DLC_IR_GRADIENT_TD
#define DLC_IR_GRADIENT_TD
include "ir/dlc/td/Base.td"

def Dlc_GradientOp : Dlc_Op<"gradient", [Pure, AttrSizedOperandSegments]> {
  let summary = "derivatives of `ys` in `xs`, both values of the function at hand";
  let description = [{
    dx[i] = sum over j of seed[j] * d y[j] / d x[i], everything else that y depends on being held. Without seeds every y has one element
    and its seed is 1. A value of xs on which no y depends is an error (C4 of the grad phase), unless `allow_unused` is set: then its gradient is 0.
    The grad phase spells the operation out, as operations of the same function; nothing after it knows it.
    - (C1) `seeds` are none, or one of y's type for each y; without them each y has one element.
    - (C2) ys, seeds and xs are floating-point.
    - (C3) the results have the types of xs.
  }];
  let arguments = (ins Variadic<Dlc_Tensor>:$ys, Variadic<Dlc_Tensor>:$seeds, Variadic<Dlc_Tensor>:$xs, UnitAttr:$allow_unused);
  let results = (outs Variadic<Dlc_Tensor>:$dxs);
  let hasVerifier = 1;
  let assemblyFormat = [{`(` $ys `)` (`seeds` `(` $seeds^ `)`)? `in` `(` $xs `)` (`allow_unused` $allow_unused^)? attr-dict
    `:` functional-type(operands, results)}];
}

#endif
