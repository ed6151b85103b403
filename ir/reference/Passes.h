//===- Passes.h - the reference evaluator as a pass -----------------------===//
#ifndef DLC_IR_REFERENCE_PASSES_H
#define DLC_IR_REFERENCE_PASSES_H

#include <memory>

namespace mlir {
class Pass;
}

namespace dlc::ref {

/// `dlc-evaluate`: replaces the body of each function without arguments by constants of its
/// results.
std::unique_ptr<mlir::Pass> createEvaluatePass();

void registerReferencePasses();

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_PASSES_H
