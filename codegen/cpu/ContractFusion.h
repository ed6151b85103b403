//===- ContractFusion.h - a fusion around one matrix product, as a blocked kernel ---===//
//
// Reads a fusion's body as views -> dlc.matmul -> elementwise -> view, and emits it with the
// schedule of Contract.h. What comes after the product is pulled through the Emitter, so every
// elementwise operation can stand there, with operands of any shape.
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
  /// The body's arguments that the kernel's operands lie in, and where they start, in elements.
  unsigned argumentA = 0, argumentB = 0;
  int64_t offsetA = 0, offsetB = 0;
  /// Of integers: values of the body, of one element, that are taken from theirs; null: none.
  mlir::Value zeroA, zeroB;
  /// The kernel's rows are the product's columns: its result is stored transposed.
  bool swapped = false;
  /// Dimensions of the product that the kernel's batch runs over, and those that its rows do.
  llvm::SmallVector<int64_t> batchDims, rowDims;
  bool hasEpilogue = false;
};

/// Reads the body; nothing where it has not that form, and `why` says what stands in the way.
/// `packed`: the argument that comes as packA or packB leaves it.
std::optional<ContractFusion> matchContract(FusionOp fusion, const Target &target,
                                            std::optional<unsigned> packed,
                                            std::string *why = nullptr);

/// The argument behind the kernel's operand B, or A where integers are summed, if it is a constant
/// that nothing else in the body reads, so that it can be packed when the program is compiled.
/// `fusion` is the one in the model.
std::optional<unsigned> packableArgument(FusionOp fusion, const ContractFusion &contract);

KernelPlan planContractKernel(FusionOp fusion, const ContractFusion &contract);

/// As emitKernel.
mlir::LogicalResult emitContractKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                                       const Target &target, std::optional<unsigned> packed);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACTFUSION_H
