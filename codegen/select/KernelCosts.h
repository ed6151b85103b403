//===- KernelCosts.h - kernel costs for passes that choose by cost --------===//
#ifndef DLC_CODEGEN_SELECT_KERNELCOSTS_H
#define DLC_CODEGEN_SELECT_KERNELCOSTS_H

#include "codegen/options/Options.h"
#include "passes/Costs.h"

namespace dlc {

/// Costs by the estimate of the best candidate, or by its time if it was measured.
std::unique_ptr<Costs> kernelCosts(const CompileOptions &options);

} // namespace dlc
#endif
