//===- Limits.h - loops at the limits of memory and of dot products -------===//
#ifndef DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H
#define DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H

#include <cstdint>

namespace limits {

/// Reads `bytes` bytes, a multiple of 256, once. Each thread reads a contiguous part.
void readAll(const void *data, int64_t bytes, int threads);

/// Returns whether Limits.cpp is compiled for a processor with 512-bit VPDPBUSD (AVX-512 VNNI).
bool hasByteProducts();
/// Executes VPDPBUSD on registers in each thread. Returns the total number of operations, which is
/// two for each multiply-add.
double multiplyBytes(int threads);

} // namespace limits

#endif // DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H
