//===- Control.td - control flow, calls, tokens and communication -----------===//
#ifndef DLC_FRONTEND_STABLEHLO_CONTROL_TD
#define DLC_FRONTEND_STABLEHLO_CONTROL_TD
include "frontend/mlir/stablehlo/dialect/Base.td"

def Stablehlo_ReturnOp : Stablehlo_Op<"return", [Terminator]> {
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}
def Stablehlo_CaseOp : Stablehlo_Op<"case"> {
  let arguments = (ins AnyType:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_IfOp : Stablehlo_Op<"if"> {
  let arguments = (ins AnyType:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_WhileOp : Stablehlo_Op<"while"> {
  let arguments = (ins Variadic<AnyType>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_CompositeOp : Stablehlo_Op<"composite"> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name, OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, OptionalAttr<I32Attr>:$version);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_CustomCallOp : Stablehlo_Op<"custom_call"> {
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name, OptionalAttr<BoolAttr>:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config, OptionalAttr<I32Attr>:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations, OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts, OptionalAttr<ArrayAttr>:$output_operand_aliases);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{custom<Target>($call_target_name) `(` $inputs `)` attr-dict
    `:` functional-type(operands, results)}];
}
def Stablehlo_OptimizationBarrierOp : Stablehlo_Op<"optimization_barrier"> {
  let arguments = (ins Variadic<AnyType>:$operand);
  let results = (outs Variadic<AnyType>:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypeLists>(type($operand), type($result))";
}

def Stablehlo_TupleOp : Stablehlo_PlainOp<"tuple"> {
  let arguments = (ins Variadic<AnyType>:$val);
  let results = (outs AnyType:$result);
}
def Stablehlo_GetTupleElementOp : Stablehlo_Op<"get_tuple_element"> {
  let arguments = (ins AnyType:$operand, I32Attr:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_AfterAllOp : Stablehlo_Op<"after_all"> {
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs AnyType:$result);
}
def Stablehlo_CreateTokenOp : Stablehlo_Op<"create_token"> {
  let results = (outs AnyType:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}
def Stablehlo_InfeedOp : Stablehlo_PlainOp<"infeed"> {
  let arguments = (ins AnyType:$token, OptionalAttr<StrAttr>:$infeed_config, OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_OutfeedOp : Stablehlo_PlainOp<"outfeed"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyType:$token, OptionalAttr<StrAttr>:$outfeed_config);
  let results = (outs AnyType:$result);
}
def Stablehlo_SendOp : Stablehlo_PlainOp<"send"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyType:$token, Stablehlo_ChannelHandleAttr:$channel_handle,
                       OptionalAttr<BoolAttr>:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs AnyType:$result);
}
def Stablehlo_RecvOp : Stablehlo_PlainOp<"recv"> {
  let arguments = (ins AnyType:$token, Stablehlo_ChannelHandleAttr:$channel_handle, OptionalAttr<BoolAttr>:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<AnyType>:$results);
}

def Stablehlo_ReplicaIdOp : Stablehlo_Op<"replica_id"> {
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Stablehlo_PartitionIdOp : Stablehlo_Op<"partition_id"> {
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Stablehlo_AllGatherOp : Stablehlo_Op<"all_gather"> {
  let arguments = (ins Variadic<AnyType>:$operands, I64Attr:$all_gather_dim, AnyAttr:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_AllReduceOp : Stablehlo_Op<"all_reduce"> {
  let arguments = (ins Variadic<AnyType>:$operands, AnyAttr:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_AllToAllOp : Stablehlo_Op<"all_to_all"> {
  let arguments = (ins Variadic<AnyType>:$operands, I64Attr:$split_dimension, I64Attr:$concat_dimension, I64Attr:$split_count,
                       AnyAttr:$replica_groups, OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_CollectiveBroadcastOp : Stablehlo_Op<"collective_broadcast"> {
  let arguments = (ins AnyType:$operand, AnyAttr:$replica_groups, OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs AnyType:$result);
}
def Stablehlo_CollectivePermuteOp : Stablehlo_Op<"collective_permute"> {
  let arguments = (ins AnyType:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle);
  let results = (outs AnyType:$result);
}
def Stablehlo_CollectiveReduceOp : Stablehlo_Op<"collective_reduce"> {
  let arguments = (ins Variadic<AnyType>:$operands, AnyAttr:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<AnyType>:$results);
}
def Stablehlo_CrossReplicaSumOp : Stablehlo_Op<"cross-replica-sum"> {
  let arguments = (ins AnyType:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs AnyType:$result);
}
def Stablehlo_ReduceScatterOp : Stablehlo_Op<"reduce_scatter"> {
  let arguments = (ins AnyType:$operand, I64Attr:$scatter_dimension, AnyAttr:$replica_groups,
                       OptionalAttr<Stablehlo_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs AnyType:$result);
}
def Stablehlo_AsyncStartOp : Stablehlo_Op<"async_start"> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs AnyType:$result);
}
def Stablehlo_AsyncDoneOp : Stablehlo_Op<"async_done"> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
}

#endif
