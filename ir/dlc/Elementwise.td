//===- Elementwise.td - one result element from one element of each operand ===//
#ifndef DLC_IR_ELEMENTWISE_TD
#define DLC_IR_ELEMENTWISE_TD
include "ir/dlc/Base.td"

defvar elementwiseRules = [{
    Operands broadcast as in NumPy: shapes are aligned at the last dimension, and a dimension of size 1 stretches.

    - (C1) all operands have the same element type (but for what the operation says of one of them).
    - (C2) all operands are on one device; 0-d operands may be anywhere.
    - (C3) the operands' shapes broadcast together.
}];

class Dlc_Unary<string mnemonic, Type type, string meaning> : Dlc_PureOp<mnemonic, [Dlc_Elementwise]> {
  let summary = meaning;
  let arguments = (ins type:$x);
  let results = (outs Dlc_Tensor:$y);
  let extraClassDefinition = compatible # Dlc_InferBy<"::dlc::inferUnary(site, adaptor.getX(), types)">.definition;
}

def Dlc_AbsOp : Dlc_Unary<"abs", Dlc_Tensor, "|x|">;
def Dlc_NegOp : Dlc_Unary<"neg", Dlc_Tensor, "-x">;
def Dlc_SignOp : Dlc_Unary<"sign", Dlc_Tensor, "-1, 0 or 1; NaN stays">;
def Dlc_ExpOp : Dlc_Unary<"exp", Dlc_FloatTensor, "e^x">;
def Dlc_Expm1Op : Dlc_Unary<"expm1", Dlc_FloatTensor, "e^x - 1, accurate near 0">;
def Dlc_LogOp : Dlc_Unary<"log", Dlc_FloatTensor, "natural logarithm">;
def Dlc_Log1pOp : Dlc_Unary<"log1p", Dlc_FloatTensor, "log(1 + x), accurate near 0">;
def Dlc_SqrtOp : Dlc_Unary<"sqrt", Dlc_FloatTensor, "square root">;
def Dlc_RsqrtOp : Dlc_Unary<"rsqrt", Dlc_FloatTensor, "1 / sqrt(x)">;
def Dlc_SinOp : Dlc_Unary<"sin", Dlc_FloatTensor, "sine">;
def Dlc_CosOp : Dlc_Unary<"cos", Dlc_FloatTensor, "cosine">;
def Dlc_TanOp : Dlc_Unary<"tan", Dlc_FloatTensor, "tangent">;
def Dlc_AsinOp : Dlc_Unary<"asin", Dlc_FloatTensor, "arc sine">;
def Dlc_AcosOp : Dlc_Unary<"acos", Dlc_FloatTensor, "arc cosine">;
def Dlc_AtanOp : Dlc_Unary<"atan", Dlc_FloatTensor, "arc tangent">;
def Dlc_SinhOp : Dlc_Unary<"sinh", Dlc_FloatTensor, "hyperbolic sine">;
def Dlc_CoshOp : Dlc_Unary<"cosh", Dlc_FloatTensor, "hyperbolic cosine">;
def Dlc_TanhOp : Dlc_Unary<"tanh", Dlc_FloatTensor, "hyperbolic tangent">;
def Dlc_AsinhOp : Dlc_Unary<"asinh", Dlc_FloatTensor, "inverse hyperbolic sine">;
def Dlc_AcoshOp : Dlc_Unary<"acosh", Dlc_FloatTensor, "inverse hyperbolic cosine">;
def Dlc_AtanhOp : Dlc_Unary<"atanh", Dlc_FloatTensor, "inverse hyperbolic tangent">;
def Dlc_ErfOp : Dlc_Unary<"erf", Dlc_FloatTensor, "error function">;
def Dlc_SigmoidOp : Dlc_Unary<"sigmoid", Dlc_FloatTensor, "1 / (1 + e^-x)">;
def Dlc_ReluOp : Dlc_Unary<"relu", Dlc_Tensor, "max(x, 0); NaN stays">;
def Dlc_CeilOp : Dlc_Unary<"ceil", Dlc_FloatTensor, "round up">;
def Dlc_FloorOp : Dlc_Unary<"floor", Dlc_FloatTensor, "round down">;
def Dlc_RoundOp : Dlc_Unary<"round", Dlc_FloatTensor, "round to nearest, ties to even">;
def Dlc_NotOp : Dlc_Unary<"not", Dlc_Tensor, "logical not of bool, bitwise not of integers">;

def Dlc_GeluOp : Dlc_PureOp<"gelu", [Dlc_Elementwise]> {
  let summary = "x * Phi(x); `approximate` uses the tanh form";
  let arguments = (ins Dlc_FloatTensor:$x, UnitAttr:$approximate);
  let results = (outs Dlc_FloatTensor:$y);
}

