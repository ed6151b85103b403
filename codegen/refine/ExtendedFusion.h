//===- ExtendedFusion.h - matmuls that are extended after kernel selection -===//
#ifndef DLC_CODEGEN_REFINE_EXTENDEDFUSION_H
#define DLC_CODEGEN_REFINE_EXTENDEDFUSION_H

#include "codegen/refine/Refine.h"

namespace dlc {

struct ExtendedFusion {
  std::vector<Candidate> candidates; ///< library calls for the extended fusion, best one first
  double time = 0;                   ///< time of the best call in microseconds
};

/// Returns the library calls for `made`, an extension of the matmul fusion `product`, and the time
/// of the best call: the time of `product` plus the estimated difference. Only library calls that
/// were candidates of `product` are considered, not generated code. Measured times are compared
/// only with measured times.
std::optional<ExtendedFusion> estimateExtension(FusionOp made, FusionOp product,
                                                const Refinement &refinement);

} // namespace dlc
#endif
