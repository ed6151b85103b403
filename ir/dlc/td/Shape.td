//===- Shape.td - constants, and operations that move elements ------------===//
#ifndef DLC_IR_SHAPE_TD
#define DLC_IR_SHAPE_TD
include "ir/dlc/td/Base.td"

def Dlc_ConstantOp : Dlc_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "y"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>, Dlc_NoGradient]> {
  let summary = "a tensor known at compile time: dense, splat, or a blob by reference (dense_resource)";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Dlc_PackedOrTensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

def Dlc_IotaOp : Dlc_Op<"iota", [Pure, Dlc_Movement, Dlc_NoGradient, Dlc_CheapToRecompute]> {
  let summary = "the index along one dimension";
  let description = "- (C1) `axis` is a dimension of the result.";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "$axis attr-dict `:` type($y)";
}

def Dlc_ReshapeOp : Dlc_Op<"reshape", [Pure, Dlc_View, Dlc_ViewLike, Dlc_Movement, Dlc_ElementMove, Dlc_SameElements,
    Dlc_CheapToRecompute]> {
  let numericClass = "Exact";
  let summary = "the same elements in the same order under another shape";
  let description = "- (C1) the number of elements stays. \n- (C2) the element type and device stay.";
  let arguments = (ins Dlc_Tensor:$x);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Dlc_TransposeOp : Dlc_PureOp<"transpose", [Dlc_ViewLike, Dlc_Movement, Dlc_ElementMove, Dlc_SameElements]> {
  let numericClass = "Exact";
  let summary = "permutes the dimensions: result dimension i is operand dimension permutation[i]";
  let description = "- (C1) `permutation` holds each dimension once.";
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = "$x $permutation attr-dict `:` functional-type(operands, results)";
}

def Dlc_BroadcastOp : Dlc_Op<"broadcast", [Pure, Dlc_ViewLike, Dlc_Movement, Dlc_ElementMove, Dlc_CheapToRecompute]> {
  let numericClass = "Exact";
  let summary = "stretches to the result's shape by NumPy's rule";
  let description = "- (C1) the operand's shape broadcasts to the result's. \n- (C2) the element type and device stay.";
  let arguments = (ins Dlc_Tensor:$x);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Dlc_SliceOp : Dlc_PureOp<"slice", [Dlc_ViewLike, Dlc_Movement, Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "a regular part: size[d] elements from start[d] on, stride[d] apart (a negative stride walks backwards)";
  let description = [{
    - (C1) `start`, `size` and `stride` have one entry per dimension.
    - (C2) every stride is non-zero and every element taken lies inside the operand.
  }];
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$start, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$stride);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$x `start` $start `size` $size `stride` $stride attr-dict `:` functional-type(operands, results)";
}

def Dlc_PadMode : I32EnumAttr<"PadMode", "what stands in the padding", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>, I32EnumAttrCase<"edge", 2>,
    I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_PadModeAttr : EnumAttr<Dlc_Dialect, Dlc_PadMode, "pad_mode">;

def Dlc_PadOp : Dlc_PureOp<"pad", [Dlc_Movement, Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "adds (or, when negative, removes) elements before and after each dimension";
  let description = [{
    - (C1) `low` and `high` have one entry per dimension.
    - (C2) `value` is 0-d and has the operand's element type.
    - (C3) no dimension of the result is negative; reflect wants padding below the dimension's size.
  }];
  let arguments = (ins Dlc_Tensor:$x, Dlc_Tensor:$value, Dlc_PadModeAttr:$mode, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$mode $x `,` $value `low` $low `high` $high attr-dict `:` functional-type(operands, results)";
}

def Dlc_ConcatOp : Dlc_PureOp<"concat", [Dlc_Movement, Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "joins along one dimension";
  let description = [{
    - (C1) `axis` is a dimension of the operands, and all ranks agree.
    - (C2) all other dimensions agree.
    - (C3) element types and devices agree.
  }];
  let arguments = (ins Variadic<Dlc_Tensor>:$xs, I64Attr:$axis);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$axis `(` $xs `)` attr-dict `:` functional-type(operands, results)";
}
#endif
