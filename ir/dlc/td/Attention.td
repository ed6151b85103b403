//===- Attention.td - scaled dot-product attention ------------------------===//
#ifndef DLC_IR_ATTENTION_TD
#define DLC_IR_ATTENTION_TD
include "ir/dlc/td/Base.td"

def Dlc_AttentionOp : Dlc_PureOp<"attention", [Dlc_AttentionInterface, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "softmax(scale * q k^T + mask) v; q [.., T, D], k [.., S, D], v [.., S, E]";
  let description = [{
    `causal` hides k's position s from q's position t where s > t. A bool mask hides where it is false.
    - (C1) ranks are 3 or more and agree; the batch dimensions agree.
    - (C2) q and k agree in D, k and v in S.
    - (C3) mask is bool or has q's element type, and broadcasts to [.., T, S].
    - (C4) element types and devices agree.
  }];
  let arguments = (ins Dlc_FloatTensor:$q, Dlc_FloatTensor:$k, Dlc_FloatTensor:$v, Optional<Dlc_Tensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Dlc_FloatTensor:$y);
}
def Dlc_AttentionTrainOp : Dlc_PureOp<"attention_train", [Dlc_AttentionInterface, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "attention, and of each row the logarithm of the sum of its scores' exponentials, which attention_grad reads";
  let description = [{
    - (C1) .. (C4) as of attention.
    lse is [.., T] in f32, in f64 for f64; -inf where a row hides everything.
  }];
  let arguments = (ins Dlc_FloatTensor:$q, Dlc_FloatTensor:$k, Dlc_FloatTensor:$v, Optional<Dlc_Tensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Dlc_FloatTensor:$y, Dlc_FloatTensor:$lse);
}
def Dlc_AttentionGradOp : Dlc_PureOp<"attention_grad", [Dlc_AttentionInterface, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let numericClass = "Product";
  let summary = "attention_train's gradients in q, k and v, from its operands, its results and dy";
  let description = [{
    With p = exp(scale * q k^T + mask - lse), 0 where hidden: dv = p^T dy, ds = p * (dy v^T - sum over E of dy * y),
    dq = scale * ds k, dk = scale * ds^T q.
    - (C1) .. (C4) as of attention.
    - (C5) y and dy are [.., T, E] in q's element type.
    - (C6) lse is [.., T] in f32, in f64 for f64.
  }];
  let arguments = (ins Dlc_FloatTensor:$q, Dlc_FloatTensor:$k, Dlc_FloatTensor:$v, Dlc_FloatTensor:$y, Dlc_FloatTensor:$lse,
                       Dlc_FloatTensor:$dy, Optional<Dlc_Tensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Dlc_FloatTensor:$dq, Dlc_FloatTensor:$dk, Dlc_FloatTensor:$dv);
}
#endif
