//===- WeightForm.h - chooses between quantized and f32 weights of a matmul ----===//
//
// A kernel that reads quantized weights saves weight bandwidth, but dequantizes each weight once
// for each group of rows. With many rows, kernels that read f32 weights are faster. Their weights
// are dequantized by the compiler and take more memory.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_WEIGHTFORM_H
#define DLC_CODEGEN_SELECT_WEIGHTFORM_H

#include "codegen/select/Candidates.h"

namespace dlc {

/// Limit in bytes of all f32 copies of quantized weights in a program.
constexpr int64_t kMostDequantizedBytes = int64_t(256) << 20;

/// Replaces a fusion whose matmul reads quantized weights by one that reads f32 weights, if a
/// kernel for that is estimated to be faster than the best of `quantized`, which may be empty.
/// Subtracts the size of the f32 weights from `bytesLeft`, and replaces nothing if they exceed it.
/// Returns null if nothing was replaced.
FusionOp dequantizeWeights(FusionOp fusion, llvm::ArrayRef<Candidate> quantized,
                           const CompileOptions &options, const cpu::Target &target,
                           int64_t &bytesLeft);

} // namespace dlc
#endif
