//===- Recurrent.td - LSTM, GRU and plain recurrent layers ----------------===//
#ifndef DLC_IR_RECURRENT_TD
#define DLC_IR_RECURRENT_TD
include "ir/dlc/td/Base.td"

defvar recurrentRules = [{
    x is [T, N, I]; w [D, G*H, I] and r [D, G*H, H] hold the gates (ONNX's order: LSTM i o f c, GRU z r h); b [D, 2*G*H] is the
    bias of w then of r; h0 (and c0) [D, N, H]. Results: y [T, D, N, H], the last h [D, N, H] (and c). D is 2 when both directions run.
    - (C1) the ranks and dimensions are as above.
    - (C2) element types and devices agree.
}];
def Dlc_Direction : I32EnumAttr<"Direction", "in which order time steps run", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"reverse", 1>, I32EnumAttrCase<"both", 2>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_DirectionAttr : EnumAttr<Dlc_Dialect, Dlc_Direction, "direction">;

def Dlc_LstmOp : Dlc_PureOp<"lstm", [Dlc_Recurrent, Dlc_OwnKernel, Dlc_FloatArithmetic, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let summary = "long short-term memory layer with the standard activations";
  let description = recurrentRules;
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$w, Dlc_FloatTensor:$r, Dlc_FloatTensor:$b, Dlc_FloatTensor:$h0, Dlc_FloatTensor:$c0, Dlc_DirectionAttr:$direction);
  let results = (outs Dlc_FloatTensor:$y, Dlc_FloatTensor:$h, Dlc_FloatTensor:$c);
}
def Dlc_GruOp : Dlc_PureOp<"gru", [Dlc_Recurrent, Dlc_OwnKernel, Dlc_FloatArithmetic, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let summary = "gated recurrent unit; `linear_before_reset` applies the reset gate after the recurrent product";
  let description = recurrentRules;
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$w, Dlc_FloatTensor:$r, Dlc_FloatTensor:$b, Dlc_FloatTensor:$h0, Dlc_DirectionAttr:$direction, UnitAttr:$linear_before_reset);
  let results = (outs Dlc_FloatTensor:$y, Dlc_FloatTensor:$h);
}
def Dlc_RnnOp : Dlc_PureOp<"rnn", [Dlc_Recurrent, Dlc_OwnKernel, Dlc_FloatArithmetic, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>]> {
  let summary = "plain recurrent layer: h = tanh (or relu) of w x + r h + b";
  let description = recurrentRules;
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$w, Dlc_FloatTensor:$r, Dlc_FloatTensor:$b, Dlc_FloatTensor:$h0, Dlc_DirectionAttr:$direction, UnitAttr:$relu);
  let results = (outs Dlc_FloatTensor:$y, Dlc_FloatTensor:$h);
}
#endif
