//===- KernelCosts.h - kernel costs for passes that choose by cost --------===//
#ifndef DLC_CODEGEN_SELECT_KERNELCOSTS_H
#define DLC_CODEGEN_SELECT_KERNELCOSTS_H

#include "codegen/options/Options.h"
#include "passes/Costs.h"

namespace dlc {

/// Returns the cost model for passes: the cost of an operation is the estimated time of its best
/// candidate. The cost of a function includes measured times of its operations, if there are any.
std::unique_ptr<Costs> createKernelCosts(const CompileOptions &options);

} // namespace dlc
#endif
