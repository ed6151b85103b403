//===- Quantize.td - quantized tensors ------------------------------------===//
#ifndef DLC_IR_QUANTIZE_TD
#define DLC_IR_QUANTIZE_TD
include "ir/dlc/td/Base.td"

defvar quantizationRules = [{
    A quantized tensor is a tensor of integers with a scale and an optional zero point, which broadcast to it: one for the tensor (rank 0),
    one per index of an axis, or one per block. With `block_size`, each index of the scale and of the zero point along `axis` belongs to
    block_size consecutive elements; the last block may be shorter. A scale may itself be the result of a `dlc.dequantize` (nested scales).

    - (C1) the scale and the zero point have rank 0 or the tensor's rank. Each of their dimensions is 1 or the tensor's; along `axis` with
      `block_size` it is 1 or the number of blocks.
    - (C2) `block_size` is 1 or more and has an `axis`, which is a dimension of the tensor.
    - (C3) all operands are on one device; 0-d operands may be on any.
}];

def Dlc_QuantizeOp : Dlc_PureOp<"quantize", [Dlc_NoGradient, DeclareOpInterfaceMethods<Dlc_IndexMapped>]> {
  let summary = "rounds floats to integers: saturate(round(x / scale) + zero_point)";
  let description = quantizationRules # [{
    The division and the sum are in f32, and in f64 if x is f64. Ties round to even. The sum saturates at `low` and `high`, which are the
    limits of the type `to` if absent. NaN becomes 0. `reciprocal` multiplies by 1 / scale, computed in the scale's type, instead of
    dividing, and `zero_point_first` adds the zero point before rounding: both occur in PyTorch's quantized operators, and change ties.
    - (C4) `to` is an integer type of 4 to 32 bits that holds `low` and `high`; low <= high.
    - (C5) an integer zero point has the element type `to`, or i32.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, Dlc_FloatTensor:$scale, Optional<Dlc_PackedOrTensor>:$zero_point, TypeAttr:$to,
                       OptionalAttr<I64Attr>:$axis, OptionalAttr<I64Attr>:$block_size, OptionalAttr<I64Attr>:$low, OptionalAttr<I64Attr>:$high,
                       UnitAttr:$reciprocal, UnitAttr:$zero_point_first);
  let results = (outs Dlc_IntTensor:$y);
  let assemblyFormat = [{$x `,` $scale (`,` $zero_point^)? `to` $to (`axis` $axis^)? (`block_size` $block_size^)? (`low` $low^)? (`high` $high^)?
    (`reciprocal` $reciprocal^)? (`zero_point_first` $zero_point_first^)? attr-dict `:` functional-type(operands, results)}];
}

def Dlc_DequantizeOp : Dlc_PureOp<"dequantize", [Dlc_FloatArithmetic, DeclareOpInterfaceMethods<Dlc_IndexMapped>]> {
  let summary = "converts quantized values to floats: (x - zero_point) * scale";
  let description = quantizationRules # [{
    The difference is exact in i32 for integer zero points; for float zero points it is computed in the scale's type. The difference is
    converted to the scale's type, and then multiplied.
    - (C4) the zero point has x's element type, i32, or the scale's type.
  }];
  let arguments = (ins Dlc_IntTensor:$x, Dlc_FloatTensor:$scale, Optional<Dlc_PackedOrTensor>:$zero_point,
                       OptionalAttr<I64Attr>:$axis, OptionalAttr<I64Attr>:$block_size);
  let results = (outs Dlc_FloatTensor:$y);
  let assemblyFormat = [{$x `,` $scale (`,` $zero_point^)? (`axis` $axis^)? (`block_size` $block_size^)? attr-dict
    `:` functional-type(operands, results)}];
}

def Dlc_DynamicQuantizeOp : Dlc_PureOp<"dynamic_quantize", [Dlc_NoGradient]> {
  let summary = "quantizes by the range of the values: the quantized values (ui8), their scale and their zero point";
  let description = [{
    As ONNX's DynamicQuantizeLinear: with the range [min(x, 0), max(x, 0)], scale = (max - min) / 255 and
    zero_point = round(clamp(-min / scale, 0, 255)); then y = quantize(x, scale, zero_point). Where the range is empty, the values and the
    zero point are 0 as with the scale 1, and the returned scale is 0. With `axes` there is a range for each index of the other dimensions.
    - (C1) `axes` are ascending dimensions of x.
  }];
  let arguments = (ins Dlc_FloatTensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs Dlc_IntTensor:$y, Dlc_FloatTensor:$scale, Dlc_IntTensor:$zero_point);
  let assemblyFormat = "$x (`axes` $axes^)? attr-dict `:` functional-type(operands, results)";
}
#endif
