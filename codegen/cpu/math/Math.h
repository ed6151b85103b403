//===- Math.h - transcendental functions in generated code --------------------===//
//
// Accuracy of the emitted math functions. test/codegen/math.cpp lists the largest error of each
// function in f32 over all floats and checks it: half an ulp for functions that are computed in
// f64, up to 6 ulp for gelu_erf.
//
// Zeros keep their sign. Subnormals are supported, except that exp, sigmoid and GELU return 0 if
// the result would be below 2^-126. A NaN operand gives NaN. gelu(-inf) is -0. Large arguments of
// sin, cos and tan (beyond 2^40) and large quotients of fmod (beyond 2^28) are computed by calls of
// the kernel's function table instead of vector code.
//
// In f64, exp and log are within an ulp, tanh and sigmoid within 2.5 ulp. gelu_erf and gelu_tanh
// are within 4 ulp of max(|x| * 2^-53, result). Other f64 functions call the function table for
// each lane.
//
//===------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_MATH_MATH_H
#define DLC_CODEGEN_CPU_MATH_MATH_H

#include "mlir/IR/Builders.h"

namespace dlc::cpu {

/// Emits the math function with the name `function` on f32 or f64 operands: scalars, or 1-d vectors
/// of any length. f16 and bf16 operands are computed in f32. `context` is an !llvm.ptr to the
/// function table that is passed to kernels (runtime/device/cpu/KernelContext.h). `avx512`: whether
/// the processor has AVX-512. The functions are those of the dialect (Dlc_Function in
/// ir/dlc/td/Elementwise.td), gelu_erf, gelu_tanh, reciprocal, trunc, abs, and, with two operands,
/// pow and fmod.
///
/// The emitted code references no external symbol. Returns null for an unknown function.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef function,
                     mlir::ValueRange args, mlir::Value context, bool avx512 = false);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_MATH_MATH_H
