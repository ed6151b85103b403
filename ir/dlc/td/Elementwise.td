//===- Elementwise.td - elementwise operations ----------------------------===//
#ifndef DLC_IR_ELEMENTWISE_TD
#define DLC_IR_ELEMENTWISE_TD
include "ir/dlc/td/Base.td"

defvar elementwiseRules = [{
    Operands broadcast as in NumPy: shapes are aligned at the last dimension, and a dimension of size 1 stretches.

    - (C1) all operands have the same element type (but for what the operation says of one of them).
    - (C2) all operands are on one device; 0-d operands may be anywhere.
    - (C3) the operands' shapes broadcast together.
}];

/// Elementwise operation. Other layers describe such an operation in tables, which dlc-tblgen (ir/tblgen) generates from these
/// fields. A missing table entry is a compile error.
class Dlc_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Dlc_PureOp<mnemonic, [Dlc_Elementwise] # traits> {
  string onnx = "";  // ONNX operator, if it has the same semantics for every type
  string trace = ""; // function of dlc::trace, if it takes only the operands
}

/// Function of real numbers that codegen/cpu and codegen/cuda implement under its mnemonic.
class Dlc_Function<string mnemonic> {
  string libm = mnemonic; // C library function of doubles, if there is one; used by the reference evaluator
  string cuda = libm;     // CUDA function of doubles; with the suffix f, of floats
}

class Dlc_Unary<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Dlc_ElementwiseOp<mnemonic, traits> {
  let trace = mnemonic;
  let summary = meaning;
  let arguments = (ins type:$x);
  let results = (outs Dlc_Tensor:$y);
  let extraClassDefinition = compatible # Dlc_InferBy<"::dlc::inferUnary(site, adaptor.getX(), types)">.definition;
}

class Dlc_UnaryFunction<string mnemonic, string meaning, list<Trait> traits = []>
    : Dlc_Unary<mnemonic, Dlc_FloatTensor, meaning, traits>, Dlc_Function<mnemonic> {
  let weight = 8;
}

def Dlc_AbsOp : Dlc_Unary<"abs", Dlc_Tensor, "|x|", [Dlc_NonNegativeResult]> {
  let onnx = "Abs";
  let numericClass = "Exact";
  let description = "The gradient at 0 is 0.";
}
def Dlc_NegOp : Dlc_Unary<"neg", Dlc_Tensor, "-x", [Dlc_AffineInEachOperand]> { let onnx = "Neg"; let trace = ""; let numericClass = "Exact"; }
def Dlc_SignOp : Dlc_Unary<"sign", Dlc_Tensor, "-1, 0 or 1; NaN stays", [Dlc_NoGradient, Dlc_IntegralResult]> {
  let onnx = "Sign";
  let numericClass = "Exact";
}
def Dlc_ExpOp : Dlc_UnaryFunction<"exp", "e^x", [Dlc_NonNegativeResult]> { let onnx = "Exp"; }
def Dlc_Expm1Op : Dlc_UnaryFunction<"expm1", "e^x - 1, accurate near 0">;
def Dlc_LogOp : Dlc_UnaryFunction<"log", "natural logarithm"> { let onnx = "Log"; }
def Dlc_Log1pOp : Dlc_UnaryFunction<"log1p", "log(1 + x), accurate near 0">;
def Dlc_SqrtOp : Dlc_UnaryFunction<"sqrt", "square root", [Dlc_PreservesNonNegative]> {
  let onnx = "Sqrt";
  let weight = 3;
  let description = "The gradient at 0 is infinite. It is 0 if x is a sum of squares or of other powers of absolute values, as in a norm.";
}
def Dlc_RsqrtOp : Dlc_UnaryFunction<"rsqrt", "1 / sqrt(x)"> { let libm = ""; let weight = 3; }
def Dlc_SinOp : Dlc_UnaryFunction<"sin", "sine"> { let onnx = "Sin"; }
def Dlc_CosOp : Dlc_UnaryFunction<"cos", "cosine"> { let onnx = "Cos"; }
def Dlc_TanOp : Dlc_UnaryFunction<"tan", "tangent"> { let onnx = "Tan"; }
def Dlc_AsinOp : Dlc_UnaryFunction<"asin", "arc sine"> { let onnx = "Asin"; }
def Dlc_AcosOp : Dlc_UnaryFunction<"acos", "arc cosine"> { let onnx = "Acos"; }
def Dlc_AtanOp : Dlc_UnaryFunction<"atan", "arc tangent"> { let onnx = "Atan"; }
def Dlc_SinhOp : Dlc_UnaryFunction<"sinh", "hyperbolic sine"> { let onnx = "Sinh"; }
def Dlc_CoshOp : Dlc_UnaryFunction<"cosh", "hyperbolic cosine"> { let onnx = "Cosh"; }
def Dlc_TanhOp : Dlc_UnaryFunction<"tanh", "hyperbolic tangent"> { let onnx = "Tanh"; let numericClass = "Smooth"; }
def Dlc_AsinhOp : Dlc_UnaryFunction<"asinh", "inverse hyperbolic sine"> { let onnx = "Asinh"; }
def Dlc_AcoshOp : Dlc_UnaryFunction<"acosh", "inverse hyperbolic cosine"> { let onnx = "Acosh"; }
def Dlc_AtanhOp : Dlc_UnaryFunction<"atanh", "inverse hyperbolic tangent"> { let onnx = "Atanh"; }
def Dlc_ErfOp : Dlc_UnaryFunction<"erf", "error function"> { let onnx = "Erf"; let numericClass = "Smooth"; }
def Dlc_ErfcOp : Dlc_UnaryFunction<"erfc", "1 - erf(x), accurate where erf is almost 1">;
def Dlc_ErfinvOp : Dlc_UnaryFunction<"erfinv", "the inverse of erf"> { let libm = ""; let cuda = "erfinv"; }
def Dlc_SigmoidOp : Dlc_UnaryFunction<"sigmoid", "1 / (1 + e^-x)", [Dlc_NonNegativeResult]> {
  let onnx = "Sigmoid";
  let libm = "";
  let numericClass = "Smooth";
}
def Dlc_ReluOp : Dlc_Unary<"relu", Dlc_Tensor, "max(x, 0); NaN stays"> {
  let onnx = "Relu";
  let numericClass = "Exact";
  let description = "The gradient at 0 is 0.";
}

