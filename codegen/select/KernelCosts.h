//===- KernelCosts.h - what kernels cost, for passes that choose by it ----===//
#ifndef DLC_CODEGEN_SELECT_KERNELCOSTS_H
#define DLC_CODEGEN_SELECT_KERNELCOSTS_H

#include "codegen/options/Options.h"
#include "passes/Costs.h"

namespace dlc {

/// The best candidate's estimate, or its time where that was measured.
std::unique_ptr<Costs> kernelCosts(const CompileOptions &options);

} // namespace dlc
#endif
