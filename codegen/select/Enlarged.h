//===- Enlarged.h - products that do more than they were chosen for ---------------===//
#ifndef DLC_CODEGEN_SELECT_ENLARGED_H
#define DLC_CODEGEN_SELECT_ENLARGED_H

#include "codegen/cpu/Target.h"
#include "codegen/select/Candidates.h"

namespace dlc {

bool isProduct(FusionOp fusion);

/// Who can do it, those in front that were asked for by name.
std::vector<Candidate> preferred(FusionOp fusion, const CompileOptions &options,
                                 const cpu::Target &target);

struct Enlarged {
  std::vector<Candidate> candidates; ///< that of our own first which does it
  double time = 0;                   ///< microseconds
};

/// Which of our own products does `made`, a product with more than `before` was nominated for
/// (generated code might, too, but has no say here), and how long that takes: what it took as a
/// product, and what the estimate says of the rest. Times measured are compared with such only.
std::optional<Enlarged> enlarge(FusionOp made, llvm::ArrayRef<Candidate> before,
                                const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
