//===- Norm.td - normalization --------------------------------------------===//
#ifndef DLC_IR_NORM_TD
#define DLC_IR_NORM_TD
include "ir/dlc/td/Base.td"

def Dlc_SoftmaxOp : Dlc_PureOp<"softmax", [Dlc_FloatArithmetic, Dlc_NonNegativeResult]> {
  let summary = "e^(x - max) / sum along one axis";
  let description = "- (C1) `axis` is a dimension of x.";
  let arguments = (ins Dlc_FloatTensor:$x, I64Attr:$axis);
  let results = (outs Dlc_FloatTensor:$y);
}
def Dlc_LogSoftmaxOp : Dlc_PureOp<"log_softmax", [Dlc_FloatArithmetic]> {
  let summary = "the logarithm of softmax";
  let description = "- (C1) `axis` is a dimension of x.";
  let arguments = (ins Dlc_FloatTensor:$x, I64Attr:$axis);
  let results = (outs Dlc_FloatTensor:$y);
}
def Dlc_LayerNormOp : Dlc_PureOp<"layer_norm", [AttrSizedOperandSegments]> {
  let numericClass = "Layer";
  let summary = "(x - mean) / sqrt(variance + eps) over the dimensions from `axis` on, times scale plus bias; statistics in f32 at least";
  let description = "- (C1) `axis` is a dimension of x. \n- (C2) scale and bias broadcast to x's dimensions from `axis` on. \n- (C3) element types and devices agree.";
  let arguments = (ins Dlc_FloatTensor:$x, Optional<Dlc_FloatTensor>:$scale, Optional<Dlc_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$y);
  let assemblyFormat = "$x (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}
def Dlc_RmsNormOp : Dlc_PureOp<"rms_norm"> {
  let numericClass = "Layer";
  let summary = "x / sqrt(mean(x^2) + eps) over the dimensions from `axis` on, times scale; statistics in f32 at least";
  let description = "- (C1) `axis` is a dimension of x. \n- (C2) scale broadcasts to x's dimensions from `axis` on. \n- (C3) element types and devices agree.";
  let arguments = (ins Dlc_FloatTensor:$x, Optional<Dlc_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$y);
}
def Dlc_GroupNormOp : Dlc_PureOp<"group_norm", [AttrSizedOperandSegments, Dlc_AnyLayout, Dlc_ChannelNorm]> {
  let numericClass = "Layer";
  let summary = "(x - mean) / sqrt(variance + eps) over each group of channels of x [N, C, ..], times scale[c] plus bias[c]; statistics in f32 at least";
  let description = [{
    Group g of an image has the channels from g * C / groups on; with `groups` = C it is instance normalisation.
    - (C1) x's rank is 2 or more.
    - (C2) scale and bias are [C].
    - (C3) element types and devices agree.
    - (C4) `groups` is 1 or more and divides C.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, Optional<Dlc_FloatTensor>:$scale, Optional<Dlc_FloatTensor>:$bias, I64Attr:$groups, F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$y);
  let assemblyFormat = "$x (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}
def Dlc_BatchNormOp : Dlc_PureOp<"batch_norm", [Dlc_AnyLayout, Dlc_ChannelNorm, Dlc_CheapToRecompute]> {
  let numericClass = "Layer";
  let summary = "(x - mean[c]) / sqrt(variance[c] + eps) * scale[c] + bias[c] for x [N, C, ..]: inference with given statistics";
  let description = "- (C1) x's rank is 2 or more. \n- (C2) scale, bias, mean and variance are [C]. \n- (C3) devices agree.";
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$scale, Dlc_FloatTensor:$bias, Dlc_FloatTensor:$mean, Dlc_FloatTensor:$variance, F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$y);
}
def Dlc_BatchNormTrainOp : Dlc_PureOp<"batch_norm_train", [Dlc_AnyLayout, Dlc_ChannelNorm, Dlc_CheapToRecompute]> {
  let numericClass = "Layer";
  let summary = "batch_norm with the batch's own mean and (population) variance, which are results too; statistics in f32 at least";
  let description = [{
    - (C1) x's rank is 2 or more.
    - (C2) scale and bias are [C].
    - (C3) devices agree.
    - (C4) a channel has at least one element.
    mean and variance are [C] in scale's element type.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$scale, Dlc_FloatTensor:$bias, F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$y, Dlc_FloatTensor:$mean, Dlc_FloatTensor:$variance);
}
def Dlc_BatchNormGradOp : Dlc_PureOp<"batch_norm_grad", [Dlc_AnyLayout, Dlc_ChannelNorm]> {
  let numericClass = "Layer";
  let summary = "batch_norm_train's gradients in x, scale and bias, from x, its batch statistics and dy";
  let description = [{
    With r = 1 / sqrt(variance + eps), h = (x - mean) * r and M elements a channel: dbias = sum(dy), dscale = sum(dy * h),
    dx = scale * r * (dy - dbias / M - h * dscale / M).
    - (C1) x's rank is 2 or more, and dy has x's shape and element type.
    - (C2) scale, mean and variance are [C].
    - (C3) devices agree.
    dscale and dbias are [C] in scale's element type.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$dy, Dlc_FloatTensor:$scale, Dlc_FloatTensor:$mean, Dlc_FloatTensor:$variance,
                       F64Attr:$eps);
  let results = (outs Dlc_FloatTensor:$dx, Dlc_FloatTensor:$dscale, Dlc_FloatTensor:$dbias);
}
def Dlc_LrnOp : Dlc_PureOp<"lrn"> {
  let numericClass = "Layer";
  let summary = "x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta for x [N, C, ..]";
  let description = "- (C1) x's rank is 2 or more, and size is 1 or more.";
  let arguments = (ins Dlc_FloatTensor:$x, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$k);
  let results = (outs Dlc_FloatTensor:$y);
}
#endif
