//===- AttentionForm.h - attention whole, or as products and a softmax -----===//
#ifndef DLC_CODEGEN_SELECT_ATTENTIONFORM_H
#define DLC_CODEGEN_SELECT_ATTENTIONFORM_H

#include "codegen/cpu/Target.h"
#include "codegen/options/Options.h"
#include "ir/dlc/Dialect.h"

namespace dlc {

/// Whether a processor's attention is faster whole, by measurement or estimate. With `gradients`
/// what counts is both directions.
bool isWholeFaster(AttentionOp op, const CompileOptions &options, const cpu::Target &target,
                   bool gradients);

} // namespace dlc
#endif
