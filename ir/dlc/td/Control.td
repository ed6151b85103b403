//===- Control.td - branches, loops and fused regions ---------------------===//
#ifndef DLC_IR_CONTROL_TD
#define DLC_IR_CONTROL_TD
include "ir/dlc/td/Base.td"

def Dlc_YieldOp : Op<Dlc_Dialect, "yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a region with its values";
  let arguments = (ins Variadic<Dlc_PackedOrTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins)>];
}

def Dlc_IfOp : Dlc_Op<"if", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "one of two regions, by a 0-d (or one-element) bool; regions may use values from outside";
  let description = "- (C1) the condition has one element. \n- (C2) both regions yield the result types.";
  let arguments = (ins Dlc_BoolTensor:$condition);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let results = (outs Variadic<Dlc_PackedOrTensor>:$results);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = "$condition `:` functional-type(operands, results) $thenRegion `else` $elseRegion attr-dict";
}

def Dlc_LoopOp : Dlc_Op<"loop", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments]> {
  let summary = "repeats a region: at most `trip` times, while the condition holds";
  let description = [{
    The region's arguments are the iteration number (0-d i64) and the carried values. It yields the next condition (0-d bool) when the
    loop has one, the next carried values, and then values that are stacked along a new first dimension (scanned results).
    Regions may use values from outside. Results are the last carried values, then the stacked ones.
    - (C1) trip is a 0-d i64, condition a 0-d bool; at least one is there.
    - (C2) the region's arguments, yields and the results agree in number and type.
    - (C3) stacked results need a trip and no condition; their first dimension is the trip count, dynamic while that is not constant.
    - (C4) what is stacked as 4-bit integers has rows: its rank is 1 or more.
  }];
  let arguments = (ins Optional<Dlc_Tensor>:$trip, Optional<Dlc_BoolTensor>:$condition, Variadic<Dlc_PackedOrTensor>:$inits);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Dlc_PackedOrTensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{(`trip` `(` $trip^ `:` type($trip) `)`)? (`while` `(` $condition^ `:` type($condition) `)`)?
    `inits` `(` ($inits^ `:` type($inits))? `)` (`->` `(` type($results)^ `)`)? $body attr-dict}];
}

def Dlc_FusionOp : Dlc_Op<"fusion", [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">, Dlc_AnyLayout]> {
  let summary = "operations that run as one kernel; the body is the meaning";
  let description = "- (C1) block arguments have the operands' types. \n- (C2) the body yields the result types.";
  let arguments = (ins Variadic<Dlc_PackedOrTensor>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Dlc_PackedOrTensor>:$results);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}
#endif
