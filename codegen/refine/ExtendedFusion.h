//===- ExtendedFusion.h - matmuls that are extended after kernel selection -===//
#ifndef DLC_CODEGEN_REFINE_EXTENDEDFUSION_H
#define DLC_CODEGEN_REFINE_EXTENDEDFUSION_H

#include "codegen/refine/Refine.h"

namespace dlc {

struct ExtendedFusion {
  std::vector<Candidate> candidates; ///< the best library call first
  double time = 0;                   ///< microseconds of that call
};

/// Returns the library call for `made`, an extension of the fusion `product`, and its time: that of
/// the product plus the estimated difference. Only library calls that were candidates of `product`
/// are considered, not generated code. Measured times are compared only with measured times.
std::optional<ExtendedFusion> estimateExtension(FusionOp made, FusionOp product,
                                                const Refinement &refinement);

} // namespace dlc
#endif
