//===- Shape.td - constants, and operations that move elements -------------===//
#ifndef DLC_FRONTEND_STABLEHLO_SHAPE_TD
#define DLC_FRONTEND_STABLEHLO_SHAPE_TD
include "frontend/mlir/stablehlo/dialect/Base.td"

def Stablehlo_ConstantOp : Stablehlo_Op<"constant", [AllTypesMatch<["value", "output"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyType:$output);
  let assemblyFormat = "attr-dict $value";
}

class Stablehlo_ShapeOp<string mnemonic> : Stablehlo_Op<mnemonic> {
  let results = (outs AnyType:$result);
}

def Stablehlo_IotaOp : Stablehlo_ShapeOp<"iota"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($result)";
}
def Stablehlo_BitcastConvertOp : Stablehlo_PlainOp<"bitcast_convert"> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
}
def Stablehlo_BroadcastOp : Stablehlo_ShapeOp<"broadcast"> {
  let arguments = (ins AnyType:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let assemblyFormat = "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_BroadcastInDimOp : Stablehlo_ShapeOp<"broadcast_in_dim"> {
  let arguments = (ins AnyType:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let assemblyFormat = "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_ConcatenateOp : Stablehlo_ShapeOp<"concatenate"> {
  let arguments = (ins Variadic<AnyType>:$inputs, I64Attr:$dimension);
  let assemblyFormat = "custom<OperandsThenComma>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_PadOp : Stablehlo_ShapeOp<"pad"> {
  let arguments = (ins AnyType:$operand, AnyType:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let assemblyFormat = [{$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)}];
}
def Stablehlo_ReshapeOp : Stablehlo_PlainOp<"reshape"> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
}
def Stablehlo_ReverseOp : Stablehlo_ShapeOp<"reverse"> {
  let arguments = (ins AnyType:$operand, DenseI64ArrayAttr:$dimensions);
  let assemblyFormat = "$operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}
def Stablehlo_SliceOp : Stablehlo_ShapeOp<"slice"> {
  let arguments = (ins AnyType:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
    `:` functional-type(operands, results)}];
}
def Stablehlo_TransposeOp : Stablehlo_ShapeOp<"transpose"> {
  let arguments = (ins AnyType:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_DynamicSliceOp : Stablehlo_ShapeOp<"dynamic_slice"> {
  let arguments = (ins AnyType:$operand, Variadic<AnyType>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let assemblyFormat = [{$operand `,` custom<OperandsThenComma>($start_indices) `sizes` `=` $slice_sizes attr-dict
    `:` functional-type(operands, results)}];
}
def Stablehlo_DynamicUpdateSliceOp : Stablehlo_PlainOp<"dynamic_update_slice"> {
  let arguments = (ins AnyType:$operand, AnyType:$update, Variadic<AnyType>:$start_indices);
  let results = (outs AnyType:$result);
}
def Stablehlo_GetDimensionSizeOp : Stablehlo_ShapeOp<"get_dimension_size"> {
  let arguments = (ins AnyType:$operand, I64Attr:$dimension);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_SetDimensionSizeOp : Stablehlo_ShapeOp<"set_dimension_size"> {
  let arguments = (ins AnyType:$operand, AnyType:$size, I64Attr:$dimension);
  let assemblyFormat = "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}

// Operations whose attributes are operands. The importer does not support them.
def Stablehlo_DynamicBroadcastInDimOp : Stablehlo_ShapeOp<"dynamic_broadcast_in_dim"> {
  let arguments = (ins AnyType:$operand, AnyType:$output_dimensions, DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let assemblyFormat = [{$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict
    `:` functional-type(operands, results)}];
}
def Stablehlo_DynamicIotaOp : Stablehlo_ShapeOp<"dynamic_iota"> {
  let arguments = (ins AnyType:$output_shape, I64Attr:$iota_dimension);
  let assemblyFormat = "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_DynamicPadOp : Stablehlo_PlainOp<"dynamic_pad"> {
  let arguments = (ins AnyType:$operand, AnyType:$padding_value, AnyType:$edge_padding_low, AnyType:$edge_padding_high,
                       AnyType:$interior_padding);
  let results = (outs AnyType:$result);
}
def Stablehlo_DynamicReshapeOp : Stablehlo_PlainOp<"dynamic_reshape"> {
  let arguments = (ins AnyType:$operand, AnyType:$output_shape);
  let results = (outs AnyType:$result);
}
def Stablehlo_RealDynamicSliceOp : Stablehlo_PlainOp<"real_dynamic_slice"> {
  let arguments = (ins AnyType:$operand, AnyType:$start_indices, AnyType:$limit_indices, AnyType:$strides);
  let results = (outs AnyType:$result);
}

#endif
