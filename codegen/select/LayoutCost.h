//===- LayoutCost.h - what operations cost in each layout -----------------===//
#ifndef DLC_CODEGEN_SELECT_LAYOUTCOST_H
#define DLC_CODEGEN_SELECT_LAYOUTCOST_H

#include "codegen/Pipeline.h"
#include "codegen/cpu/Target.h"
#include "passes/layout/Choose.h"

namespace dlc {

/// The best candidate's estimate, for `passes/layout` to choose by. Lives no longer than options
/// and target.
LayoutCosts layoutCosts(const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