class Dlc_Rounding<string mnemonic, string meaning> : Dlc_UnaryFunction<mnemonic, meaning, [Dlc_NoGradient, Dlc_IntegralResult]> {
  let numericClass = "Smooth";
  let weight = 1;
}
def Dlc_CeilOp : Dlc_Rounding<"ceil", "round up">;
def Dlc_FloorOp : Dlc_Rounding<"floor", "round down">;
def Dlc_RoundOp : Dlc_Rounding<"round", "round to nearest, ties to even"> { let libm = "rint"; }

def Dlc_NotOp : Dlc_Unary<"not", Dlc_Tensor, "logical not of bool, bitwise not of integers", [Dlc_NoGradient]> {
  let onnx = "Not";
  let trace = "logical_not";
}

def Dlc_GeluOp : Dlc_ElementwiseOp<"gelu"> {
  let numericClass = "Smooth";
  let weight = 8;
  let summary = "x * Phi(x); `approximate` uses the tanh form";
  let arguments = (ins Dlc_FloatTensor:$x, UnitAttr:$approximate);
  let results = (outs Dlc_FloatTensor:$y);
}

def Dlc_IsNanOp : Dlc_ElementwiseOp<"is_nan", [Dlc_NoGradient]> {
  let onnx = "IsNaN";
  let trace = "is_nan";
  let numericClass = "Exact";
  let summary = "true where x is NaN";
  let arguments = (ins Dlc_FloatTensor:$x);
  let results = (outs Dlc_BoolTensor:$y);
}

def Dlc_IsInfOp : Dlc_ElementwiseOp<"is_inf", [Dlc_NoGradient]> {
  let trace = "is_inf";
  let numericClass = "Exact";
  let summary = "true where x is infinite, of the signs asked for";
  let arguments = (ins Dlc_FloatTensor:$x, DefaultValuedAttr<BoolAttr, "true">:$positive,
                       DefaultValuedAttr<BoolAttr, "true">:$negative);
  let results = (outs Dlc_BoolTensor:$y);
}

