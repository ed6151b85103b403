//===- Base.td - the dlc dialect, its types, traits and base classes ------===//
#ifndef DLC_IR_BASE_TD
#define DLC_IR_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"

def Dlc_Dialect : Dialect {
  let name = "dlc";
  let cppNamespace = "::dlc";
  let dependentDialects = ["::dlc::size::SizeDialect"];
  let summary = "tensor computations: what is computed, on which device";
  let description = [{
    Functional operations on ranked tensors. The tensor's encoding, `#dlc.on<cpu:1, aBcd16b>`, names the
    device that holds it and, once chosen, its layout in memory; a tensor with no encoding is unplaced.
    Every operation has a reference evaluation (ir/reference), which is its meaning.

    State of a training step: an argument with `dlc.state` keeps its value from run to run; the result with `dlc.state` and the same
    `dlc.name` is its next value. `dlc.init` is its first value; without it that is zero.
    - (C1) `dlc.state` is a unit attribute beside a `dlc.name`, on a tensor.
    - (C2) no two state arguments, and no two state results, have one name.
    - (C3) a state result has the name and the type of a state argument.
    - (C4) `dlc.init` stands beside `dlc.state` and has the argument's shape and element type; of a part, those of the whole.

    In a world of ranks an argument may be one that all have together, each a part: `dlc.split = array<i64: DIMENSION, RANKS, BLOCKS>` asks for
    that, and `dlc.part` says it once the argument's type is that of a part. Along the dimension each block has a part for every rank.
    - (C5) `dlc.split` and `dlc.part` are three numbers; DIMENSION is one of the tensor's, and BLOCKS (of a whole: times RANKS) divides it.

    A result of which the run finds a size has room for the largest: `dlc.counted = array<i64: DIMENSION, RESULT>` says that along the dimension it
    has only as many elements as that result tells; what is there stands at the beginning of its memory, as a tensor of that size would.
    - (C6) `dlc.counted` is two numbers; DIMENSION is one of the tensor's, and RESULT is an i64 tensor of rank 0 without such an attribute.

    `dlc-pack-integers` replaces arguments and results of 4-bit integers by their bytes. `dlc.packed = TYPE` keeps the type, which a program's
    interface reports.
    - (C7) `dlc.packed` is a type of 4-bit integers whose bytes have the type of the argument or result.

    Passes exchange further attributes, which [attributes.md](attributes.md) lists.
    - (C8) a discardable attribute with the prefix `dlc.` is one of these and has the type that the list states.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    // One function per family, so that no file instantiates every operation.
    void registerElementwise();
    void registerQuantize();
    void registerShape();
    void registerGather();
    void registerReduce();
    void registerContract();
    void registerConv();
    void registerPool();
    void registerNorm();
    void registerAttention();
    void registerRecurrent();
    void registerControl();
    void registerTransfer();
    void registerGradient();
  }];
}

def Dlc_Int4 : AnyTypeOf<[I<4>, UI<4>], "i4 or ui4">;
def Dlc_Element : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64],
                            "f16, bf16, f32, f64, bool or an integer of 8 to 64 bits">;
def Dlc_FloatElement : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Dlc_IntElement : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64], "an integer of 8 to 64 bits">;
def Dlc_IndexElement : AnyTypeOf<[I32, I64], "i32 or i64">;

/// Element types of quantized contractions: 4-bit and 8-bit integers.
def Dlc_NarrowElement : AnyTypeOf<[I8, UI8, I<4>, UI<4>], "an integer of 4 or 8 bits">;

