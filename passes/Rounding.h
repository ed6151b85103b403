//===- Rounding.h - where kernels round values to 16 bits -----------------===//
//
// Kernels compute elements of f16 and bf16 in f32. A value of such a type is rounded to it as soon
// as it is computed, with two exceptions that no reader can observe: the value has the attribute
// `dlc.excess_precision`, which the pass dlc-excess-precision sets, or the store that follows
// rounds it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_ROUNDING_H
#define DLC_PASSES_ROUNDING_H

#include "ir/dlc/Dialect.h"

namespace dlc {

/// Unit attribute of an operation with a result in f16 or bf16: a kernel that does not store the
/// result may pass it on in f32. A kernel that stores the result rounds it for all of its readers.
constexpr llvm::StringLiteral kExcessPrecisionAttr = "dlc.excess_precision";

/// Whether the element type is f16 or bf16.
bool isSixteenBitFloat(mlir::Type type);

/// Whether the operation returns elements of its operands, up to their signs. Rounding commutes
/// with such an operation: it gives the same value before and after.
bool commutesWithRounding(mlir::Operation *op);

/// Whether a kernel passes this value of f16 or bf16 on in f32: its operation has the attribute,
/// and the kernel does not store it.
bool hasExcessPrecision(mlir::Value value);

/// Whether the IR states a rounding of this value to f16 or bf16 that its readers may observe.
bool statesRounding(mlir::Value value);

/// Whether a kernel has to round the value, computed in f32, before it passes it on. False if the
/// operands are rounded and the operation is exact, or if only stores read the value.
bool needsRounding(mlir::Value value);

} // namespace dlc

#endif // DLC_PASSES_ROUNDING_H
