//===- Reduce.td - reductions along dimensions, and sorts -----------------===//
#ifndef DLC_IR_REDUCE_TD
#define DLC_IR_REDUCE_TD
include "ir/dlc/td/Base.td"

def Dlc_ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"prod", 4>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_ReduceKindAttr : EnumAttr<Dlc_Dialect, Dlc_ReduceKind, "reduce_kind">;

def Dlc_ReduceOp : Dlc_PureOp<"reduce", [Dlc_ElementLoop, Dlc_SingleAccumulator, Dlc_FloatArithmetic]> {
  let summary = "combines the elements along `axes`; with `keepdims` these stay with size 1";
  let description = [{
    Floats of 16 bits are summed in f32. An empty sum is 0, an empty product 1, an empty maximum the lowest value.
    The elements that equal the maximum or minimum take equal shares of its gradient.
    - (C1) `axes` are distinct dimensions of x, ascending.
  }];
  let arguments = (ins Dlc_ReduceKindAttr:$kind, Dlc_Tensor:$x, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$kind $x `axes` $axes (`keepdims` $keepdims^)? attr-dict `:` functional-type(operands, results)";
}

def Dlc_ArgReduceOp : Dlc_PureOp<"arg_reduce", [Dlc_ElementLoop, Dlc_OwnKernel]> {
  let summary = "the i64 index of the largest or smallest element along one axis; the first such, or the last";
  let description = "- (C1) `axis` is a dimension of x. \n- (C2) `kind` is max or min.";
  let arguments = (ins Dlc_ReduceKindAttr:$kind, Dlc_Tensor:$x, I64Attr:$axis, UnitAttr:$keepdims, UnitAttr:$last);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$kind $x `axis` $axis (`keepdims` $keepdims^)? (`last` $last^)? attr-dict `:` functional-type(operands, results)";
}

def Dlc_CumulativeOp : Dlc_PureOp<"cumulative", [Dlc_OwnKernel, Dlc_FloatArithmetic]> {
  let summary = "running sum or product along one axis";
  let description = "The gradient of a product is exact for elements that are 0, too.\n- (C1) `axis` is a dimension of x. \n- (C2) `kind` is sum or prod.";
  let arguments = (ins Dlc_ReduceKindAttr:$kind, Dlc_Tensor:$x, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$kind $x `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)";
}

def Dlc_TopKOp : Dlc_PureOp<"topk", [Dlc_OwnKernel]> {
  let summary = "the k largest (or smallest) elements along one axis, and their i64 indices; ties: the lower index first";
  let description = "The gradient of a value passes to the element at its index.\n- (C1) `axis` is a dimension of x. \n- (C2) 0 <= k <= the size of that dimension.";
  let arguments = (ins Dlc_Tensor:$x, I64Attr:$k, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest,
                       DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Dlc_Tensor:$values, Dlc_Tensor:$indices);
}

def Dlc_NmsOp : Dlc_PureOp<"nms", [Dlc_NoGradient, Dlc_OwnKernel]> {
  let summary = "non-maximum suppression: the boxes with the largest scores that overlap none before by more than a threshold";
  let description = [{
    Of each row of scores `[batch, classes, boxes]` the candidates are taken by falling score, the lower index first among equals, and NaN first of
    all; one whose intersection over union with a box taken before is above `overlap` is left out, as are all once `k` are taken. A box is two opposite
    corners (y1, x1, y2, x2). `places` are the indices of those taken, in this order, and 0 behind them; `counts` says how many they are.
    - (C1) boxes is [batch, boxes, 4], and scores and candidates are [batch, classes, boxes].
    - (C2) boxes and scores have one element type.
    - (C3) overlap has rank 0.
    - (C4) 0 <= k <= the number of boxes.
    - (C5) all are on one device.
  }];
  let arguments = (ins Dlc_FloatTensor:$boxes, Dlc_FloatTensor:$scores, Dlc_BoolTensor:$candidates, Dlc_FloatTensor:$overlap, I64Attr:$k);
  let results = (outs Dlc_Tensor:$places, Dlc_Tensor:$counts);
}
#endif