def Dlc_Tensor : RankedTensorOf<[Dlc_Element]>;
/// Tensors that may also have 4-bit integers as elements. These are stored as two elements per byte, the first in the low four
/// bits, and each row (the last dimension) begins at a byte. Only operations that keep rows whole or read single elements by
/// index accept such tensors.
def Dlc_PackedOrTensor : RankedTensorOf<[Dlc_Element, Dlc_Int4]>;
def Dlc_IntTensor : RankedTensorOf<[Dlc_IntElement, Dlc_Int4]>;
def Dlc_FloatTensor : RankedTensorOf<[Dlc_FloatElement]>;
def Dlc_IndexTensor : RankedTensorOf<[Dlc_IndexElement]>;
def Dlc_BoolTensor : RankedTensorOf<[I1]>;

/// Device and layout of a tensor: `#dlc.on<cpu>`, `#dlc.on<cpu:1>`, `#dlc.on<cuda:0, acdb>`.
def Dlc_OnAttr : AttrDef<Dlc_Dialect, "On", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "on";
  let summary = "the device of a tensor and, once chosen, its layout";
  let description = [{
    - (C1) the device is `cpu`, `cpu:N`, `cuda:N`, or `KIND:N` of a plugin's kind, in lower-case letters, digits and `_`.
    - (C2) the layout names each dimension once, from `a` on: in order of memory, upper case where the dimension is also blocked.
    - (C3) inner blocks follow, `16b` each: every upper-case dimension has one, and no other.
  }];
  let parameters = (ins StringRefParameter<"cpu, cuda, a plugin's">:$kind, "unsigned":$ordinal,
                        StringRefParameter<"oneDNN-style tag, empty when plain">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The name people type: cpu, cpu:1, cuda:0.
    std::string getDeviceName() const;
    /// Parses a device name; fails on anything that is none.
    static mlir::FailureOr<OnAttr> fromName(mlir::MLIRContext *context, llvm::StringRef name);
    bool sameDevice(OnAttr other) const {
      return getKind() == other.getKind() && getOrdinal() == other.getOrdinal();
    }
    OnAttr withLayout(llvm::StringRef layout) const {
      return get(getContext(), getKind(), getOrdinal(), layout);
    }
  }];
}

/// Reference semantics of an operation: a function on host tensors that every operation implements.
def Dlc_ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::dlc";
  let description = "Evaluates the operation on host tensors, slowly and plainly.";
  let methods = [InterfaceMethod<
    "Computes the results; on failure says why with a diagnostic on the operation.",
    "llvm::LogicalResult", "evaluate",
    (ins "llvm::ArrayRef<::dlc::ref::Tensor>":$inputs, "llvm::SmallVectorImpl<::dlc::ref::Tensor> &":$outputs)>];
}

/// Static properties of an operation, which the fields of Dlc_Op define.
def Dlc_FactsInterface : OpInterface<"FactsInterface"> {
  let cppNamespace = "::dlc";
  let methods = [
    StaticInterfaceMethod<"What the operation needs of its numbers.", "::dlc::NumericClass", "getNumericClass">,
    StaticInterfaceMethod<"What an element of an elementwise operation costs, in additions: 1, 3 for a division, 8 for a function.",
                          "int", "getWeight">];
}

/// Map from a result element to the operand elements that it is computed from, written once per operation with symbolic index
/// expressions (ir/dlc/IndexMap.h). Code emitters, fusion and the analysis of views use the map. Elementwise operations do not
/// need to define one.
def Dlc_IndexMapped : OpInterface<"IndexMapped"> {
  let cppNamespace = "::dlc";
  let methods = [
    InterfaceMethod<"Says what is read for the result's element `map.at` and the term `map.over` of it.",
                    "void", "mapIndices", (ins "::dlc::IndexMap &":$map)>,
    InterfaceMethod<"The extents, row-major, of the terms that are folded into one element.",
                    "llvm::SmallVector<int64_t>", "foldedExtents", (ins), "", [{ return {}; }]>];
}

