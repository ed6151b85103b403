//===- Transfer.td - transfers between devices, changes of layout, random numbers ---===//
#ifndef DLC_IR_TRANSFER_TD
#define DLC_IR_TRANSFER_TD
include "ir/dlc/td/Base.td"

def Dlc_TransferOp : Dlc_Op<"transfer", [Pure, Dlc_AnyLayout, Dlc_SameElements, Dlc_NoConstantFold]> {
  let numericClass = "Exact";
  let summary = "the value on another device: the only operation that crosses devices";
  let description = "- (C1) shape and element type stay; both types are placed.";
  let arguments = (ins Dlc_PackedOrTensor:$x);
  let results = (outs Dlc_PackedOrTensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Dlc_ReorderOp : Dlc_Op<"reorder", [Pure, Dlc_AnyLayout, Dlc_SameElements, Dlc_NoConstantFold, Dlc_OwnKernel]> {
  let summary = "the value in another layout on the same device";
  let description = "- (C1) shape, element type and device stay.";
  let arguments = (ins Dlc_Tensor:$x);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Dlc_TransposedViewOp : Dlc_Op<"transposed_view", [Pure, Dlc_AnyLayout, Dlc_SameElements, Dlc_NoConstantFold]> {
  let numericClass = "Exact";
  let summary = "permutes the dimensions where that moves nothing: result dimension i is operand dimension permutation[i], and the result's layout has the elements where the operand's has them";
  let description = [{
- (C1) `permutation` holds each dimension once.
- (C2) the shape is the permuted one; element type and device stay.
  }];
  let arguments = (ins Dlc_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x $permutation attr-dict `:` functional-type(operands, results)";
}
def Dlc_RandomKind : I32EnumAttr<"RandomKind", "the distribution", [
    I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"normal", 1>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_RandomKindAttr : EnumAttr<Dlc_Dialect, Dlc_RandomKind, "random_kind">;
// Computing the result again gives the same bits, because it is a function of the counter.
def Dlc_RandomOp : Dlc_Op<"random", [Pure, Dlc_NoGradient, Dlc_NoConstantFold, Dlc_OwnKernel, Dlc_CheapToRecompute]> {
  let summary = "counter-based random numbers (Philox 4x32-10): uniform in [0, 1) or standard normal; same seed and counter, same bits";
  let description = "- (C1) the counter is a 0-d i64 and the result a float tensor.";
  let arguments = (ins Dlc_RandomKindAttr:$kind, Dlc_Tensor:$counter, I64Attr:$seed);
  let results = (outs Dlc_FloatTensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "$kind $counter `seed` $seed attr-dict `:` functional-type(operands, results)";
}
#endif
