//===- Reduce.td - reductions, windows, sorts, gathers and scatters ---------===//
#ifndef DLC_FRONTEND_STABLEHLO_REDUCE_TD
#define DLC_FRONTEND_STABLEHLO_REDUCE_TD
include "frontend/mlir/stablehlo/dialect/Base.td"

def Stablehlo_ReduceOp : Stablehlo_Op<"reduce", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$init_values, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_MapOp : Stablehlo_Op<"map"> {
  let arguments = (ins Variadic<AnyType>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs AnyType:$result);
}

def Stablehlo_ReduceWindowOp : Stablehlo_Op<"reduce_window", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$init_values, DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
}

def Stablehlo_SelectAndScatterOp : Stablehlo_Op<"select_and_scatter"> {
  let arguments = (ins AnyType:$operand, AnyType:$source, AnyType:$init_value, OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs AnyType:$result);
}

def Stablehlo_SortOp : Stablehlo_Op<"sort"> {
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<I64Attr>:$dimension, OptionalAttr<BoolAttr>:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<AnyType>:$results);
}

def Stablehlo_GatherOp : Stablehlo_Op<"gather"> {
  let arguments = (ins AnyType:$operand, AnyType:$start_indices, Stablehlo_GatherAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes, OptionalAttr<BoolAttr>:$indices_are_sorted);
  let results = (outs AnyType:$result);
}

def Stablehlo_DynamicGatherOp : Stablehlo_Op<"dynamic_gather"> {
  let arguments = (ins AnyType:$operand, AnyType:$start_indices, AnyType:$slice_sizes, Stablehlo_GatherAttr:$dimension_numbers,
                       OptionalAttr<BoolAttr>:$indices_are_sorted);
  let results = (outs AnyType:$result);
}

def Stablehlo_ScatterOp : Stablehlo_Op<"scatter", [SameVariadicOperandSize]> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyType:$scatter_indices, Variadic<AnyType>:$updates,
                       Stablehlo_ScatterAttr:$scatter_dimension_numbers, OptionalAttr<BoolAttr>:$indices_are_sorted,
                       OptionalAttr<BoolAttr>:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<AnyType>:$results);
}

def Stablehlo_TorchIndexSelectOp : Stablehlo_Op<"torch_index_select"> {
  let arguments = (ins AnyType:$operand, AnyType:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs AnyType:$result);
}

#endif