/// Operation with windows that slide over the spatial dimensions of an image [N, C, spatial..]: a convolution, a pool, or a gradient
/// of one. Each list has one entry per spatial dimension.
def Dlc_WindowInterface : OpInterface<"WindowInterface"> {
  let cppNamespace = "::dlc";
  let methods = [
    InterfaceMethod<"Returns the distance between adjacent windows.", "llvm::ArrayRef<int64_t>", "getStrides">,
    InterfaceMethod<"Returns the distance between adjacent elements of a window.", "llvm::ArrayRef<int64_t>", "getDilations">,
    InterfaceMethod<"Returns the padding before the image.", "llvm::ArrayRef<int64_t>", "getLow">,
    InterfaceMethod<"Returns the padding after the image.", "llvm::ArrayRef<int64_t>", "getHigh">,
    InterfaceMethod<"Returns the number of elements of a window. By default, the attribute `window` has them.",
                    "llvm::ArrayRef<int64_t>", "getWindowSizes", (ins), "", [{ return $_op.getWindow(); }]>];
}

/// Operation whose arithmetic is mostly multiply-adds, the number of which differs from the number of its elements.
def Dlc_MultiplyAddInterface : OpInterface<"MultiplyAddInterface"> {
  let cppNamespace = "::dlc";
  let methods = [
    InterfaceMethod<"Returns the number of multiply-adds that compute all results. A dynamic dimension counts as 1.",
                    "double", "countMultiplyAdds">];
}

/// Scaled dot-product attention, or its gradient. The operands 0 to 2 are q, k and v.
def Dlc_AttentionInterface : OpInterface<"AttentionInterface"> {
  let cppNamespace = "::dlc";
  let methods = [InterfaceMethod<"Returns the mask of the scores; null if there is none.", "mlir::Value", "getMask">];
}

class Dlc_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::dlc"; }
/// Each result element depends on the elements at the same (broadcast) index of the operands.
def Dlc_Elementwise : Dlc_Trait<"Elementwise">;
/// The result has the operand's elements in the same order in memory. The operation costs nothing if both layouts are row-major.
def Dlc_View : Dlc_Trait<"View">;
/// Each result element is an element of the operand, and a strided view of the operand's memory may represent the result.
def Dlc_ViewLike : Dlc_Trait<"ViewLike">;
/// Each result element depends on its index alone, and nothing is computed. This differs from Dlc_ElementMove: `iota` has this
/// trait although its elements are not those of an operand, and a gather does not have it, because the elements that it reads
/// depend on its indices operand.
def Dlc_Movement : Dlc_Trait<"Movement">;
/// Each result element is a copy of an operand element: the first read of the index map whose guards hold.
def Dlc_ElementMove : TraitList<[Dlc_Trait<"ElementMove">, DeclareOpInterfaceMethods<Dlc_IndexMapped>]>;
/// Each result element is computed by a loop over operand elements, the terms of the index map.
def Dlc_ElementLoop : TraitList<[Dlc_Trait<"ElementLoop">, DeclareOpInterfaceMethods<Dlc_IndexMapped, ["foldedExtents"]>]>;
/// Contraction: matrix multiplication or convolution, that is, sums of products of elements of two operands.
def Dlc_Contraction : Dlc_Trait<"Contraction">;
/// Convolution, transposed convolution, or the gradient of one in its weights.
def Dlc_Convolutional : Dlc_Trait<"Convolutional">;
/// Recurrent layer. The operands 0 to 2 are x [T, N, I], the weights of x and the weights of the hidden state.
def Dlc_Recurrent : Dlc_Trait<"Recurrent">;
/// Normalization of images [N, C, spatial..] by statistics per channel or group of channels. The operands and results of another
/// shape than operand 0 have one element per channel.
def Dlc_ChannelNorm : Dlc_Trait<"ChannelNorm">;
/// The loop of Dlc_ElementLoop combines the terms of a result element in one accumulator: a sum, product, maximum or minimum.
def Dlc_SingleAccumulator : Dlc_Trait<"SingleAccumulator">;
/// Pooling or the gradient of pooling, which libraries implement for any layout.
def Dlc_Pooling : Dlc_Trait<"Pooling">;
/// A contraction or pool that no library fuses with other operations. In a fusion it is the only operation.
def Dlc_StandaloneOp : Dlc_Trait<"StandaloneOp">;
/// Outside of a fusion, the operation runs as a kernel of its own, for which the select phase enumerates candidates.
def Dlc_OwnKernel : Dlc_Trait<"OwnKernel">;
/// Each operand and result may have a layout of its own, blocked or not.
def Dlc_AnyLayout : Dlc_Trait<"AnyLayout">;
/// The derivative is 0 wherever it exists, or the operation has no derivative.
def Dlc_NoGradient : Dlc_Trait<"NoGradient">;
/// The result has each element of operand 0 exactly once, perhaps in another order, layout or element type, or on another device.
def Dlc_SameElements : Dlc_Trait<"SameElements">;
/// Computing the result again costs no more than reading the operands, and the kernel of a reader can do so. Elementwise operations do
/// not need the trait: their weight states their cost.
def Dlc_CheapToRecompute : Dlc_Trait<"CheapToRecompute">;
/// A constant does not replace the operation even if its operands are constants, because the result depends on the device, the layout or
/// the run.
def Dlc_NoConstantFold : Dlc_Trait<"NoConstantFold">;
/// Floating-point arithmetic computes the result elements, and the operation is not elementwise. The arithmetic may be in f32 with f32
/// results if the operands have 16 bits.
def Dlc_FloatArithmetic : Dlc_Trait<"FloatArithmetic">;

