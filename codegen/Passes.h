//===- Passes.h - the later phases as passes, for dlc-opt -----------------===//
#ifndef DLC_CODEGEN_PASSES_H
#define DLC_CODEGEN_PASSES_H

namespace mlir {
class DialectRegistry;
}

namespace dlc {

/// `dlc-select`, `dlc-lower`, `dlc-plan-memory`, `dlc-verify-memory`, `dlc-emit-kernels`
/// (exec.kernel to vectors and loops) and `dlc-lower-kernels` (those to the llvm dialect).
void registerCodegenPasses();

} // namespace dlc
#endif
