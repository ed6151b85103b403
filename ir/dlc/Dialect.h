//===- Dialect.h - the dlc dialect ----------------------------------------===//
#ifndef DLC_IR_DLC_DIALECT_H
#define DLC_IR_DLC_DIALECT_H

#include "ir/reference/Tensor.h"
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

template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};

/// Whether declared types may stand for inferred ones: element types and encodings equal, and every
/// dimension equal or dynamic on one side.
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange declared);

} // namespace dlc

#include "ir/dlc/Dialect.h.inc"
#include "ir/dlc/Enums.h.inc"
#include "ir/dlc/Interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/dlc/Attrs.h.inc"
#define GET_OP_CLASSES
#include "ir/dlc/Ops.h.inc"

#endif // DLC_IR_DLC_DIALECT_H
