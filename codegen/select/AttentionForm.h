//===- AttentionForm.h - attention whole, or as products and a softmax -----===//
#ifndef DLC_CODEGEN_SELECT_ATTENTIONFORM_H
#define DLC_CODEGEN_SELECT_ATTENTIONFORM_H

#include "codegen/Pipeline.h"
#include "codegen/cpu/Target.h"

namespace dlc {

/// Marks the attention on processors that is to stay whole: where that is faster by measurement or
/// estimate, where scores would take much of the memory that there may be, where `--kernels` asks
/// for it, and where a gradient was made for it. With `gradients` what counts is both directions.
void markWholeAttention(mlir::ModuleOp module, const CompileOptions &options,
                        const cpu::Target &target, bool gradients);

} // namespace dlc
#endif
