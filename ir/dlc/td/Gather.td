//===- Gather.td - gathers and scatters -----------------------------------===//
#ifndef DLC_IR_GATHER_TD
#define DLC_IR_GATHER_TD
include "ir/dlc/td/Base.td"

// Negative indices count from the end. If an index is then still out of range, this is an error if the index is known at compile
// time. At run time a gather reads the nearest element, and a scatter reports an error.

def Dlc_GatherOp : Dlc_PureOp<"gather", [Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "slices of x along one axis, chosen by an index tensor: y[a.., i.., b..] = x[a.., indices[i..], b..]";
  let description = "- (C1) `axis` is a dimension of x. \n- (C2) both are on one device. \n- (C3) of 4-bit integers, `axis` is not the last dimension: whole rows are gathered.";
  let arguments = (ins Dlc_PackedOrTensor:$x, Dlc_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Dlc_PackedOrTensor:$y);
  let assemblyFormat = "$axis $x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Dlc_GatherElementsOp : Dlc_PureOp<"gather_elements", [Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "y[i..] = x[i.. with index `axis` replaced by indices[i..]]";
  let description = [{
    - (C1) `axis` is a dimension of x, and both ranks agree.
    - (C2) apart from `axis`, no dimension of the indices is larger than x's.
    - (C3) both are on one device.
  }];
  let arguments = (ins Dlc_Tensor:$x, Dlc_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$axis $x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Dlc_GatherNdOp : Dlc_PureOp<"gather_nd", [Dlc_ElementMove]> {
  let numericClass = "Exact";
  let summary = "slices of x at index tuples held in the last dimension of the indices";
  let description = [{
    - (C1) the first `batch_dims` dimensions of both agree.
    - (C2) the tuple has a static length, no longer than x's remaining dimensions.
    - (C3) both are on one device.
  }];
  let arguments = (ins Dlc_Tensor:$x, Dlc_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_ScatterReduction : I32EnumAttr<"ScatterReduction", "how an update meets what is there", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>,
    I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_ScatterReductionAttr : EnumAttr<Dlc_Dialect, Dlc_ScatterReduction, "scatter_reduction">;

def Dlc_ScatterElementsOp : Dlc_PureOp<"scatter_elements", [Dlc_OwnKernel]> {
  let summary = "x with updates[i..] put at i.. with index `axis` replaced by indices[i..]";
  let description = [{
    With `max` and `min`, the elements of x and of the updates that equal an element of the result take equal shares of its gradient.
    - (C1) `axis` is a dimension of x; all ranks agree.
    - (C2) indices and updates have one shape; updates has x's element type.
    - (C3) all are on one device.
  }];
  let arguments = (ins Dlc_Tensor:$x, Dlc_IndexTensor:$indices, Dlc_Tensor:$updates, I64Attr:$axis,
                       Dlc_ScatterReductionAttr:$reduction);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$reduction $axis operands attr-dict `:` functional-type(operands, results)";
}

def Dlc_ScatterNdOp : Dlc_PureOp<"scatter_nd", [Dlc_OwnKernel]> {
  let summary = "x with slices put at index tuples held in the last dimension of the indices";
  let description = "The gradient is shared as that of `scatter_elements`.\n- (C1) updates has the shape that the indices and x give. \n- (C2) updates has x's element type. \n- (C3) all are on one device.";
  let arguments = (ins Dlc_Tensor:$x, Dlc_IndexTensor:$indices, Dlc_Tensor:$updates, Dlc_ScatterReductionAttr:$reduction);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$reduction operands attr-dict `:` functional-type(operands, results)";
}
#endif
