//===- Pool.td - sliding windows ------------------------------------------===//
#ifndef DLC_IR_POOL_TD
#define DLC_IR_POOL_TD
include "ir/dlc/Base.td"

defvar poolRules = [{
    `low` and `high` pad each spatial dimension; `high` already holds what rounding up needs.
    - (C1) x is [N, C, spatial..] with at least 1 spatial dimension.
    - (C2) `window`, `strides`, `dilations`, `low` and `high` have one entry per spatial dimension; the first three are 1 or more.
    - (C3) no dimension of the result is negative.
}];

def Dlc_MaxPoolOp : Dlc_PureOp<"max_pool"> {
  let summary = "the largest element of each window; padding never wins";
  let description = poolRules;
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_MaxPoolIndicesOp : Dlc_PureOp<"max_pool_indices"> {
  let summary = "max_pool, and where in the flattened x each maximum stands (i64); `column_major` counts the spatial dimensions first to last";
  let description = poolRules;
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, UnitAttr:$column_major);
  let results = (outs Dlc_Tensor:$y, Dlc_Tensor:$indices);
}

def Dlc_AvgPoolOp : Dlc_PureOp<"avg_pool"> {
  let summary = "the mean of each window; `include_pad` counts the explicit padding (never what lies past `low` + size + `counted_high`)";
  let description = poolRules;
  let arguments = (ins Dlc_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$counted_high, UnitAttr:$include_pad);
  let results = (outs Dlc_FloatTensor:$y);
}
#endif
