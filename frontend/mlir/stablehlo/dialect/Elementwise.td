//===- Elementwise.td - elementwise operations -----------------------------===//
#ifndef DLC_FRONTEND_STABLEHLO_ELEMENTWISE_TD
#define DLC_FRONTEND_STABLEHLO_ELEMENTWISE_TD
include "frontend/mlir/stablehlo/dialect/Base.td"

class Stablehlo_Unary<string mnemonic> : Stablehlo_Op<mnemonic> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}
class Stablehlo_Function<string mnemonic> : Stablehlo_Unary<mnemonic> {
  let arguments = (ins AnyType:$operand, OptionalAttr<Stablehlo_ResultAccuracyAttr>:$result_accuracy);
}
class Stablehlo_Binary<string mnemonic> : Stablehlo_Op<mnemonic> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))";
}

def Stablehlo_AbsOp : Stablehlo_Unary<"abs">;
def Stablehlo_CbrtOp : Stablehlo_Function<"cbrt">;
def Stablehlo_CeilOp : Stablehlo_Unary<"ceil">;
def Stablehlo_ConvertOp : Stablehlo_Unary<"convert">;
def Stablehlo_ClzOp : Stablehlo_Unary<"count_leading_zeros">;
def Stablehlo_CosineOp : Stablehlo_Function<"cosine">;
def Stablehlo_ExpOp : Stablehlo_Function<"exponential">;
def Stablehlo_Expm1Op : Stablehlo_Function<"exponential_minus_one">;
def Stablehlo_FloorOp : Stablehlo_Unary<"floor">;
def Stablehlo_ImagOp : Stablehlo_Unary<"imag">;
def Stablehlo_IsFiniteOp : Stablehlo_Unary<"is_finite">;
def Stablehlo_LogOp : Stablehlo_Function<"log">;
def Stablehlo_Log1pOp : Stablehlo_Function<"log_plus_one">;
def Stablehlo_LogisticOp : Stablehlo_Function<"logistic">;
def Stablehlo_NegateOp : Stablehlo_Unary<"negate">;
def Stablehlo_NotOp : Stablehlo_Unary<"not">;
def Stablehlo_PopcntOp : Stablehlo_Unary<"popcnt">;
def Stablehlo_RealOp : Stablehlo_Unary<"real">;
def Stablehlo_RoundAfzOp : Stablehlo_Unary<"round_nearest_afz">;
def Stablehlo_RoundEvenOp : Stablehlo_Unary<"round_nearest_even">;
def Stablehlo_RsqrtOp : Stablehlo_Function<"rsqrt">;
def Stablehlo_SignOp : Stablehlo_Unary<"sign">;
def Stablehlo_SineOp : Stablehlo_Function<"sine">;
def Stablehlo_SqrtOp : Stablehlo_Function<"sqrt">;
def Stablehlo_TanOp : Stablehlo_Function<"tan">;
def Stablehlo_TanhOp : Stablehlo_Function<"tanh">;
def Stablehlo_UniformDequantizeOp : Stablehlo_Unary<"uniform_dequantize">;
def Stablehlo_UniformQuantizeOp : Stablehlo_Unary<"uniform_quantize">;

def Stablehlo_ReducePrecisionOp : Stablehlo_Op<"reduce_precision"> {
  let arguments = (ins AnyType:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs AnyType:$output);
  let assemblyFormat = [{$operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<SameTypes>(type($operand), type($output))}];
}

def Stablehlo_AddOp : Stablehlo_Binary<"add">;
def Stablehlo_AndOp : Stablehlo_Binary<"and">;
def Stablehlo_Atan2Op : Stablehlo_Binary<"atan2">;
def Stablehlo_ComplexOp : Stablehlo_Binary<"complex">;
def Stablehlo_DivideOp : Stablehlo_Binary<"divide">;
def Stablehlo_MaximumOp : Stablehlo_Binary<"maximum">;
def Stablehlo_MinimumOp : Stablehlo_Binary<"minimum">;
def Stablehlo_MultiplyOp : Stablehlo_Binary<"multiply">;
def Stablehlo_OrOp : Stablehlo_Binary<"or">;
def Stablehlo_PowerOp : Stablehlo_Binary<"power">;
def Stablehlo_RemainderOp : Stablehlo_Binary<"remainder">;
def Stablehlo_ShiftLeftOp : Stablehlo_Binary<"shift_left">;
def Stablehlo_ShiftRightArithmeticOp : Stablehlo_Binary<"shift_right_arithmetic">;
def Stablehlo_ShiftRightLogicalOp : Stablehlo_Binary<"shift_right_logical">;
def Stablehlo_SubtractOp : Stablehlo_Binary<"subtract">;
def Stablehlo_XorOp : Stablehlo_Binary<"xor">;

def Stablehlo_CompareOp : Stablehlo_Op<"compare"> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, Stablehlo_DirectionAttr:$comparison_direction,
                       OptionalAttr<Stablehlo_ComparisonTypeAttr>:$compare_type);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)}];
}

def Stablehlo_SelectOp : Stablehlo_Op<"select"> {
  let arguments = (ins AnyType:$pred, AnyType:$on_true, AnyType:$on_false);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{operands attr-dict
    `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))}];
}

def Stablehlo_ClampOp : Stablehlo_Op<"clamp"> {
  let arguments = (ins AnyType:$min, AnyType:$operand, AnyType:$max);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$min `,` $operand `,` $max attr-dict
    `:` custom<SameTypes>(type($min), type($operand), type($max), type($result))}];
}

#endif
