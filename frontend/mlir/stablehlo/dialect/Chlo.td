//===- Chlo.td - operations of the chlo dialect that JAX writes --------------===//
#ifndef DLC_FRONTEND_STABLEHLO_CHLO_TD
#define DLC_FRONTEND_STABLEHLO_CHLO_TD
include "mlir/IR/OpBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::dlc::chlo";
  let summary = "functions that JAX writes next to StableHLO operations";
}

class Chlo_Op<string mnemonic, list<Trait> traits = []> : Op<Chlo_Dialect, mnemonic, traits> {
  // The importer reads operations and builds none. ODS requires a builder, which does nothing.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins), [{ static_cast<void>($_state); }]>];
}
class Chlo_Unary<string mnemonic> : Chlo_Op<mnemonic> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class Chlo_Binary<string mnemonic> : Chlo_Op<mnemonic> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

foreach name = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma", "erf", "erf_inv", "erfc",
                "is_inf", "is_neg_inf", "is_pos_inf", "lgamma", "sinh", "square", "tan"] in
  def Chlo_Fn_#name : Chlo_Unary<name>;

foreach name = ["mulhi", "next_after", "polygamma", "zeta"] in
  def Chlo_Fn_#name : Chlo_Binary<name>;

def Chlo_TopKOp : Chlo_Op<"top_k"> {
  let arguments = (ins AnyType:$operand, I64Attr:$k);
  let results = (outs AnyType:$values, AnyType:$indices);
  let assemblyFormat = "`(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`";
}

#endif
