//===- KernelFrame.cpp - the function around a kernel's loops -------------===//
#include "codegen/cpu/KernelFrame.h"

using namespace mlir;

namespace dlc::cpu {

KernelFrame::KernelFrame(OpBuilder &b, Location loc, StringRef name)
    : b(b), loc(loc), outside(b.saveInsertionPoint()) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  // Outputs alias inputs as Inplace.h allows only: the loads of an element precede the stores to
  // it.
  entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
}

Value KernelFrame::nextBuffer() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0),
                                   ArrayRef<LLVM::GEPArg>{next++});
  auto load = LLVM::LoadOp::create(b, loc, pointer, slot, 8);
  load.setInvariant(true);
  return load;
}

void KernelFrame::finish() {
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  b.restoreInsertionPoint(outside);
}

/// Whether every row of the output begins at a multiple of a register.
static bool rowsAligned(RankedTensorType type, int64_t registerBytes) {
  if (type.getRank() == 0)
    return false;
  int64_t row = type.getShape().back();
  return row == type.getNumElements() ||
         row * ref::elementBytes(type.getElementType()) % registerBytes == 0;
}

void storePastCaches(Emitter &e, ArrayRef<Value> inputs, ArrayRef<TypedBuffer> outputs,
                     function_ref<void()> body) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t registerBytes = e.target.vectorBits / 8;
  SmallVector<Value> past;
  for (const TypedBuffer &output : outputs)
    if (output.type.getNumElements() * ref::elementBytes(output.type.getElementType()) >=
            e.target.pastCacheBytes &&
        rowsAligned(output.type, registerBytes))
      past.push_back(output.pointer);
  if (past.empty())
    return body();
  auto address = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
  };
  Value bits = e.i64(0), apart = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (Value pointer : past) {
    Value at = address(pointer);
    bits = arith::OrIOp::create(b, loc, bits, at);
    for (Value input : inputs)
      apart = arith::AndIOp::create(
          b, loc, apart,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, at, address(input)));
  }
  Value low = arith::AndIOp::create(b, loc, bits, e.i64(registerBytes - 1));
  Value aligned = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, e.i64(0));
  auto branch = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, aligned, apart),
                                  /*withElseRegion=*/true);
  auto version = [&](Block *block, bool on) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(block->getTerminator());
    for (Value pointer : past)
      e.storePast(pointer, on);
    e.pushScope();
    body();
    e.popScope();
    if (on) // other threads may read as soon as the kernel has ended
      LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
  };
  version(branch.thenBlock(), true);
  version(branch.elseBlock(), false);
}

} // namespace dlc::cpu
