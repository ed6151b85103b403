//===- Context.cpp - dialects used by the phases --------------------------===//
#include "codegen/options/Context.h"

#include "ir/dlc/Dialect.h"
#include "ir/exec/Exec.h"
#include "ir/size/SizeDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace dlc {

void registerDialects(DialectRegistry &registry) {
  registry.insert<DlcDialect, exec::ExecDialect, size::SizeDialect, func::FuncDialect,
                  arith::ArithDialect, math::MathDialect, vector::VectorDialect, scf::SCFDialect,
                  cf::ControlFlowDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void prepareContext(MLIRContext &context) {
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

} // namespace dlc
