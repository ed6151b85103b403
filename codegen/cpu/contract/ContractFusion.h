//===- ContractFusion.h - fusions with one matmul, emitted as a blocked kernel ---===//
//
// Matches a fusion's body as views -> dlc.matmul -> elementwise -> view, and emits it with the
// schedule of Contract.h. The Emitter evaluates the operations after the matmul as the epilogue.
// Therefore the epilogue may have any elementwise operations, with operands of any shape.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_CONTRACT_CONTRACTFUSION_H
#define DLC_CODEGEN_CPU_CONTRACT_CONTRACTFUSION_H

#include "codegen/cpu/contract/Contract.h"
#include "codegen/cpu/kernel/Kernel.h"

namespace dlc::cpu {

struct ContractFusion {
  MatmulOp matmul;
  ContractSpec spec;
  ContractPlan plan;
  /// Indices of the fusion's arguments that hold the kernel's operands A and B, and the offset of
  /// each operand in its argument, in elements.
  unsigned argumentA = 0, argumentB = 0;
  int64_t offsetA = 0, offsetB = 0;
  /// Zero points of integer operands: single-element values in the fusion's body that are
  /// subtracted from the elements of A and B. Null: no zero point.
  mlir::Value zeroA, zeroB;
  /// Whether the kernel computes the transposed matmul: its rows are the columns of the dlc.matmul.
  bool swapped = false;
  /// Dimensions of the dlc.matmul that form the kernel's batch, and those that form its rows.
  llvm::SmallVector<int64_t> batchDims, rowDims;
  bool hasEpilogue = false;
};

/// Matches a fusion's body as one matmul with views and an epilogue. Returns nothing if the body
/// does not match, and sets `why` to the reason. `packed` is the index of the argument that is
/// packed by packA or packB, if any.
std::optional<ContractFusion> matchContract(FusionOp fusion, const Target &target,
                                            std::optional<unsigned> packed,
                                            std::string *why = nullptr);

/// Returns the argument that can be packed at compile time: the one that holds the kernel's operand
/// B (or A, for integers). Returns nothing unless the argument is a constant that only the matmul
/// reads. `fusion` is the fusion in the model.
std::optional<unsigned> findPackableArgument(FusionOp fusion, const ContractFusion &contract);

KernelPlan planContractKernel(FusionOp fusion, const ContractFusion &contract);

/// Emits the matmul kernel as a function with the signature that emitKernel describes.
mlir::LogicalResult emitContractKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                       const Target &target, std::optional<unsigned> packed);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACT_CONTRACTFUSION_H
