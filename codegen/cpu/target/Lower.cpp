//===- Lower.cpp - lowers emitted kernels to the llvm dialect -------------===//
#include "codegen/cpu/target/Native.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc::cpu {

struct LlvmLowering::Parts {
  explicit Parts(MLIRContext *context) : converter(context, optionsFor(context)), target(*context) {
    RewritePatternSet set(context);
    populateSCFToControlFlowConversionPatterns(set);
    arith::populateExpandBFloat16Patterns(set);
    arith::populateCeilFloorDivExpandOpsPatterns(set);
    arith::populateArithToLLVMConversionPatterns(converter, set);
    cf::populateControlFlowToLLVMConversionPatterns(converter, set);
    populateMathToLLVMConversionPatterns(converter, set);
    populateVectorToLLVMConversionPatterns(converter, set, /*reassociateFPReductions=*/true);
    vector::populateVectorBroadcastLoweringPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    target.addLegalOp<ModuleOp>();
  }

  static LowerToLLVMOptions optionsFor(MLIRContext *context) {
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    return options;
  }

  LLVMTypeConverter converter;
  LLVMConversionTarget target;
  FrozenRewritePatternSet patterns;
};

LlvmLowering::LlvmLowering(MLIRContext *context) : parts(std::make_unique<Parts>(context)) {}
LlvmLowering::~LlvmLowering() = default;

/// Deduplicates constants and moves them to the function's entry. Emitters create a constant at
/// each use, so that half of all operations are constants. Their position has no effect on the LLVM
/// IR.
static void deduplicateConstants(LLVM::LLVMFuncOp function) {
  if (function.isExternal())
    return;
  Block &entry = function.front();
  llvm::DenseMap<Attribute, Value> known;
  function.walk([&](arith::ConstantOp constant) {
    auto [first, isNew] = known.try_emplace(constant.getValue(), constant);
    if (isNew) {
      constant->moveBefore(&entry, entry.begin());
    } else {
      constant.getResult().replaceAllUsesWith(first->second);
      constant->erase();
    }
  });
}

LogicalResult LlvmLowering::run(ModuleOp module) const {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    deduplicateConstants(function);
  // If the conversion fails, the module is discarded. Therefore patterns need no rollback.
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyFullConversion(module, parts->target, parts->patterns, config);
}

} // namespace dlc::cpu
