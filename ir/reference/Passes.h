//===- Passes.h - the reference evaluator as a pass -----------------------===//
#ifndef DLC_IR_REFERENCE_PASSES_H
#define DLC_IR_REFERENCE_PASSES_H

#include <memory>

namespace mlir {
class Pass;
}

namespace dlc::ref {

/// Creates the pass `dlc-evaluate`, which evaluates each function without arguments and replaces
/// its body by constants of its results.
std::unique_ptr<mlir::Pass> createEvaluatePass();

void registerReferencePasses();

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_PASSES_H
