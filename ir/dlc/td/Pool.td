//===- Pool.td - pooling and its gradients --------------------------------===//
#ifndef DLC_IR_POOL_TD
#define DLC_IR_POOL_TD
include "ir/dlc/td/Base.td"

defvar poolRules = [{
    `low` and `high` pad each spatial dimension; `high` already holds what rounding up needs.
    - (C1) x is [N, C, spatial..] with at least 1 spatial dimension.
    - (C2) `window`, `strides`, `dilations`, `low` and `high` have one entry per spatial dimension; the first three are 1 or more.
    - (C3) no dimension of the result is negative.
}];

def Dlc_MaxPoolOp : Dlc_PureOp<"max_pool", [Dlc_Pooling, Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_WindowInterface, Dlc_AnyLayout]> {
  let numericClass = "Exact";
  let summary = "the largest element of each window; padding never wins";
  let description = !strconcat("The gradient passes to the first of equal elements of a window, row-major.\n", poolRules);
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_MaxPoolIndicesOp : Dlc_PureOp<"max_pool_indices", [Dlc_ElementLoop, Dlc_OwnKernel, Dlc_WindowInterface]> {
  let numericClass = "Exact";
  let summary = "max_pool, and where in the flattened x each maximum stands (i64); `column_major` counts the spatial dimensions first to last";
  let description = poolRules;
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, UnitAttr:$column_major);
  let results = (outs Dlc_Tensor:$y, Dlc_Tensor:$indices);
}

def Dlc_AvgPoolOp : Dlc_PureOp<"avg_pool", [Dlc_Pooling, Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_WindowInterface, Dlc_AnyLayout]> {
  let numericClass = "Layer";
  let summary = "the mean of each window; `include_pad` counts the explicit padding (never what lies past `low` + size + `counted_high`)";
  let description = poolRules;
  let arguments = (ins Dlc_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$counted_high, UnitAttr:$include_pad);
  let results = (outs Dlc_FloatTensor:$y);
}

// Pooling operations for training. The position of a maximum is a byte: its row-major index in the window.

def Dlc_MaxPoolPositionsOp : Dlc_PureOp<"max_pool_positions", [Dlc_Pooling, Dlc_ElementLoop, Dlc_WindowInterface, Dlc_AnyLayout, Dlc_StandaloneOp]> {
  let numericClass = "Exact";
  let summary = "max_pool, and where in its window each maximum stands (u8, row-major over the window; the first of equal ones)";
  let description = poolRules # "- (C4) the window has at most 256 elements.";
  let arguments = (ins Dlc_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Dlc_FloatTensor:$y, Dlc_Tensor:$position);
}

defvar poolGradRules = [{
    `spatial` are the spatial sizes of the operand of the forward operation, whose attributes the others are.
    - (C1) dy is [N, C, spatial..] with at least 1 spatial dimension.
    - (C2) `spatial`, `window`, `strides`, `dilations`, `low` and `high` have one entry per spatial dimension.
    - (C3) dy's spatial dimensions are those that the forward operation gives.
}];

def Dlc_MaxPoolGradOp : Dlc_PureOp<"max_pool_grad", [Dlc_Pooling, Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_WindowInterface,
    Dlc_AnyLayout, Dlc_StandaloneOp]> {
  let numericClass = "Layer";
  let summary = "max_pool's gradient: each dy added where in its window the maximum stood";
  let description = poolGradRules # "- (C4) position is ui8 and has dy's shape. \n- (C5) devices agree.";
  let arguments = (ins Dlc_FloatTensor:$dy, Dlc_Tensor:$position, DenseI64ArrayAttr:$spatial, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Dlc_FloatTensor:$dx);
}

def Dlc_AvgPoolGradOp : Dlc_PureOp<"avg_pool_grad", [Dlc_Pooling, Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_WindowInterface,
    Dlc_AnyLayout, Dlc_StandaloneOp]> {
  let numericClass = "Layer";
  let summary = "avg_pool's gradient: each dy divided by its window's count, added to the elements of the window";
  let description = poolGradRules;
  let arguments = (ins Dlc_FloatTensor:$dy, DenseI64ArrayAttr:$spatial, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$counted_high,
                       UnitAttr:$include_pad);
  let results = (outs Dlc_FloatTensor:$dx);
}
#endif
