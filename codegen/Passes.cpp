//===- Passes.cpp - the later phases as passes, for dlc-opt ---------------===//
#include "codegen/Passes.h"

#include "codegen/cpu/Native.h"
#include "codegen/cpu/Schedule.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Lower.h"
#include "codegen/memory/Memory.h"
#include "codegen/select/Select.h"
#include "ir/exec/Exec.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace dlc {

namespace {

/// A phase as a pass: its name, what it is for, and a function of the module.
template <typename Derived> struct PhasePass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<exec::ExecDialect, arith::ArithDialect, math::MathDialect, vector::VectorDialect,
                scf::SCFDialect, cf::ControlFlowDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    if (failed(static_cast<Derived *>(this)->run(this->getOperation())))
      this->signalPassFailure();
  }
  PhasePass() = default;
  PhasePass(const PhasePass &other) : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}
  /// Tests ask for vectors of a fixed width, so that what they expect is the same on every machine.
  Pass::Option<int64_t> vectorBits{
      *this, "vector-bits", llvm::cl::desc("register width; 0: this machine's"), llvm::cl::init(0)};
  cpu::Target target() {
    cpu::Target t = cpu::hostTarget();
    if (vectorBits)
      t.vectorBits = vectorBits;
    return t;
  }
};

struct SelectPass : PhasePass<SelectPass> {
  StringRef getArgument() const final { return "dlc-select"; }
  StringRef getDescription() const final { return "Choose a kernel for every fusion and command"; }
  LogicalResult run(ModuleOp module) {
    return selectKernels(module, {.threads = 1, .kernels = kernels}, target());
  }
  SelectPass() = default;
  SelectPass(const SelectPass &other) : PhasePass(other) {}
  Pass::Option<std::string> kernels{
      *this, "kernels", llvm::cl::desc("whose kernels to take wherever they can do the work")};
};

struct LowerPass : PhasePass<LowerPass> {
  StringRef getArgument() const final { return "dlc-lower"; }
  StringRef getDescription() const final { return "Turn @main into a command list"; }
  LogicalResult run(ModuleOp module) {
    return lowerToExec(module, {.threads = 1, .gpuArch = gpuArch}, target());
  }
  LowerPass() = default;
  LowerPass(const LowerPass &other) : PhasePass(other) {}
  Pass::Option<std::string> gpuArch{*this, "gpu-arch",
                                    llvm::cl::desc("the GPUs that kernels are for, as in sm_90a"),
                                    llvm::cl::init("sm_90")};
};

struct PlanMemoryPass : PhasePass<PlanMemoryPass> {
  StringRef getArgument() const final { return "dlc-plan-memory"; }
  StringRef getDescription() const final { return "Give every arena buffer its offset"; }
  LogicalResult run(ModuleOp module) { return planMemory(module); }
};

struct VerifyMemoryPass : PhasePass<VerifyMemoryPass> {
  StringRef getArgument() const final { return "dlc-verify-memory"; }
  StringRef getDescription() const final {
    return "Check that every byte read is the reader's own";
  }
  LogicalResult run(ModuleOp module) { return verifyMemory(module); }
};

struct EmitKernelsPass : PhasePass<EmitKernelsPass> {
  StringRef getArgument() const final { return "dlc-emit-kernels"; }
  StringRef getDescription() const final { return "Emit exec.kernel as loops and vectors"; }
  LogicalResult run(ModuleOp module) {
    OpBuilder b(module.getContext());
    b.setInsertionPointToEnd(module.getBody());
    for (auto kernel : llvm::make_early_inc_range(module.getOps<exec::KernelOp>())) {
      if (!isGpuKernel(kernel) && failed(emitScheduled(b, kernel, kernel.getSymName(), target())))
        return failure();
      kernel.erase();
    }
    for (auto program : llvm::make_early_inc_range(module.getOps<exec::ProgramOp>()))
      program.erase();
    return success();
  }
};

struct LowerKernelsPass : PhasePass<LowerKernelsPass> {
  StringRef getArgument() const final { return "dlc-lower-kernels"; }
  StringRef getDescription() const final { return "Lower emitted kernels to the llvm dialect"; }
  LogicalResult run(ModuleOp module) { return cpu::lowerToLlvm(module); }
};

} // namespace

void registerCodegenPasses() {
  PassRegistration<SelectPass>();
  PassRegistration<LowerPass>();
  PassRegistration<PlanMemoryPass>();
  PassRegistration<VerifyMemoryPass>();
  PassRegistration<EmitKernelsPass>();
  PassRegistration<LowerKernelsPass>();
}

} // namespace dlc
