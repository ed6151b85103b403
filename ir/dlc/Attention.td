//===- Attention.td - scaled dot-product attention ------------------------===//
#ifndef DLC_IR_ATTENTION_TD
#define DLC_IR_ATTENTION_TD
include "ir/dlc/Base.td"

def Dlc_AttentionOp : Dlc_PureOp<"attention"> {
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
#endif
