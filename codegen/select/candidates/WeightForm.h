//===- WeightForm.h - chooses between quantized and f32 weights of a matmul ----===//
//
// A kernel that reads quantized weights saves memory bandwidth, but dequantizes each weight once
// for each group of rows. With many rows, kernels that read f32 weights are faster. Their weights
// are dequantized at compile time and take more memory. The choice between the two forms is based
// on measurements if a tuning database has them, otherwise on estimates.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_CANDIDATES_WEIGHTFORM_H
#define DLC_CODEGEN_SELECT_CANDIDATES_WEIGHTFORM_H

#include "codegen/select/candidates/Candidates.h"

namespace dlc {

/// Maximum total size in bytes of the f32 copies of quantized weights in a program.
constexpr int64_t kMaxDequantizedBytes = int64_t(256) << 20;

/// Two alternatives: a fusion whose matmul reads quantized weights, and an equivalent fusion with
/// f32 weights.
struct WeightAlternatives {
  FusionOp quantized, dequantized;
  int64_t bytes = 0; ///< size of the f32 weights in bytes
  /// Estimated times in microseconds if the weights are read from memory; infinite if there is no
  /// kernel.
  double quantizedTime = 0, dequantizedTime = 0;
};

/// Creates the alternative with f32 weights; its results have no uses yet. `quantized` are the
/// candidates of the fusion, which may be empty. Returns nothing if the fusion reads no quantized
/// weights, or if no kernel supports f32 weights. If there is a kernel for quantized weights, also
/// returns nothing if the f32 weights exceed `bytesLeft`, or if reading them from memory takes at
/// least `factor` times the kernel's time.
std::optional<WeightAlternatives> createWeightForms(FusionOp fusion,
                                                    llvm::ArrayRef<Candidate> quantized,
                                                    const CompileOptions &options,
                                                    const cpu::Target &target, int64_t bytesLeft,
                                                    double factor);

/// Erases one of the two fusions and replaces its results by those of the other. Returns the
/// remaining fusion.
FusionOp keepAlternative(WeightAlternatives &forms, bool isDequantized);

} // namespace dlc
#endif
