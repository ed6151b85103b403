//===- Arch.h - vector functions of the architecture that a file is compiled for ---===//
//
// Each architecture has a header with the same types and functions:
//
//   kLanes                            f32 lanes in the vectors of kernels
//   Mask, makeLaneMask                the first lanes of a vector
//   splat, gather, loadMasked,        f32 vectors: broadcast, strided and masked access
//   storeMasked, storeNonTemporal,
//   fenceNonTemporal
//   keepInRegister                    compiler barrier between multiply-adds
//   roundToEven, squareRoot,          arithmetic that the operators of vectors lack
//   multiplyAdd, fastDivide, maximum,
//   scaleByPowerOfTwo, lookUp
//   widen, widenFirst                 bf16 to f32
//   widenHalf                         f16 to f32
//   splatInt, loadInts, toFloats,     vectors of 32-bit integers, and their bytes
//   toInts, bytesToInts, storeBytes
//   kSumsFourBytes, addByteProducts,  dot products of bytes
//   sumPairs
//   sumPairs, dotBytes
//   lookUpBytes                       tables of 16 bytes
//   takeLarger, NanMaximum,           pooling: maxima and their positions
//   addWhereEqual
//
//===-------------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_H
#define DLC_RUNTIME_SIMD_ARCH_H

#if defined(__AVX512F__)
#include "runtime/simd/arch/avx512/Lanes.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "runtime/simd/arch/avx2/Lanes.h"
#else
#include "runtime/simd/arch/scalar/Lanes.h"
#endif

#endif // DLC_RUNTIME_SIMD_ARCH_H
