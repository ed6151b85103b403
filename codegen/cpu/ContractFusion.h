//===- ContractFusion.h - fusions with one matmul, emitted as a blocked kernel ---===//
//
// Matches a fusion's body as views -> dlc.matmul -> elementwise -> view, and emits it with the
// schedule of Contract.h. The Emitter evaluates the operations after the matmul as the epilogue.
// Therefore all elementwise operations are supported there, with operands of any shape.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_CONTRACTFUSION_H
#define DLC_CODEGEN_CPU_CONTRACTFUSION_H

#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Kernel.h"

namespace dlc::cpu {

struct ContractFusion {
  MatmulOp matmul;
  ContractSpec spec;
  ContractPlan plan;
  /// Arguments of the body that hold the kernel's operands, and the operands' offsets in them, in
  /// elements.
  unsigned argumentA = 0, argumentB = 0;
  int64_t offsetA = 0, offsetB = 0;
  /// Integer zero points: single-element values of the body that are subtracted from the operands;
  /// null: none.
  mlir::Value zeroA, zeroB;
  /// Whether the kernel's rows are the matmul's columns, so that its result is stored transposed.
  bool swapped = false;
  /// Dimensions of the matmul that form the kernel's batch, and those that form its rows.
  llvm::SmallVector<int64_t> batchDims, rowDims;
  bool hasEpilogue = false;
};

/// Matches the body. Returns nothing if it does not match, with the reason in `why`. `packed`: the
/// argument that has the layout written by packA or packB.
std::optional<ContractFusion> matchContract(FusionOp fusion, const Target &target,
                                            std::optional<unsigned> packed,
                                            std::string *why = nullptr);

/// Returns the argument that holds the kernel's operand B (or A, for integers) if it is a constant
/// that only the matmul reads, so that it can be packed at compile time. `fusion` is the fusion in
/// the model.
std::optional<unsigned> packableArgument(FusionOp fusion, const ContractFusion &contract);

KernelPlan planContractKernel(FusionOp fusion, const ContractFusion &contract);

/// Emits the kernel, with the same signature as emitKernel.
mlir::LogicalResult emitContractKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                       const Target &target, std::optional<unsigned> packed);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACTFUSION_H