def Dlc_IsNanOp : Dlc_PureOp<"is_nan", [Dlc_Elementwise]> {
  let summary = "true where x is NaN";
  let arguments = (ins Dlc_FloatTensor:$x);
  let results = (outs Dlc_BoolTensor:$y);
}

def Dlc_IsInfOp : Dlc_PureOp<"is_inf", [Dlc_Elementwise]> {
  let summary = "true where x is infinite, of the signs asked for";
  let arguments = (ins Dlc_FloatTensor:$x, DefaultValuedAttr<BoolAttr, "true">:$positive,
                       DefaultValuedAttr<BoolAttr, "true">:$negative);
  let results = (outs Dlc_BoolTensor:$y);
}

def Dlc_CastOp : Dlc_PureOp<"cast", [Dlc_Elementwise]> {
  let summary = "converts the element type";
  let description = [{
    Float to integer truncates toward zero and saturates (NaN becomes 0); to bool is `x != 0`; integer to
    integer wraps; float to float rounds to nearest even. `dlc.cast %x to bf16 : ...`
  }];
  let arguments = (ins Dlc_Tensor:$x, TypeAttr:$to);
  let results = (outs Dlc_Tensor:$y);
  let hasFolder = 1;
  let assemblyFormat = "$x `to` $to attr-dict `:` functional-type(operands, results)";
}

class Dlc_Binary<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Dlc_PureOp<mnemonic, [Dlc_Elementwise] # traits> {
  let summary = meaning;
  let description = elementwiseRules;
  let arguments = (ins type:$a, type:$b);
  let results = (outs Dlc_Tensor:$y);
  let extraClassDefinition = compatible
      # Dlc_InferBy<"::dlc::inferBinary(site, adaptor.getA(), adaptor.getB(), types)">.definition;
}

def Dlc_AddOp : Dlc_Binary<"add", Dlc_Tensor, "a + b", [Commutative]> { let hasFolder = 1; }
def Dlc_SubOp : Dlc_Binary<"sub", Dlc_Tensor, "a - b"> { let hasFolder = 1; }
def Dlc_MulOp : Dlc_Binary<"mul", Dlc_Tensor, "a * b", [Commutative]> { let hasFolder = 1; }
def Dlc_DivOp : Dlc_Binary<"div", Dlc_Tensor, "a / b; integers truncate toward zero, and division by 0 gives 0"> { let hasFolder = 1; }
def Dlc_PowOp : Dlc_PureOp<"pow", [Dlc_Elementwise]> {
  let summary = "a to the power b; b may have another element type";
  let description = elementwiseRules;
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_Tensor:$y);
}
def Dlc_RemOp : Dlc_PureOp<"rem", [Dlc_Elementwise]> {
  let summary = "remainder; the sign follows b (floor), or a when `truncated`; by integer 0 gives 0";
  let description = elementwiseRules;
  let arguments = (ins Dlc_Tensor:$a, Dlc_Tensor:$b, UnitAttr:$truncated);
  let results = (outs Dlc_Tensor:$y);
}
def Dlc_MaxOp : Dlc_Binary<"max", Dlc_Tensor, "the larger; NaN if either is", [Commutative]>;
def Dlc_MinOp : Dlc_Binary<"min", Dlc_Tensor, "the smaller; NaN if either is", [Commutative]>;
def Dlc_AndOp : Dlc_Binary<"and", Dlc_Tensor, "logical and of bool, bitwise of integers", [Commutative]>;
def Dlc_OrOp : Dlc_Binary<"or", Dlc_Tensor, "logical or of bool, bitwise of integers", [Commutative]>;
def Dlc_XorOp : Dlc_Binary<"xor", Dlc_Tensor, "logical xor of bool, bitwise of integers", [Commutative]>;
def Dlc_ShiftLeftOp : Dlc_Binary<"shift_left", Dlc_Tensor, "a << b; 0 when b is the width or more">;
def Dlc_ShiftRightOp : Dlc_Binary<"shift_right", Dlc_Tensor, "a >> b, with the sign for signed types">;

def Dlc_Predicate : I32EnumAttr<"Predicate", "how two values are compared", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}
def Dlc_PredicateAttr : EnumAttr<Dlc_Dialect, Dlc_Predicate, "predicate">;

def Dlc_CompareOp : Dlc_PureOp<"compare", [Dlc_Elementwise]> {
  let summary = "compares; NaN is unequal to and unordered with everything";
  let description = elementwiseRules;
  let arguments = (ins Dlc_PredicateAttr:$predicate, Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_BoolTensor:$y);
  let assemblyFormat = "$predicate $a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Dlc_SelectOp : Dlc_PureOp<"select", [Dlc_Elementwise]> {
  let summary = "a where the condition holds, else b";
  let description = elementwiseRules;
  let arguments = (ins Dlc_BoolTensor:$condition, Dlc_Tensor:$a, Dlc_Tensor:$b);
  let results = (outs Dlc_Tensor:$y);
}
#endif
