//===- Conv.td - convolution ----------------------------------------------===//
#ifndef DLC_IR_CONV_TD
#define DLC_IR_CONV_TD
include "ir/dlc/td/Base.td"

defvar convRules = [{
    - (C1) x is [N, C, spatial..] with 1 to 3 spatial dimensions, and both ranks agree.
    - (C2) `strides`, `dilations`, `low` and `high` have one entry per spatial dimension; strides and dilations are 1 or more.
    - (C3) the channels of x and of the weights agree under `groups`, which divides both.
    - (C4) element types and devices agree.
    - (C5) no dimension of the result is negative.
    - (C6) bias, when given, is [output channels].
}];

def Dlc_ConvOp : Dlc_PureOp<"conv", [Dlc_Contraction, Dlc_Convolutional, Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_AnyLayout,
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>,
    DeclareOpInterfaceMethods<Dlc_WindowInterface, ["getWindowSizes"]>]> {
  let numericClass = "Product";
  let summary = "convolution (cross-correlation) of [N, C, spatial..] with weights [O, C/groups, window..], bias [O]";
  let description = convRules # [{
    Integers of 4 or 8 bits, signed or not, are multiplied as they are and summed in i32, and so is the bias; zero points are subtracted
    first, and padding adds nothing.
    - (C7) zero points belong to operands of 4 or 8 bits; they have their operand's element type, or i32.
    - (C8) x's zero point has rank 0; the weights' zero point has rank 0 or is [output channels].
  }];
  let arguments = (ins Dlc_PackedOrTensor:$x, Dlc_PackedOrTensor:$w, Optional<Dlc_Tensor>:$bias, Optional<Dlc_IntTensor>:$x_zero_point,
                       Optional<Dlc_IntTensor>:$w_zero_point, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, I64Attr:$groups);
  let results = (outs Dlc_Tensor:$y);
  let builders = [OpBuilder<(ins "mlir::Value":$x, "mlir::Value":$w, "mlir::Value":$bias, "llvm::ArrayRef<int64_t>":$strides,
                                 "llvm::ArrayRef<int64_t>":$dilations, "llvm::ArrayRef<int64_t>":$low, "llvm::ArrayRef<int64_t>":$high,
                                 "int64_t":$groups), [{
    build($_builder, $_state, x, w, bias, mlir::Value(), mlir::Value(), strides, dilations, low, high, groups);
  }]>];
  let assemblyFormat = [{$x `,` $w (`,` $bias^)? (`x_zero_point` $x_zero_point^)? (`w_zero_point` $w_zero_point^)? attr-dict
    `:` functional-type(operands, results)}];
}

def Dlc_ConvTransposeOp : Dlc_PureOp<"conv_transpose", [Dlc_Contraction, Dlc_Convolutional, Dlc_ElementLoop, Dlc_SingleAccumulator,
    Dlc_AnyLayout, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>, DeclareOpInterfaceMethods<Dlc_WindowInterface, ["getWindowSizes"]>]> {
  let numericClass = "Product";
  let summary = "the adjoint of conv in x: weights are [C, O/groups, window..]; `extra` lengthens the result at the end";
  let description = convRules;
  let arguments = (ins Dlc_Tensor:$x, Dlc_Tensor:$w, Optional<Dlc_Tensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$extra, I64Attr:$groups);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_ConvWeightGradOp : Dlc_PureOp<"conv_weight_grad", [Dlc_Contraction, Dlc_Convolutional, Dlc_ElementLoop, Dlc_SingleAccumulator,
    Dlc_AnyLayout, Dlc_StandaloneOp, DeclareOpInterfaceMethods<Dlc_MultiplyAddInterface>, Dlc_WindowInterface]> {
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
