//===- Math.h - transcendental functions in generated code --------------------===//
//
// Largest errors in f32, in units of the last place, over all floats (test/codegen/math.cpp holds
// them to it):
//
//   exp 1       expm1 1.5   log 1        log1p 1.5   tanh 1.5    erf 1.2     sin, cos 1.5
//   sigmoid 2.5 gelu_erf 6   gelu_tanh 3.2  sqrt 0.5  rsqrt 1.5   reciprocal 0.5
//   pow, fmod, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh: 0.51 (computed in f64 lanes)
//
// Zeros keep their sign, subnormals are honoured (but exp is 0 where it would be below 2^-126), NaN
// in is NaN out, gelu(-inf) is -0. sin, cos and tan beyond 2^40 and fmod with a quotient beyond
// 2^28 leave the vector path for the context's table. In f64 each lane goes through the table;
// gelu_erf and gelu_tanh are there within 4 ulp of max(|x| * 2^-53, result).
//===------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_MATH_H
#define DLC_CODEGEN_CPU_MATH_H

#include "mlir/IR/Builders.h"

namespace dlc::cpu {

/// Emits `function` on f32 or f64 operands, scalars or 1-d vectors of any length; f16 and bf16 go
/// through f32. `context` is the table that kernels get (runtime/device/cpu/KernelContext.h), an
/// !llvm.ptr; `avx512` says that the processor has AVX-512. The functions:
///
///   exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid
///   gelu_erf gelu_tanh sqrt rsqrt reciprocal floor ceil round trunc abs; of two operands: pow fmod
///
/// The emitted code refers to no symbol. Returns null for an unknown function.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef function,
                     mlir::ValueRange args, mlir::Value context, bool avx512 = false);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_MATH_H
