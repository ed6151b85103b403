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

// What traits and fields mean is said where operations are given them: Base.td.
template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};
template <typename Op> class ViewLike : public mlir::OpTrait::TraitBase<Op, ViewLike> {};
template <typename Op> class Movement : public mlir::OpTrait::TraitBase<Op, Movement> {};
template <typename Op> class ElementMove : public mlir::OpTrait::TraitBase<Op, ElementMove> {};
template <typename Op> class ElementLoop : public mlir::OpTrait::TraitBase<Op, ElementLoop> {};
template <typename Op> class Contraction : public mlir::OpTrait::TraitBase<Op, Contraction> {};
template <typename Op> class Pooling : public mlir::OpTrait::TraitBase<Op, Pooling> {};
template <typename Op> class StandsAlone : public mlir::OpTrait::TraitBase<Op, StandsAlone> {};
template <typename Op> class AnyLayout : public mlir::OpTrait::TraitBase<Op, AnyLayout> {};
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};

/// What an operation needs of its numbers.
enum class NumericClass {
  Product, ///< 16-bit operands, sums in f32: where narrow numbers save time
  Layer,   ///< sums or statistics in f32 inside, but its data may be narrow
  Exact,   ///< gives elements as it finds them: narrow ones stay what they are
  Smooth,  ///< rounds once per element: computed in f32, its result may be kept narrow
  Full,    ///< f32 throughout
};

/// An elementwise operation that costs no more than an addition: computing it again is as cheap as
/// reading what it gave.
bool isCheapMath(mlir::Operation *op);

/// Whether declared types may stand for inferred ones: element types and encodings equal, and every
/// dimension equal or dynamic on one side.
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange declared);

/// Of an argument or result of a function that holds packed integers as bytes: its packed type.
constexpr llvm::StringLiteral kPackedAttr = "dlc.packed";

class IndexMap;
class OnAttr;

/// The place of a tensor type, with its layout; null when unplaced.
OnAttr getPlace(mlir::Type type);
/// The layout of a tensor type; empty where elements stand in the order of their indices.
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
