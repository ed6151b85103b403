//===- Enlarged.h - products that do more than they were chosen for -------===//
#ifndef DLC_CODEGEN_REFINE_ENLARGED_H
#define DLC_CODEGEN_REFINE_ENLARGED_H

#include "codegen/refine/Refine.h"

namespace dlc {

struct Enlarged {
  std::vector<Candidate> candidates; ///< that of our own first which does it
  double time = 0;                   ///< microseconds
};

/// Which library's product does `made`, a product with more than `product` was nominated for
/// (generated code might, too, but has no say here), and how long that takes: what it took as a
/// product, and what the estimate says of the rest. Times measured are compared with such only.
std::optional<Enlarged> enlarge(FusionOp made, FusionOp product, const Refinement &refinement);

} // namespace dlc
#endif