// Properties of the values of an elementwise operation.

/// Each result element is an integer that the element type of the operand represents exactly.
def Dlc_IntegralResult : Dlc_Trait<"IntegralResult">;
/// With all other operands held constant, each result element is an affine function of the element of one operand.
def Dlc_AffineInEachOperand : Dlc_Trait<"AffineInEachOperand">;
/// Each floating-point result element is +0, positive, infinite or NaN.
def Dlc_NonNegativeResult : Dlc_Trait<"NonNegativeResult">;
/// Each floating-point result element is +0, positive, infinite or NaN if all operand elements are.
def Dlc_PreservesNonNegative : Dlc_Trait<"PreservesNonNegative">;

/// The operation exchanges data with other ranks.
def Dlc_Communicates : Dlc_Trait<"Communicates">;
/// The result depends on the number of the rank or on data of other ranks, and not only on the operands of this rank.
def Dlc_RankDependent : Dlc_Trait<"RankDependent">;

class Dlc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dlc_Dialect, mnemonic, traits # [DeclareOpInterfaceMethods<Dlc_ReferenceInterface>, Dlc_FactsInterface]> {
  string numericClass = "Full";
  int weight = 1;
  let extraClassDeclaration = "static ::dlc::NumericClass getNumericClass() { return ::dlc::NumericClass::" # numericClass # [{; }
  static int getWeight() { return }] # weight # "; }";
}

/// Pure operation whose result types are inferred from its operands and attributes.
class Dlc_PureOp<string mnemonic, list<Trait> traits = []>
    : Dlc_Op<mnemonic, traits # [Pure, InferTypeOpAdaptorWithIsCompatible]> {
  string compatible = [{
    bool $cppClass::isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange declared) {
      return ::dlc::areCompatible(inferred, declared);
    }
  }];
  let extraClassDefinition = compatible;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Type inference shared by many operations: `call` is the body of `inferReturnTypes`.
class Dlc_InferBy<string call> {
  string definition = [{
    llvm::LogicalResult $cppClass::inferReturnTypes(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                                    Adaptor adaptor, llvm::SmallVectorImpl<mlir::Type> &types) {
      ::dlc::InferenceSite site{location, getOperationName()};
      return }] # call # [{;
    }
  }];
}

#endif // DLC_IR_BASE_TD
