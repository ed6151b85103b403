//===- Sizes.td - sizes of dimensions as values ----------------------------===//
#ifndef DLC_IR_SIZES_TD
#define DLC_IR_SIZES_TD
include "ir/dlc/td/Base.td"
include "ir/size/Size.td"

def Dlc_SizeOp : Dlc_Op<"size", [Pure, Dlc_NoGradient]> {
  let summary = "a size as a value: an i64 of rank 0";
  let description = [{
    `dlc.size <"2*batch", [#batch]> -> tensor<i64>`. It has a value when all symbols have values.
    - (C1) the result is an i64 tensor of rank 0.
  }];
  let arguments = (ins Size_ExprAttr:$size);
  let results = (outs Dlc_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$size attr-dict `->` type($y)";
}

#endif
