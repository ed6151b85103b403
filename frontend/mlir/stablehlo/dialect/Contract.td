//===- Contract.td - contractions, linear algebra, normalization, random numbers ===//
#ifndef DLC_FRONTEND_STABLEHLO_CONTRACT_TD
#define DLC_FRONTEND_STABLEHLO_CONTRACT_TD
include "frontend/mlir/stablehlo/dialect/Base.td"

def Stablehlo_DotOp : Stablehlo_Op<"dot"> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$lhs `,` custom<DotOperand>($rhs, $precision_config) attr-dict
    `:` functional-type(operands, results)}];
}

def Stablehlo_DotGeneralOp : Stablehlo_Op<"dot_general"> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, Stablehlo_DotAttr:$dot_dimension_numbers,
                       OptionalAttr<ArrayAttr>:$precision_config, OptionalAttr<Stablehlo_DotAlgorithmAttr>:$algorithm);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$lhs `,` custom<DotOperand>($rhs, $dot_dimension_numbers, $precision_config, $algorithm) attr-dict
    `:` functional-type(operands, results)}];
}

defvar convArguments = (ins OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal, Stablehlo_ConvAttr:$dimension_numbers, I64Attr:$feature_group_count,
    I64Attr:$batch_group_count, OptionalAttr<ArrayAttr>:$precision_config);

def Stablehlo_ConvolutionOp : Stablehlo_Op<"convolution"> {
  let arguments = !con((ins AnyType:$lhs, AnyType:$rhs), convArguments);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{`(` operands `)` `dim_numbers` `=` custom<ConvDimensions>($dimension_numbers) `,` `window` `=`
    custom<Window>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) attr-dict
    `:` functional-type(operands, results)}];
}

def Stablehlo_DynamicConvOp : Stablehlo_Op<"dynamic_conv"> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, AnyType:$padding, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal, Stablehlo_ConvAttr:$dimension_numbers,
                       I64Attr:$feature_group_count, I64Attr:$batch_group_count, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyType:$result);
}

def Stablehlo_EinsumOp : Stablehlo_Op<"einsum"> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, StrAttr:$einsum_config);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_UnaryEinsumOp : Stablehlo_Op<"unary_einsum"> {
  let arguments = (ins AnyType:$operand, StrAttr:$einsum_config);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}

def Stablehlo_CholeskyOp : Stablehlo_Op<"cholesky"> {
  let arguments = (ins AnyType:$a, OptionalAttr<BoolAttr>:$lower);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameTypes>(type($a), type($result))";
}
def Stablehlo_TriangularSolveOp : Stablehlo_Op<"triangular_solve"> {
  let arguments = (ins AnyType:$a, AnyType:$b, BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal,
                       Stablehlo_TransposeAttr:$transpose_a);
  let results = (outs AnyType:$result);
}
def Stablehlo_FftOp : Stablehlo_Op<"fft"> {
  let arguments = (ins AnyType:$operand, Stablehlo_FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict
    `:` functional-type(operands, results)}];
}

class Stablehlo_BatchNorm<string mnemonic> : Stablehlo_Op<mnemonic>;
def Stablehlo_BatchNormGradOp : Stablehlo_BatchNorm<"batch_norm_grad"> {
  let arguments = (ins AnyType:$operand, AnyType:$scale, AnyType:$mean, AnyType:$variance, AnyType:$grad_output,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs AnyType:$grad_operand, AnyType:$grad_scale, AnyType:$grad_offset);
}
def Stablehlo_BatchNormInferenceOp : Stablehlo_BatchNorm<"batch_norm_inference"> {
  let arguments = (ins AnyType:$operand, AnyType:$scale, AnyType:$offset, AnyType:$mean, AnyType:$variance,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs AnyType:$result);
}
def Stablehlo_BatchNormTrainingOp : Stablehlo_BatchNorm<"batch_norm_training"> {
  let arguments = (ins AnyType:$operand, AnyType:$scale, AnyType:$offset, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs AnyType:$output, AnyType:$batch_mean, AnyType:$batch_var);
}

def Stablehlo_RngOp : Stablehlo_Op<"rng"> {
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$shape, Stablehlo_RngDistributionAttr:$rng_distribution);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict
    `:` functional-type(operands, results)}];
}
def Stablehlo_RngBitGeneratorOp : Stablehlo_Op<"rng_bit_generator"> {
  let arguments = (ins Stablehlo_RngAlgorithmAttr:$rng_algorithm, AnyType:$initial_state);
  let results = (outs AnyType:$output_state, AnyType:$output);
  let assemblyFormat = [{$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict
    `:` functional-type(operands, results)}];
}

#endif
