//===- Base.td - the stablehlo dialect, its types, attributes and op classes -===//
#ifndef DLC_FRONTEND_STABLEHLO_BASE_TD
#define DLC_FRONTEND_STABLEHLO_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::dlc::stablehlo";
  let summary = "syntax of StableHLO programs";
  let description = [{
    Defines the operations, attributes and types of StableHLO as far as reading them requires: names, numbers of operands, regions and
    results, and kinds of attributes. The importer checks types and constraints.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    // One function per family, so that no file instantiates every operation.
    void registerElementwise();
    void registerShape();
    void registerReduce();
    void registerContract();
    void registerControl();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Stablehlo_Token : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "order of operations with side effects";
}

def Stablehlo_Future : TypeDef<Stablehlo_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "results of an asynchronous operation";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Stablehlo_Enum<string name, list<string> names> : I32EnumAttr<name, "",
    !foreach(i, !range(names), I32EnumAttrCase<names[i], i>)> {
  let cppNamespace = "::dlc::stablehlo";
  let genSpecializedAttr = 0;
}

class Stablehlo_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Stablehlo_Dialect, info, mnemonic>;

def Stablehlo_Direction : Stablehlo_Enum<"Direction", ["EQ", "NE", "GE", "GT", "LE", "LT"]>;
def Stablehlo_DirectionAttr : Stablehlo_EnumAttr<Stablehlo_Direction, "comparison_direction">;

def Stablehlo_ComparisonType : Stablehlo_Enum<"ComparisonType", ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]>;
def Stablehlo_ComparisonTypeAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonType, "comparison_type">;

def Stablehlo_Precision : Stablehlo_Enum<"Precision", ["DEFAULT", "HIGH", "HIGHEST"]>;
def Stablehlo_PrecisionAttr : Stablehlo_EnumAttr<Stablehlo_Precision, "precision">;

def Stablehlo_FftType : Stablehlo_Enum<"FftType", ["FFT", "IFFT", "RFFT", "IRFFT"]>;
def Stablehlo_FftTypeAttr : Stablehlo_EnumAttr<Stablehlo_FftType, "fft_type">;

def Stablehlo_Transpose : Stablehlo_Enum<"Transpose", ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]>;
def Stablehlo_TransposeAttr : Stablehlo_EnumAttr<Stablehlo_Transpose, "transpose">;

def Stablehlo_RngDistribution : Stablehlo_Enum<"RngDistribution", ["UNDEFINED", "UNIFORM", "NORMAL"]>;
def Stablehlo_RngDistributionAttr : Stablehlo_EnumAttr<Stablehlo_RngDistribution, "rng_distribution">;

def Stablehlo_RngAlgorithm : Stablehlo_Enum<"RngAlgorithm", ["DEFAULT", "THREE_FRY", "PHILOX"]>;
def Stablehlo_RngAlgorithmAttr : Stablehlo_EnumAttr<Stablehlo_RngAlgorithm, "rng_algorithm">;

def Stablehlo_ResultAccuracyMode : Stablehlo_Enum<"ResultAccuracyMode", ["DEFAULT", "HIGHEST", "TOLERANCE"]>;
def Stablehlo_ResultAccuracyModeAttr : Stablehlo_EnumAttr<Stablehlo_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Attributes: `#stablehlo.dot<name = value, ..>`, where fields at their default are left out
//===----------------------------------------------------------------------===//

class Stablehlo_Attr<string name, string keyword> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = keyword;
  let hasCustomAssemblyFormat = 1;
}
def Stablehlo_Ints : ArrayRefParameter<"int64_t">;

def Stablehlo_DotAttr : Stablehlo_Attr<"Dot", "dot"> {
  let summary = "batching and contracting dimensions of dot_general";
  let parameters = (ins Stablehlo_Ints:$lhsBatching, Stablehlo_Ints:$rhsBatching, Stablehlo_Ints:$lhsContracting,
                        Stablehlo_Ints:$rhsContracting);
}

def Stablehlo_GatherAttr : Stablehlo_Attr<"GatherDimensions", "gather"> {
  let summary = "dimension numbers of gather";
  let parameters = (ins Stablehlo_Ints:$offsetDims, Stablehlo_Ints:$collapsedSliceDims, Stablehlo_Ints:$operandBatchingDims,
                        Stablehlo_Ints:$startIndicesBatchingDims, Stablehlo_Ints:$startIndexMap, "int64_t":$indexVectorDim);
}

def Stablehlo_ScatterAttr : Stablehlo_Attr<"ScatterDimensions", "scatter"> {
  let summary = "dimension numbers of scatter";
  let parameters = (ins Stablehlo_Ints:$updateWindowDims, Stablehlo_Ints:$insertedWindowDims, Stablehlo_Ints:$inputBatchingDims,
                        Stablehlo_Ints:$scatterIndicesBatchingDims, Stablehlo_Ints:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
}

def Stablehlo_ConvAttr : Stablehlo_Attr<"ConvDimensions", "conv"> {
  let summary = "dimension numbers of convolution: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`";
  let parameters = (ins "int64_t":$inputBatch, "int64_t":$inputFeature, Stablehlo_Ints:$inputSpatial,
                        "int64_t":$kernelInputFeature, "int64_t":$kernelOutputFeature, Stablehlo_Ints:$kernelSpatial,
                        "int64_t":$outputBatch, "int64_t":$outputFeature, Stablehlo_Ints:$outputSpatial);
}

def Stablehlo_ChannelHandleAttr : Stablehlo_Attr<"ChannelHandle", "channel_handle"> {
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

def Stablehlo_OutputOperandAliasAttr : Stablehlo_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let parameters = (ins Stablehlo_Ints:$outputTupleIndices, "int64_t":$operandIndex, Stablehlo_Ints:$operandTupleIndices);
}

def Stablehlo_DotAlgorithmAttr : Stablehlo_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "operand and accumulation types of dot_general";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType, "::mlir::Type":$accumulationType,
                        "int64_t":$lhsComponentCount, "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
}

def Stablehlo_ResultAccuracyAttr : AttrDef<Stablehlo_Dialect, "ResultAccuracy"> {
  let mnemonic = "result_accuracy";
  let summary = "tolerance of a function";
  let parameters = (ins OptionalParameter<"::mlir::FloatAttr">:$atol, OptionalParameter<"::mlir::FloatAttr">:$rtol,
                        DefaultValuedParameter<"int64_t", "0">:$ulps, "::mlir::Attribute":$mode);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stablehlo_BoundsAttr : Stablehlo_Attr<"Bounds", "bounds"> {
  let summary = "upper bounds of dynamic dimensions: `<?, 4>`";
  let parameters = (ins Stablehlo_Ints:$bounds);
}

//===----------------------------------------------------------------------===//
// Operation classes
//===----------------------------------------------------------------------===//

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits> {
  // The importer reads operations and builds none. ODS requires a builder, which does nothing.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins), [{ static_cast<void>($_state); }]>];
}

/// Printed as `name operands {attributes} : (operand types) -> result types`.
class Stablehlo_PlainOp<string mnemonic, list<Trait> traits = []> : Stablehlo_Op<mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
