//===- KernelFrame.cpp - the function around a kernel's loops -------------===//
#include "codegen/cpu/kernel/KernelFrame.h"

using namespace mlir;

namespace dlc::cpu {

KernelFrame::KernelFrame(OpBuilder &b, Location loc, StringRef name)
    : b(b), loc(loc), outside(b.saveInsertionPoint()) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  // Pointers are not marked `noalias`: an output may share an input's buffer as far as Inplace.h
  // allows, where the loads of an element precede the stores to it.
  entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
}

Value KernelFrame::load(ArrayRef<LLVM::GEPArg> slot) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value at = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0), slot);
  auto load = LLVM::LoadOp::create(b, loc, pointer, at, 8);
  load.setInvariant(true);
  return load;
}

Value KernelFrame::nextBuffer() { return load({next++}); }

Value KernelFrame::buffer(Value number) { return load({number}); }

void KernelFrame::finish() {
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  b.restoreInsertionPoint(outside);
}

/// Returns whether each row of the output, and each separately written part of a row, starts at a
/// multiple of the vector register size.
static bool areRowsAligned(const TypedBuffer &output, int64_t registerBytes) {
  if (output.type.getRank() == 0)
    return false;
  auto isAligned = [&](int64_t elements) {
    return elements * ref::elementBytes(output.type.getElementType()) % registerBytes == 0;
  };
  int64_t row = output.type.getShape().back();
  return (row == output.type.getNumElements() || isAligned(row)) && isAligned(output.starts);
}

/// Returns the outputs that are stored by non-temporal stores: if all outputs together exceed the
/// caches, those of at least a quarter of the threshold.
static SmallVector<Value> findNonTemporalOutputs(const Target &target,
                                                 ArrayRef<TypedBuffer> outputs) {
  auto bytesOf = [](const TypedBuffer &output) {
    return output.type.getNumElements() * ref::elementBytes(output.type.getElementType());
  };
  int64_t all = 0;
  for (const TypedBuffer &output : outputs)
    all += bytesOf(output);
  SmallVector<Value> large;
  for (const TypedBuffer &output : outputs)
    if (all >= target.pastCacheBytes && bytesOf(output) >= target.pastCacheBytes / 4 &&
        areRowsAligned(output, target.vectorBits / 8))
      large.push_back(output.pointer);
  return large;
}

void emitNonTemporalStores(Emitter &e, ArrayRef<Value> inputs, ArrayRef<TypedBuffer> outputs,
                           function_ref<void()> body) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  SmallVector<Value> past = findNonTemporalOutputs(e.target, outputs);
  auto address = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
  };
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
  auto emit = [&](ArrayRef<Value> chosen) {
    for (Value pointer : past)
      e.storeNonTemporal(pointer, llvm::is_contained(chosen, pointer));
    e.pushScope();
    body();
    e.popScope();
    // The fence orders non-temporal stores before later stores of the same thread.
    if (!chosen.empty())
      LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
  };
  // Emits versions of the kernel body that are selected at run time. The first version uses
  // non-temporal stores for all outputs in `chosen`. It requires aligned pointers, and that no
  // output aliases an input. If there are several outputs, the first one is the most likely to
  // alias an input, so that a second version uses normal stores for this output only.
  std::function<void(ArrayRef<Value>)> versions = [&](ArrayRef<Value> chosen) {
    if (chosen.empty())
      return emit({});
    Value bits = e.i64(0), can;
    for (Value pointer : chosen)
      bits = arith::OrIOp::create(b, loc, bits, address(pointer));
    Value low = arith::AndIOp::create(b, loc, bits, e.i64(e.target.vectorBits / 8 - 1));
    can = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, e.i64(0));
    for (Value pointer : chosen)
      for (Value input : inputs)
        can = both(can, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, address(pointer),
                                              address(input)));
    auto branch = scf::IfOp::create(b, loc, can, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emit(chosen);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    versions(chosen.size() == past.size() ? chosen.drop_front() : ArrayRef<Value>());
  };
  versions(past);
}

} // namespace dlc::cpu
