//===- Limits.h - upper limits of the machine: a read-only loop and a loop of byte dot products
//===//
#ifndef DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H
#define DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H

#include <cstdint>

namespace limits {

/// Reads `bytes` bytes, a multiple of 64, once; each thread reads a contiguous part.
void readAll(const void *data, int64_t bytes, int threads);

/// Returns whether the processor that this file is compiled for has VPDPBUSD on 512 bits.
bool hasByteProducts();
/// Executes VPDPBUSD on registers. Returns the number of operations: two for each multiply-add.
double multiplyBytes(int threads);

} // namespace limits

#endif // DLC_TOOLS_BENCH_QUANTIZED_LIMITS_H
