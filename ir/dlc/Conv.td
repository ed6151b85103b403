//===- Conv.td - convolution ----------------------------------------------===//
#ifndef DLC_IR_CONV_TD
#define DLC_IR_CONV_TD
include "ir/dlc/Base.td"

defvar convRules = [{
    - (C1) x is [N, C, spatial..] with 1 to 3 spatial dimensions, and both ranks agree.
    - (C2) `strides`, `dilations`, `low` and `high` have one entry per spatial dimension; strides and dilations are 1 or more.
    - (C3) the channels of x and of the weights agree under `groups`, which divides both.
    - (C4) element types and devices agree.
    - (C5) no dimension of the result is negative.
    - (C6) bias, when given, is [output channels].
}];

def Dlc_ConvOp : Dlc_PureOp<"conv", [Dlc_Contraction, Dlc_ElementLoop, Dlc_AnyLayout]> {
  let numericClass = "Product";
  let summary = "convolution (cross-correlation) of [N, C, spatial..] with weights [O, C/groups, window..], bias [O]";
  let description = convRules;
  let arguments = (ins Dlc_Tensor:$x, Dlc_Tensor:$w, Optional<Dlc_Tensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, I64Attr:$groups);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_ConvTransposeOp : Dlc_PureOp<"conv_transpose", [Dlc_Contraction, Dlc_ElementLoop, Dlc_AnyLayout]> {
  let numericClass = "Product";
  let summary = "the adjoint of conv in x: weights are [C, O/groups, window..]; `extra` lengthens the result at the end";
  let description = convRules;
  let arguments = (ins Dlc_Tensor:$x, Dlc_Tensor:$w, Optional<Dlc_Tensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$extra, I64Attr:$groups);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_ConvWeightGradOp : Dlc_PureOp<"conv_weight_grad", [Dlc_Contraction, Dlc_ElementLoop, Dlc_AnyLayout, Dlc_StandsAlone]> {
  let numericClass = "Product";
  let summary = "conv's gradient in its weights: x [N, C, spatial..], dy [N, O, spatial..] -> dw [O, C/groups, window..]";
  let description = [{
    dw[o, c, k..] = sum over n and p.. of dy[n, o, p..] * x[n, c of o's group, p * stride + k * dilation - low ..]. With x and dy
    exchanged it is conv_transpose's gradient in its weights. Sums of 16-bit floats are kept in f32.
    - (C1) x and dy have one rank, 3 to 5, and agree in N.
    - (C2) `window`, `strides`, `dilations`, `low` and `high` have one entry per spatial dimension; the first three are 1 or more.
    - (C3) `groups` divides the channels of both.
    - (C4) element types and devices agree.
    - (C5) dy's spatial dimensions are those that conv gives for x and the window.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$dy, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, I64Attr:$groups);
  let results = (outs Dlc_FloatTensor:$dw);
}
#endif