def Dlc_CastOp : Dlc_ElementwiseOp<"cast", [Dlc_SameElements, Dlc_PreservesNonNegative]> {
  let numericClass = "Smooth";
  let summary = "converts the element type";
  let description = [{
    Float to integer truncates toward zero and saturates (NaN becomes 0); to bool is `x != 0`; integer to
    integer wraps; float to float rounds to nearest even. `dlc.cast %x to bf16 : ...`
  }];
  let arguments = (ins Dlc_PackedOrTensor:$x, TypeAttr:$to);
  let results = (outs Dlc_PackedOrTensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$x `to` $to attr-dict `:` functional-type(operands, results)";
}

def Dlc_LookupOp : Dlc_ElementwiseOp<"lookup", [Dlc_NoGradient]> {
  let numericClass = "Exact";
  let weight = 2;
  let summary = "the element of a table that the eight bits of x number: what a chain of operations makes of each of 256 values";
  let description = [{
    - (C1) x has 8 bits.
    - (C2) the table has one dimension of 256 elements of 8 bits.
  }];
  let arguments = (ins Dlc_Tensor:$x, ElementsAttr:$table);
  let results = (outs Dlc_Tensor:$y);
  let assemblyFormat = "$x `in` $table attr-dict `:` functional-type(operands, results)";
}

class Dlc_Binary<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Dlc_ElementwiseOp<mnemonic, traits> {
  let summary = meaning;
  let description = elementwiseRules;
  let arguments = (ins type:$a, type:$b);
  let results = (outs Dlc_Tensor:$y);
  let extraClassDefinition = compatible
      # Dlc_InferBy<"::dlc::inferBinary(site, adaptor.getA(), adaptor.getB(), types)">.definition;
}

class Dlc_BinaryFunction<string mnemonic, string meaning, list<Trait> traits = []>
    : Dlc_Binary<mnemonic, Dlc_FloatTensor, meaning, traits>, Dlc_Function<mnemonic> {
  let trace = mnemonic;
  let weight = 8;
}

def Dlc_Atan2Op : Dlc_BinaryFunction<"atan2", "the angle of the point (b, a): the arc tangent of a / b, in its quadrant"> {
  let description = !strconcat("The gradients at (0, 0) are 0.\n", elementwiseRules);
}

class Dlc_Arithmetic<string mnemonic, string meaning, list<Trait> traits = []>
    : Dlc_Binary<mnemonic, Dlc_Tensor, meaning, traits> {
  let numericClass = "Smooth";
  let hasFolder = 1;
}
def Dlc_AddOp : Dlc_Arithmetic<"add", "a + b", [Commutative, Dlc_AffineInEachOperand, Dlc_PreservesNonNegative]> { let onnx = "Add"; }
def Dlc_SubOp : Dlc_Arithmetic<"sub", "a - b", [Dlc_AffineInEachOperand]> { let onnx = "Sub"; }
def Dlc_MulOp : Dlc_Arithmetic<"mul", "a * b", [Commutative, Dlc_AffineInEachOperand, Dlc_PreservesNonNegative]> { let onnx = "Mul"; }
def Dlc_DivOp : Dlc_Arithmetic<"div", "a / b; integers truncate toward zero, and division by 0 gives 0", [Dlc_PreservesNonNegative]> {
  let onnx = "Div";
  let weight = 3;
}
def Dlc_PowOp : Dlc_ElementwiseOp<"pow"> {
  let onnx = "Pow";
  let trace = "pow";
  let weight = 8;
  let summary = "a to the power b; b may have another element type";
  let description = !strconcat([{
    The gradient in a is 0 where b is 0. The gradient in b is 0 where a is 0 and b is not negative. A root of 0 has an infinite gradient in a, or the
    gradient 0 if a is a sum of powers of absolute values, as in a norm.
  }], elementwiseRules);
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_Tensor:$y);
}
def Dlc_RemOp : Dlc_ElementwiseOp<"rem"> {
  let weight = 3;
  let summary = "remainder; the sign follows b (floor), or a when `truncated`; by integer 0 gives 0";
  let description = elementwiseRules;
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b, UnitAttr:$truncated);
  let results = (outs Dlc_Tensor:$y);
}

/// Maximum or minimum of two operands. `strict` defines the gradient at equal operands.
class Dlc_Extreme<string mnemonic, string meaning> : Dlc_Binary<mnemonic, Dlc_Tensor, meaning, [Commutative, Dlc_PreservesNonNegative]> {
  let numericClass = "Exact";
  let description = !strconcat([{
    Of equal operands each takes half of the gradient. With `strict` neither takes any: a clamp has no gradient at its bounds.
  }], elementwiseRules);
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b, UnitAttr:$strict);
}
def Dlc_MaxOp : Dlc_Extreme<"max", "the larger; NaN if either is"> { let trace = "maximum"; }
def Dlc_MinOp : Dlc_Extreme<"min", "the smaller; NaN if either is"> { let trace = "minimum"; }

class Dlc_Bitwise<string mnemonic, string meaning, list<Trait> traits = []>
    : Dlc_Binary<mnemonic, Dlc_Tensor, meaning, [Dlc_NoGradient] # traits>;
def Dlc_AndOp : Dlc_Bitwise<"and", "logical and of bool, bitwise of integers", [Commutative]> { let onnx = "And"; }
def Dlc_OrOp : Dlc_Bitwise<"or", "logical or of bool, bitwise of integers", [Commutative]> { let onnx = "Or"; }
def Dlc_XorOp : Dlc_Bitwise<"xor", "logical xor of bool, bitwise of integers", [Commutative]> { let onnx = "Xor"; }
def Dlc_ShiftLeftOp : Dlc_Bitwise<"shift_left", "a << b; 0 when b is the width or more">;
def Dlc_ShiftRightOp : Dlc_Bitwise<"shift_right", "a >> b, with the sign for signed types">;

def Dlc_Predicate : I32EnumAttr<"Predicate", "how two values are compared", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_PredicateAttr : EnumAttr<Dlc_Dialect, Dlc_Predicate, "predicate">;

def Dlc_CompareOp : Dlc_ElementwiseOp<"compare", [Dlc_NoGradient]> {
  let numericClass = "Exact";
  let summary = "compares; NaN is unequal to and unordered with everything";
  let description = elementwiseRules;
  let arguments = (ins Dlc_PredicateAttr:$predicate, Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_BoolTensor:$y);
  let assemblyFormat = "$predicate $a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Dlc_SelectOp : Dlc_ElementwiseOp<"select"> {
  let numericClass = "Exact";
  let summary = "a where the condition holds, else b";
  let description = !strconcat("The gradient passes to the operand that the condition selects, and 0 to the other.\n", elementwiseRules);
  let arguments = (ins Dlc_BoolTensor:$condition, Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_Tensor:$y);
}
#endif
