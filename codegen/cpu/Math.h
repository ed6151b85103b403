//===- Math.h - transcendental functions in generated code --------------------===//
//
// The largest errors in f32, over all floats, stand in test/codegen/math.cpp, which holds the
// functions to them: half an ulp for what is computed in f64 lanes, up to 6 for gelu_erf.
//
// Zeros keep their sign, subnormals are honoured (but exp, sigmoid and GELU are 0 where they would
// be below 2^-126), NaN in is NaN out, gelu(-inf) is -0. sin, cos and tan beyond 2^40 and fmod with
// a quotient beyond 2^28 leave the vector path for the context's table. In f64 exp and log are
// within an ulp, tanh and sigmoid within 2.5; of other functions each lane goes through the table;
// gelu_erf and gelu_tanh are there within 4 ulp of max(|x| * 2^-53, result).
//
//===------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_MATH_H
#define DLC_CODEGEN_CPU_MATH_H

#include "mlir/IR/Builders.h"

namespace dlc::cpu {

/// Emits `function` on f32 or f64 operands, scalars or 1-d vectors of any length; f16 and bf16 go
/// through f32. `context` is the table that kernels get (runtime/device/cpu/KernelContext.h), an
/// !llvm.ptr; `avx512` says that the processor has AVX-512. The functions are those of the dialect
/// (Dlc_Function in ir/dlc/Elementwise.td), and gelu_erf, gelu_tanh, reciprocal, trunc, abs, and of
/// two operands pow and fmod.
///
/// The emitted code refers to no symbol. Returns null for an unknown function.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef function,
                     mlir::ValueRange args, mlir::Value context, bool avx512 = false);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_MATH_H
