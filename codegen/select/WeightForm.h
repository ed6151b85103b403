//===- WeightForm.h - chooses between quantized and f32 weights of a matmul ----===//
//
// A kernel that reads quantized weights saves weight bandwidth, but dequantizes each weight once
// for each group of rows. With many rows, kernels that read f32 weights are faster. Their weights
// are dequantized by the compiler and take more memory. Estimates choose the form, or measurements
// where a tuning database has them.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_WEIGHTFORM_H
#define DLC_CODEGEN_SELECT_WEIGHTFORM_H

#include "codegen/select/Candidates.h"

namespace dlc {

/// Limit in bytes of all f32 copies of quantized weights in a program.
constexpr int64_t kMaxDequantizedBytes = int64_t(256) << 20;

/// A fusion whose matmul reads quantized weights, and the same with f32 weights beside it.
struct WeightForms {
  FusionOp quantized, dequantized;
  int64_t bytes = 0; ///< size of the f32 weights
  /// Estimated times in microseconds with weights from memory; infinite without a kernel.
  double quantizedTime = 0, dequantizedTime = 0;
};

/// Creates the form with f32 weights, whose results have no uses. `quantized` are the candidates of
/// the fusion, which may be empty. Returns nothing if the fusion reads no quantized weights, if no
/// kernel supports the form, or if there is a kernel for quantized weights and the f32 weights
/// exceed `bytesLeft` or are read from memory in more than `factor` times its time.
std::optional<WeightForms> createWeightForms(FusionOp fusion, llvm::ArrayRef<Candidate> quantized,
                                             const CompileOptions &options,
                                             const cpu::Target &target, int64_t bytesLeft,
                                             double factor);

/// Erases one form, and replaces its results by those of the other. Returns the remaining form.
FusionOp keepForm(WeightForms &forms, bool isDequantized);

} // namespace dlc
#endif
