//===- Collective.td - operations between the ranks of a world ------------===//
#ifndef DLC_IR_COLLECTIVE_TD
#define DLC_IR_COLLECTIVE_TD
include "ir/dlc/td/Reduce.td"

/// Base of the collectives. All ranks run one program and execute its collectives in program order. `group` names the
/// participating ranks, and `size` is their number. `size` may be absent if no shape depends on it.
class Dlc_Collective<string mnemonic, list<Trait> traits = [Dlc_Communicates]> : Dlc_PureOp<mnemonic, traits # [Dlc_RankDependent]> {
  let results = (outs Dlc_Tensor:$y);
}

def Dlc_AllReduceOp : Dlc_Collective<"all_reduce"> {
  let summary = "the elements of all ranks, combined; with `to` only that rank gets them, the others zeros";
  let description = [{
    - (C1) `kind` is sum, mean or max; a mean is one of floats.
    - (C2) a `size` is 1 or more.
    - (C3) `to` is a rank: 0 or more, and less than a `size` that is given.
    - (C4) with `to`, `kind` is sum.
  }];
  let arguments = (ins Dlc_ReduceKindAttr:$kind, Dlc_Tensor:$x, DefaultValuedStrAttr<StrAttr, "world">:$group, OptionalAttr<I64Attr>:$size,
                       OptionalAttr<I64Attr>:$to);
  let assemblyFormat = "$kind $x (`over` $group^)? (`of` $size^)? (`to` $to^)? attr-dict `:` functional-type(operands, results)";
}
def Dlc_AllGatherOp : Dlc_Collective<"all_gather"> {
  let summary = "the rows of all ranks, one rank's after the other's";
  let description = [{
    - (C1) a `size` of 1 or more is given.
    - (C2) x has a first dimension.
  }];
  let arguments = (ins Dlc_Tensor:$x, DefaultValuedStrAttr<StrAttr, "world">:$group, OptionalAttr<I64Attr>:$size);
  let assemblyFormat = "$x (`over` $group^)? (`of` $size^)? attr-dict `:` functional-type(operands, results)";
}
def Dlc_ReduceScatterOp : Dlc_Collective<"reduce_scatter"> {
  let summary = "the elements of all ranks, combined: of the rows each rank gets its share, in the order of ranks";
  let description = [{
    - (C1) `kind` is sum, mean or max; a mean is one of floats.
    - (C2) a `size` of 1 or more is given.
    - (C3) x has a first dimension, which divides into `size` shares.
  }];
  let arguments = (ins Dlc_ReduceKindAttr:$kind, Dlc_Tensor:$x, DefaultValuedStrAttr<StrAttr, "world">:$group, OptionalAttr<I64Attr>:$size);
  let assemblyFormat = "$kind $x (`over` $group^)? (`of` $size^)? attr-dict `:` functional-type(operands, results)";
}
/// Needs no communication: the counterpart of all_gather for operands that all ranks have in full.
def Dlc_OwnRowsOp : Dlc_Collective<"own_rows", []> {
  let summary = "the operands' rows, one operand's after the other's: of these this rank's share, in the order of ranks";
  let description = [{
    - (C1) a `size` is 1 or more.
    - (C2) there is at least one operand, all have a first dimension, and agree in the other dimensions and in the element type.
    - (C3) the rows are known, and divide into `size` shares; without a `size` a share is one row, in a world of at most as many ranks.
  }];
  let arguments = (ins Variadic<Dlc_Tensor>:$xs, DefaultValuedStrAttr<StrAttr, "world">:$group, OptionalAttr<I64Attr>:$size);
  let assemblyFormat = "$xs (`over` $group^)? (`of` $size^)? attr-dict `:` functional-type(operands, results)";
}
def Dlc_BroadcastRanksOp : Dlc_Collective<"broadcast_ranks"> {
  let summary = "the root's elements, on all ranks";
  let description = [{
    - (C1) a `size` is 1 or more.
    - (C2) `root` is a rank: 0 or more, and less than a `size` that is given.
  }];
  let arguments = (ins Dlc_Tensor:$x, DefaultValuedStrAttr<StrAttr, "world">:$group, OptionalAttr<I64Attr>:$size,
                       DefaultValuedAttr<I64Attr, "0">:$root);
  let assemblyFormat = "$x `from` $root (`over` $group^)? (`of` $size^)? attr-dict `:` functional-type(operands, results)";
}
#endif
