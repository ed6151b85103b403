//===- Dialect.h - the dlc dialect ----------------------------------------===//
#ifndef DLC_IR_DLC_DIALECT_H
#define DLC_IR_DLC_DIALECT_H

#include "ir/tensor/Tensor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dlc {

// The traits and fields are documented at their definitions in Base.td.
template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};
template <typename Op> class ViewLike : public mlir::OpTrait::TraitBase<Op, ViewLike> {};
template <typename Op> class Movement : public mlir::OpTrait::TraitBase<Op, Movement> {};
template <typename Op> class ElementMove : public mlir::OpTrait::TraitBase<Op, ElementMove> {};
template <typename Op> class ElementLoop : public mlir::OpTrait::TraitBase<Op, ElementLoop> {};
template <typename Op> class Contraction : public mlir::OpTrait::TraitBase<Op, Contraction> {};
template <typename Op> class Pooling : public mlir::OpTrait::TraitBase<Op, Pooling> {};
template <typename Op> class StandaloneOp : public mlir::OpTrait::TraitBase<Op, StandaloneOp> {};
template <typename Op> class AnyLayout : public mlir::OpTrait::TraitBase<Op, AnyLayout> {};
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};
template <typename Op> class Convolutional : public mlir::OpTrait::TraitBase<Op, Convolutional> {};
template <typename Op> class Recurrent : public mlir::OpTrait::TraitBase<Op, Recurrent> {};
template <typename Op> class ChannelNorm : public mlir::OpTrait::TraitBase<Op, ChannelNorm> {};
template <typename Op>
class SingleAccumulator : public mlir::OpTrait::TraitBase<Op, SingleAccumulator> {};
template <typename Op> class OwnKernel : public mlir::OpTrait::TraitBase<Op, OwnKernel> {};
template <typename Op> class SameElements : public mlir::OpTrait::TraitBase<Op, SameElements> {};
template <typename Op>
class CheapToRecompute : public mlir::OpTrait::TraitBase<Op, CheapToRecompute> {};
template <typename Op>
class NoConstantFold : public mlir::OpTrait::TraitBase<Op, NoConstantFold> {};
template <typename Op>
class FloatArithmetic : public mlir::OpTrait::TraitBase<Op, FloatArithmetic> {};
template <typename Op>
class IntegralResult : public mlir::OpTrait::TraitBase<Op, IntegralResult> {};
template <typename Op>
class AffineInEachOperand : public mlir::OpTrait::TraitBase<Op, AffineInEachOperand> {};
template <typename Op>
class NonNegativeResult : public mlir::OpTrait::TraitBase<Op, NonNegativeResult> {};
template <typename Op>
class PreservesNonNegative : public mlir::OpTrait::TraitBase<Op, PreservesNonNegative> {};
template <typename Op> class Communicates : public mlir::OpTrait::TraitBase<Op, Communicates> {};
template <typename Op> class RankDependent : public mlir::OpTrait::TraitBase<Op, RankDependent> {};

/// Classes of operations by the floating-point precision that they need. The mixed-precision passes
/// use them.
enum class NumericClass {
  Product, ///< 16-bit operands with f32 accumulators: lower precision makes the operation faster
  Layer,   ///< f32 accumulators or statistics: the operands and results may have 16 bits
  Exact,   ///< returns operand elements unchanged, so 16-bit operands lose no precision
  Smooth,  ///< elements are computed in f32 and rounded once, so that bf16 or f16 results are safe
  Full,    ///< operands, computation and results are f32
};

/// Returns whether this is an elementwise operation that costs as little as an addition.
/// Recomputing such an operation is as cheap as loading its result from memory.
bool isCheapMath(mlir::Operation *op);

/// Returns whether the declared types may replace the inferred types: element types and devices are
/// equal, and each pair of dimensions is equal or has a dynamic member. Layouts may differ.
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange declared);

class IndexMap;
class OnAttr;

/// Returns the device and layout of a tensor type (its encoding), or null if the type has no
/// encoding.
OnAttr getPlace(mlir::Type type);
/// Returns the layout of a tensor type. The layout is empty if elements are stored in row-major
/// order.
llvm::StringRef layoutOf(mlir::Type type);

} // namespace dlc

#include "ir/dlc/Dialect.h.inc"
#include "ir/dlc/Enums.h.inc"
#include "ir/dlc/Interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/dlc/Attrs.h.inc"
#define GET_OP_CLASSES
#include "ir/dlc/Ops.h.inc"

#endif // DLC_IR_DLC_DIALECT_H
